SELECT
    count() AS SpanCount,
    uniqExact(ServiceName) AS ServiceCount,
    countIf(HasError) AS ErrorCount,
    min(Timestamp) AS Start,
    max(Timestamp) AS LastStart,
    max(addNanoseconds(Timestamp, DurationNano)) AS End
FROM spans
WHERE OrgId = {org:String}
    AND TraceId = {trace_id:String}
