SELECT count() AS Records
FROM logs
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ServiceName = {value_1:String}
