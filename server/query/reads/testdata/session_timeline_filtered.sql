SELECT
    Timestamp, Seq, Type, Url, TraceId, Level, Message, TargetSelector, TargetText, NetMethod, NetUrl, NetStatus, NetDurationMs,
    ErrorStack, Attributes
FROM session_events
WHERE OrgId = {org:String}
    AND SessionId = {session_id:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
    AND Type IN {types:Array(String)}
    AND (Type = 'error' OR Type = 'console' AND Level = 'error' OR Type = 'network' AND NetStatus >= 400)
    AND TraceId = {trace_id:String}
ORDER BY Timestamp, Seq, Type, Message, TargetSelector, NetUrl, NetDurationMs
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
