SELECT toDateTime(Bucket, 'UTC') AS Bucket, CAST([], 'Array(String)') AS GroupKey, false AS Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, Total / Points AS Value
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, sum(QuantilesValue[indexOf(QuantilesQuantile, 0.99)] AS Sent) AS Total, count() AS Points, min(Sent) AS Least, max(Sent) AS Most
FROM metrics_summary
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND isFinite(if(has(QuantilesQuantile, 0.99), QuantilesValue[indexOf(QuantilesQuantile, 0.99)], nan))
GROUP BY Bucket
)
)
WHERE isFinite(ifNull(Value, nan))
)
