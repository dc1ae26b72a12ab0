WITH
    sumIf(SpanCount, Inside AND IsEntry) AS EntrySpans,
    sumIf(SpanCount, NOT Inside AND IsEntry) AS BaselineEntrySpans
SELECT
    ServiceName,
    arraySort(groupUniqArrayIf(ServiceNamespace, Inside AND ServiceNamespace != '')) AS Namespaces,
    arraySort(groupUniqArrayIf(Environment, Inside AND Environment != '')) AS Environments,
    if(EntrySpans > 0, EntrySpans, sumIf(SpanCount, Inside)) AS Spans,
    if(EntrySpans > 0, sumIf(EstimatedSpanCount, Inside AND IsEntry), sumIf(EstimatedSpanCount, Inside)) AS EstimatedSpans,
    if(EntrySpans > 0, sumIf(ErrorCount, Inside AND IsEntry), sumIf(ErrorCount, Inside)) AS Errors,
    if(EntrySpans > 0, sumIf(EstimatedErrorCount, Inside AND IsEntry), sumIf(EstimatedErrorCount, Inside)) AS EstimatedErrors,
    if(EntrySpans > 0, quantilesTDigestMergeIf(0.5, 0.95, 0.99)(DurationQuantiles, Inside AND IsEntry), quantilesTDigestMergeIf(0.5, 0.95, 0.99)(DurationQuantiles, Inside AND NOT IsEntry)) AS Latencies,
    if(BaselineEntrySpans > 0, BaselineEntrySpans, sumIf(SpanCount, NOT Inside)) AS BaselineSpans,
    if(BaselineEntrySpans > 0, quantilesTDigestMergeIf(0.5, 0.95, 0.99)(DurationQuantiles, NOT Inside AND IsEntry), quantilesTDigestMergeIf(0.5, 0.95, 0.99)(DurationQuantiles, NOT Inside AND NOT IsEntry)) AS BaselineLatencies
FROM
(
    SELECT ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, DurationQuantiles, true AS Inside
    FROM (
        SELECT Minute, ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, DurationQuantiles
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, IsEntry,
            count() AS SpanCount,
            sum(SampleRate) AS EstimatedSpanCount,
            countIf(HasError) AS ErrorCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {service_name:String}
        GROUP BY Minute, ServiceName, ServiceNamespace, Environment, IsEntry
    )
    UNION ALL
    SELECT ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, DurationQuantiles, false AS Inside
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND ServiceName = {service_name:String}
        AND Minute >= toDateTime({baseline_start:Int64}, 'UTC')
        AND Minute < toDateTime({baseline_end:Int64}, 'UTC')
)
GROUP BY ServiceName
HAVING Spans > 0
ORDER BY EstimatedSpans DESC, ServiceName
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
