SELECT Timestamp, SeverityText, ServiceName, Body, TraceId, SpanId, CAST([], 'Array(String)') AS Extra
FROM logs
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
ORDER BY toStartOfSecond(Timestamp) DESC, Timestamp DESC, ServiceName, TraceId, SpanId, Body
LIMIT {limit:UInt32}
