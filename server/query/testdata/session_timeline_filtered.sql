SELECT
    Timestamp, Seq, Type, Url, TraceId, Level, Message, TargetSelector, TargetText, NetMethod, NetUrl, NetStatus, NetDurationMs,
    ErrorStack, Attributes
FROM session_events
WHERE OrgId = {org:String}
    AND SessionId = {session_id:String}
    AND Type IN {types:Array(String)}
ORDER BY Timestamp, Seq
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
