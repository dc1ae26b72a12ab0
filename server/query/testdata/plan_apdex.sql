SELECT
    toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
    CAST([], 'Array(String)') AS GroupKey,
    false AS Other,
    round((sumIf(SampleRate, NOT HasError AND DurationNano < {apdex:Float64}) + sumIf(SampleRate, NOT HasError AND DurationNano >= {apdex:Float64} AND DurationNano < 4 * {apdex:Float64}) / 2) / sum(SampleRate), 4) AS Value
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ParentSpanId = ''
GROUP BY Bucket
