SELECT
    SessionId, Version, StartTime, EndTime, LastActivityAt, DurationMs, Status, VisitorId, UserId, GroupId, UrlInitial, UserAgent,
    BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount, TraceIds, ResourceAttributes
FROM
(
    SELECT *
    FROM session_replays
    WHERE OrgId = {org:String}
        AND StartTime >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    ORDER BY SessionId, Version DESC
    LIMIT 1 BY SessionId
)
WHERE ServiceName = {service_name:String}
    AND BrowserName = {browser_name:String}
    AND Country = {country:String}
    AND DeviceType = {device_type:String}
    AND UserId = {user_id:String}
    AND (ErrorCount > 0) = {has_errors:Bool}
ORDER BY StartTime DESC, SessionId
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
