SELECT uniqExact(intDiv(toUnixTimestamp(Minute), {part:Int64})) AS Parts
FROM service_minutes
WHERE OrgId = {org:String}
    AND Minute >= toStartOfMinute(fromUnixTimestamp64Nano({start:Int64}, 'UTC'))
    AND Minute <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND Environment = {deployment_environment:String}
