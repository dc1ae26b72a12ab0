SELECT toDateTime(Bucket, 'UTC') AS Bucket, CAST([], 'Array(String)') AS GroupKey, false AS Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, Grown / (greatest(least((toInt64(Bucket) + {bucket:UInt32}) * 1000000000, {covered_end:Int64}) - greatest(toInt64(Bucket) * 1000000000, {covered_start:Int64}), 1) / 1e9) AS Value
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Step.1), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, sum(Step.2) AS Grown
FROM
(
SELECT arrayJoin(arrayMap((p, b) -> (p.1, if(p.2 >= b.2, p.2 - b.2, p.2)), Points, Before)) AS Step
FROM
(
SELECT Points,
    if(Delta, arrayMap(p -> (Epoch, 0.), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND Epoch < Points[1].1, (Epoch, 0.), Points[1]))) AS Before
FROM
(
SELECT AggregationTemporality = 'Delta' AS Delta, if(AggregationTemporality = 'Delta', toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, arraySort(groupArray((Timestamp, Value))) AS Points
FROM metrics_sum
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND isFinite(Value)
    AND IsMonotonic
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
