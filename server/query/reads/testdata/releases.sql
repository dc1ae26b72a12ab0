SELECT
    ServiceName,
    Environment,
    ServiceVersion,
    First,
    Last,
    if(Measured, EntrySpans, AnySpans) AS EstimatedSpans,
    if(Measured, EntryErrors, AnyErrors) AS EstimatedErrors,
    if(Measured, EntryLatencies, OtherLatencies) AS Latencies,
    count() OVER () AS AllReleases
FROM
(
    SELECT
        *,
        sum(EntrySpans) OVER (PARTITION BY ServiceName) > 0 AS Measured
    FROM
    (
        SELECT
            ServiceName,
            Environment,
            ServiceVersion,
            min(Minute) AS First,
            max(Minute) AS Last,
            sumIf(EstimatedSpanCount, IsEntry) AS EntrySpans,
            sum(EstimatedSpanCount) AS AnySpans,
            sumIf(EstimatedErrorCount, IsEntry) AS EntryErrors,
            sum(EstimatedErrorCount) AS AnyErrors,
            quantilesTDigestMergeIf(0.5, 0.95, 0.99)(DurationQuantiles, IsEntry) AS EntryLatencies,
            quantilesTDigestMergeIf(0.5, 0.95, 0.99)(DurationQuantiles, NOT IsEntry) AS OtherLatencies
        FROM (
        SELECT Minute, ServiceName, Environment, ServiceVersion, IsEntry, SpanCount, EstimatedSpanCount, EstimatedErrorCount, DurationQuantiles
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceVersion != ''
            AND Environment = {deployment_environment:String}
            AND ServiceName = {service_name:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, Environment, ServiceVersion, IsEntry,
            count() AS SpanCount,
            sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceVersion != ''
            AND Environment = {deployment_environment:String}
            AND ServiceName = {service_name:String}
        GROUP BY Minute, ServiceName, Environment, ServiceVersion, IsEntry
    )
        GROUP BY ServiceName, Environment, ServiceVersion
    )
)
ORDER BY First DESC, ServiceName, Environment, ServiceVersion
LIMIT {limit:UInt32}
