SELECT
    Timestamp, TraceId, SpanId, ParentSpanId, DurationNano, SpanName, SpanKind, ServiceName, Environment, StatusCode, HasError,
    HttpMethod, HttpRoute, HttpStatusCode,
    CAST([], 'Array(String)') AS Extra
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
ORDER BY toStartOfSecond(Timestamp) DESC, Timestamp DESC, TraceId DESC, SpanId DESC
LIMIT {limit:UInt32}
