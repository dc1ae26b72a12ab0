SELECT toDateTime(Bucket, 'UTC') AS Bucket, CAST([], 'Array(String)') AS GroupKey, false AS Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, Observations AS Value
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Step.1), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, sum(Step.2) AS Observations, sum(Step.3) AS Total, sumIf(Step.2, isNotNull(Step.3)) AS Summed
FROM
(
SELECT arrayJoin(arrayMap((p, b) -> if(p.2 >= b.2, (p.1, toFloat64(toUInt64(p.2 - b.2)), p.3 - b.3), (p.1, toFloat64(p.2), p.3 - 0)), Points, Before)) AS Step
FROM
(
SELECT Points,
    if(Delta, arrayMap(p -> (Epoch, toUInt64(0), CAST(0 AS Nullable(Float64))), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND Epoch < Points[1].1, (Epoch, toUInt64(0), CAST(0 AS Nullable(Float64))), Points[1]))) AS Before
FROM
(
SELECT AggregationTemporality = 'Delta' AS Delta, if(AggregationTemporality = 'Delta', toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, arraySort(groupArray((Timestamp, Count, CAST(Sum AS Nullable(Float64))))) AS Points
FROM metrics_histogram
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
GROUP BY SeriesHash, Delta, Epoch
)
)
)
WHERE Step.1 >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
GROUP BY Bucket
)
)
WHERE isFinite(ifNull(Value, nan))
)
