SELECT
    SpanName,
    count() AS Spans,
    sum(SampleRate) AS EstimatedSpans,
    countIf(HasError) AS Errors,
    sumIf(SampleRate, HasError) AS EstimatedErrors,
    sum(SampleRate * DurationNano) / EstimatedSpans AS AverageNano,
    quantilesTDigestWeighted(0.5, 0.95, 0.99)(DurationNano, toUInt64(greatest(1, round(SampleRate * 16)))) AS Latencies,
    sumIf(SampleRate, NOT HasError AND DurationNano < {threshold:UInt64}) AS Satisfied,
    sumIf(SampleRate, NOT HasError AND DurationNano >= {threshold:UInt64} AND DurationNano < 4 * {threshold:UInt64}) AS Tolerated,
    max(Timestamp) AS LastSeen
FROM spans
WHERE OrgId = {org:String}
    AND ServiceName = {service_name:String}
    AND Environment = {deployment_environment:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND (IsEntry OR NOT (
        SELECT sum(SpanCount) > 0
        FROM (
        SELECT Minute, IsEntry, SpanCount
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
            AND Environment = {deployment_environment:String}
            AND IsEntry
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, IsEntry,
            toUInt64(1) AS SpanCount
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {service_name:String}
            AND Environment = {deployment_environment:String}
            AND IsEntry
    )))
GROUP BY SpanName
ORDER BY Latencies[2] DESC, SpanName
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
