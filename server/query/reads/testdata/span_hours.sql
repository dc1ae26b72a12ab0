SELECT
    toStartOfHour(Minute) AS Hour,
    sum(SpanCount) AS Spans,
    sumIf(SpanCount, Minute < Hour + toIntervalSecond({skew:UInt32})) AS First
FROM service_minutes
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
    AND Minute < toDateTime({end_minute:Int64}, 'UTC')
GROUP BY Hour
ORDER BY Hour
