SELECT Environment, sum(SpanCount) AS Spans, uniqExact(ServiceName) AS Services
FROM service_minutes
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
    AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
    AND Environment != ''
GROUP BY Environment
ORDER BY Environment
LIMIT 10000
