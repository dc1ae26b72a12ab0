SELECT SpanId, ParentSpanId, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, HasError
FROM spans
WHERE OrgId = {org:String}
    AND TraceId = {trace_id:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
ORDER BY Timestamp, SpanId
LIMIT {limit:UInt32}
