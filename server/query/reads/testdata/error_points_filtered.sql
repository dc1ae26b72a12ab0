SELECT
    toDateTime(intDiv(toUnixTimestamp(toDateTime(Timestamp, 'UTC')), {bucket:Int64}) * {bucket:Int64}, 'UTC') AS Bucket,
    count() AS Occurrences,
    sum(SampleRate) AS Estimated
FROM error_events
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND FingerprintHash IN {fingerprints:Array(UInt64)}
GROUP BY Bucket
ORDER BY Bucket
