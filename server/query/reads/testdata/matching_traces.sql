SELECT DISTINCT TraceId
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({reach_hi:Int64}, 'UTC')
    AND SpanName = {value_1:String}
LIMIT {limit:UInt32}
