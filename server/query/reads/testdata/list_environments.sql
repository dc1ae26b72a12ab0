SELECT Environment, sum(SpanCount) AS Spans, uniqExact(ServiceName) AS Services
FROM (
        SELECT Minute, ServiceName, Environment, SpanCount
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND Environment != ''
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, Environment,
            toUInt64(1) AS SpanCount
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND Environment != ''
    )
GROUP BY Environment
ORDER BY Environment
LIMIT 10000
