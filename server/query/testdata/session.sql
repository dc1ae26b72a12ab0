SELECT
    SessionId, Version, StartTime, EndTime, LastActivityAt, DurationMs, Status, VisitorId, UserId, GroupId, UrlInitial, UserAgent,
    BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount, TraceIds, ResourceAttributes
FROM session_replays
WHERE OrgId = {org:String}
    AND SessionId = {session_id:String}
ORDER BY Version DESC
LIMIT 1
