SELECT StartTime, EndTime
FROM session_replays
WHERE OrgId = {org:String}
    AND SessionId = {session_id:String}
ORDER BY Version DESC
LIMIT 1
