SELECT Timestamp, TraceId, SpanId, ServiceName, SpanName, DurationNano / 1e6 AS DurationMs, StatusCode, HasError, [toString(if(1, toString(DurationNano), '')), toString(SpanAttributes[{key_2:String}])] AS Extra
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ServiceName = {value_1:String}
ORDER BY toStartOfSecond(Timestamp) DESC, Timestamp DESC, TraceId, SpanId
LIMIT 1 BY TraceId
LIMIT {limit:UInt32}
