SELECT toDateTime(Bucket, 'UTC') AS Bucket, CAST([], 'Array(String)') AS GroupKey, false AS Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, Sums / Points AS Value
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, sum(Value) AS Sums, count() AS Points
FROM metrics_gauge
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND isFinite(Value)
GROUP BY Bucket
)
)
WHERE isFinite(ifNull(Value, nan))
)
