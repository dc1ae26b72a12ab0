SELECT Timestamp, SubTargetKey, Success, DurationSeconds, SamplesScraped, SamplesPostMetricRelabeling, Message
FROM scrape_checks
WHERE OrgId = {org:String}
    AND TargetId = {target:String}
    AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}, 'UTC')
ORDER BY Timestamp DESC, SubTargetKey, Success, Message
LIMIT {limit:UInt32}
