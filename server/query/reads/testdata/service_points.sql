SELECT
    toDateTime(intDiv(toUnixTimestamp(Minute), {bucket:Int64}) * {bucket:Int64}, 'UTC') AS Bucket,
    sum(SpanCount) AS Spans,
    sum(EstimatedSpanCount) AS EstimatedSpans,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(WeightedDurations) AS Latencies
FROM (
        SELECT Minute, ServiceVersion, IsEntry, SpanCount, EstimatedSpanCount, EstimatedErrorCount, WeightedDurations
        FROM service_series
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
            AND Environment = {deployment_environment:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceVersion, IsEntry,
            count() AS SpanCount,
            sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {service_name:String}
            AND Environment = {deployment_environment:String}
        GROUP BY Minute, ServiceVersion, IsEntry
    )
WHERE IsEntry OR NOT (
        SELECT sum(SpanCount) > 0
        FROM (
        SELECT Minute, IsEntry, SpanCount
        FROM service_series
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
    ))
GROUP BY Bucket
ORDER BY Bucket
