SELECT SpanId, ParentSpanId, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, HasError
FROM spans
WHERE OrgId = {org:String}
    AND TraceId = {trace_id:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ParentSpanId = {parent_span_id:String}
    AND HasError
    AND (Timestamp, SpanId) > (fromUnixTimestamp64Nano({after_start:Int64}, 'UTC'), {after_span:String})
ORDER BY Timestamp, SpanId
LIMIT {limit:UInt32}
