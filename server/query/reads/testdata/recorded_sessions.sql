SELECT DISTINCT SessionId
FROM session_replay_events
WHERE OrgId = {org:String}
    AND SessionId IN {session_ids:Array(String)}
