SELECT
    Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, Attributes, ResourceAttributes
FROM product_events
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
ORDER BY Timestamp DESC, Name
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
