SELECT TraceId, SpanId, ParentSpanId
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND TraceId IN {traces:Array(String)}
    AND ParentSpanId != ''
LIMIT {limit:UInt32}
