SELECT
    Timestamp, Seq, Type, Url, TraceId, Level, Message, TargetSelector, TargetText, NetMethod, NetUrl, NetStatus, NetDurationMs,
    ErrorStack, Attributes
FROM session_events
WHERE OrgId = {org:String}
    AND SessionId = {session_id:String}
ORDER BY Timestamp, Seq, Type, Message, TargetSelector, NetUrl, NetDurationMs
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
