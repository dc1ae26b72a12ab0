SELECT
    Environment, SourceService,
    TargetService,
    count() AS Calls,
    sum(SampleRate) AS EstimatedCalls,
    countIf(HasError) AS Errors,
    sumIf(SampleRate, HasError) AS EstimatedErrors,
    sum(SampleRate * DurationNano) AS EstimatedNano,
    max(DurationNano) AS MaxNano
FROM
(
    SELECT Environment, cityHash64(TraceId, SpanId) AS Link, ServiceName AS SourceService
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({reach_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({reach_end:Int64}, 'UTC')
        AND SpanKind IN ('Client', 'Producer')
) AS calling
ANY RIGHT JOIN
(
    SELECT cityHash64(TraceId, ParentSpanId) AS Link, ServiceName AS TargetService, DurationNano, HasError, SampleRate
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND SpanKind IN ('Server', 'Consumer')
        AND ParentSpanId != ''
) AS called USING Link
WHERE SourceService != '' AND SourceService != TargetService
GROUP BY Environment, SourceService, TargetService
ORDER BY EstimatedCalls DESC, Environment, SourceService, TargetService
LIMIT 10000
