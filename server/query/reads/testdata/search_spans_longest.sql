SELECT
    Timestamp, TraceId, SpanId, ParentSpanId, DurationNano, SpanName, SpanKind, ServiceName, Environment, StatusCode, HasError,
    HttpMethod, HttpRoute, HttpStatusCode,
    CAST([], 'Array(String)') AS Extra
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
    AND DurationNano >= {shortest:UInt64}
    AND DurationNano <= {longest:UInt64}
    AND ServiceName = {value_1:String}
    AND (DurationNano, Timestamp, TraceId, SpanId) < ({before_duration:UInt64}, fromUnixTimestamp64Nano({before_start:Int64}, 'UTC'), {before_trace:String}, {before_span:String})
ORDER BY DurationNano DESC, Timestamp DESC, TraceId DESC, SpanId DESC
LIMIT {limit:UInt32}
