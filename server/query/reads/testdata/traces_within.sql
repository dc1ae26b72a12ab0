SELECT DISTINCT TraceId
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
LIMIT {limit:UInt32}
