SELECT
    TraceId,
    Sample.1 AS SpanId,
    Sample.2 AS SpanName,
    Sample.3 AS ServiceName,
    Sample.4 AS Timestamp,
    Sample.5 AS OccurredAt,
    Sample.6 AS ExceptionMessage,
    Sample.7 AS DurationNano
FROM (
    SELECT
        TraceId,
        argMin((SpanId, toString(SpanName), toString(ServiceName), Timestamp, OccurredAt, ExceptionMessage, DurationNano),
            (Source != '', -toUnixTimestamp64Nano(Timestamp), SpanId)) AS Sample,
        max(Timestamp) AS Latest
    FROM error_events
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND Source = ''
        AND FingerprintHash IN {fingerprints:Array(UInt64)}
        AND ServiceName = {service_name:String}
        AND Environment = {deployment_environment:String}
        AND ServiceNamespace = {service_namespace:String}
        AND ExceptionType = {exception_type:String}
        AND (position(lowerUTF8(ErrorLabel), lowerUTF8({search:String})) > 0 OR position(lowerUTF8(ExceptionMessage), lowerUTF8({search:String})) > 0)
        AND IsRoot
    GROUP BY TraceId
    ORDER BY Latest DESC, TraceId
    LIMIT {limit:UInt32}
)
ORDER BY Latest DESC, TraceId
