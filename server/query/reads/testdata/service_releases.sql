SELECT
    ServiceVersion AS Version,
    min(Earliest) AS First,
    max(Latest) AS Last,
    sum(BucketSpans) AS Spans,
    sum(BucketEstimated) AS EstimatedSpans,
    sum(BucketErrors) AS EstimatedErrors,
    quantilesTDigestMerge(0.5, 0.95, 0.99)(BucketQuantiles) AS Latencies,
    arraySort(groupArray((toInt64(toUnixTimestamp(Bucket)), BucketEstimated))).1 AS Buckets,
    arraySort(groupArray((toInt64(toUnixTimestamp(Bucket)), BucketEstimated))).2 AS Counts
FROM
(
    SELECT
        ServiceVersion,
        toDateTime(intDiv(toUnixTimestamp(Minute), {bucket:Int64}) * {bucket:Int64}, 'UTC') AS Bucket,
        min(Minute) AS Earliest,
        max(Minute) AS Latest,
        sum(SpanCount) AS BucketSpans,
        sum(EstimatedSpanCount) AS BucketEstimated,
        sum(EstimatedErrorCount) AS BucketErrors,
        quantilesTDigestMergeState(0.5, 0.95, 0.99)(DurationQuantiles) AS BucketQuantiles
    FROM (
        SELECT Minute, ServiceVersion, IsEntry, SpanCount, EstimatedSpanCount, EstimatedErrorCount, DurationQuantiles
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceVersion, IsEntry,
            count() AS SpanCount,
            sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {service_name:String}
        GROUP BY Minute, ServiceVersion, IsEntry
    )
    WHERE IsEntry OR NOT (
        SELECT sum(SpanCount) > 0
        FROM (
        SELECT Minute, IsEntry, SpanCount
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
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
            AND IsEntry
    ))
    GROUP BY ServiceVersion, Bucket
)
GROUP BY ServiceVersion
ORDER BY First DESC, Version
LIMIT {limit:UInt32}
