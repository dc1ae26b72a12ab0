SELECT
    toDateTime(intDiv(toUnixTimestamp(Minute), {bucket:Int64}) * {bucket:Int64}, 'UTC') AS Bucket,
    sum(SpanCount) AS Spans,
    sum(EstimatedSpanCount) AS EstimatedSpans,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(WeightedDurations) AS Latencies
FROM service_series
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
    AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
    AND ServiceName = {service_name:String}
    AND Environment = {deployment_environment:String}
    AND (IsEntry OR NOT (
        SELECT sum(SpanCount) > 0 FROM service_series
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
            AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
            AND Environment = {deployment_environment:String}
            AND IsEntry))
GROUP BY Bucket
ORDER BY Bucket
