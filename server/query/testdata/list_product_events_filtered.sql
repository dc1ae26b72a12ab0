SELECT
    Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, Attributes, ResourceAttributes
FROM product_events
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND Name = {name:String}
    AND Kind = {kind:String}
    AND UserId = {user_id:String}
    AND VisitorId = {visitor_id:String}
    AND SessionId = {session_id:String}
ORDER BY Timestamp DESC, Name
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
