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
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
        AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
        AND ServiceName = {service_name:String}
        AND (IsEntry OR NOT (
        SELECT sum(SpanCount) > 0 FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
            AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
            AND IsEntry))
    GROUP BY ServiceVersion, Bucket
)
GROUP BY ServiceVersion
ORDER BY First DESC, Version
LIMIT {limit:UInt32}
