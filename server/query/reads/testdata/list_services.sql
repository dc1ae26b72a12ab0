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
    if(EntrySpans > 0, quantilesTDigestWeightedMergeIf(0.5, 0.95, 0.99)(WeightedDurations, Inside AND IsEntry), quantilesTDigestWeightedMergeIf(0.5, 0.95, 0.99)(WeightedDurations, Inside AND NOT IsEntry)) AS Latencies,
    if(BaselineEntrySpans > 0, BaselineEntrySpans, sumIf(SpanCount, NOT Inside)) AS BaselineSpans,
    if(BaselineEntrySpans > 0, quantilesTDigestWeightedMergeIf(0.5, 0.95, 0.99)(WeightedDurations, NOT Inside AND IsEntry), quantilesTDigestWeightedMergeIf(0.5, 0.95, 0.99)(WeightedDurations, NOT Inside AND NOT IsEntry)) AS BaselineLatencies
FROM
(
    SELECT ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, WeightedDurations, true AS Inside
    FROM (
        SELECT Hour AS Minute, ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, WeightedDurations
        FROM service_hours
        WHERE OrgId = {org:String}
            AND Hour >= toDateTime({first_hour:Int64}, 'UTC')
            AND Hour < toDateTime({last_hour:Int64}, 'UTC')
        UNION ALL
        SELECT Minute, ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, WeightedDurations
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND (Minute < toDateTime({first_hour:Int64}, 'UTC') OR Minute >= toDateTime({last_hour:Int64}, 'UTC'))
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, IsEntry,
            count() AS SpanCount,
            sum(SampleRate) AS EstimatedSpanCount,
            countIf(HasError) AS ErrorCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
        GROUP BY Minute, ServiceName, ServiceNamespace, Environment, IsEntry
    )
    UNION ALL
    SELECT ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, WeightedDurations, false AS Inside
    FROM service_hours
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({baseline_first_hour:Int64}, 'UTC')
        AND Hour < toDateTime({baseline_last_hour:Int64}, 'UTC')
    UNION ALL
    SELECT ServiceName, ServiceNamespace, Environment, IsEntry, SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount, WeightedDurations, false AS Inside
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({baseline_start:Int64}, 'UTC')
        AND Minute < toDateTime({baseline_end:Int64}, 'UTC')
        AND (Minute < toDateTime({baseline_first_hour:Int64}, 'UTC') OR Minute >= toDateTime({baseline_last_hour:Int64}, 'UTC'))
)
GROUP BY ServiceName
HAVING Spans > 0
ORDER BY EstimatedSpans DESC, ServiceName
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
