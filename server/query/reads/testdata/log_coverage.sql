SELECT uniqExact(intDiv(toUnixTimestamp64Nano(Timestamp), {part:Int64})) AS Parts, min(Timestamp) AS First,
    max(Timestamp) AS Last
FROM logs
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
