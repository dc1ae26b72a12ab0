SELECT toDateTime(Bucket, 'UTC') AS Bucket, [Shown1, Shown2, Shown3] AS GroupKey, Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, Grown / (greatest(least((toInt64(Bucket) + {bucket:UInt32}) * 1000000000, {covered_end:Int64}) - greatest(toInt64(Bucket) * 1000000000, {covered_start:Int64}), 1) / 1e9) AS Value
FROM
(
SELECT tupleElement(Part, 1) AS Bucket, Other, if(Other, '', toString(Label1)) AS Shown1, if(Other, '', toString(Label2)) AS Shown2, if(Other, '', toString(Label3)) AS Shown3,
    sum(tupleElement(Part, 2)) AS Grown
FROM
(
SELECT Label1, Label2, Label3, Parts, row_number() OVER (ORDER BY Best DESC, Label1, Label2, Label3) > {limit:UInt32} AS Other
FROM
(
SELECT Label1, Label2, Label3, groupArray((Bucket, Grown)) AS Parts, sum(if(isFinite(ifNull(Value, nan)), Value, NULL)) AS Best
FROM
(
SELECT *, Grown / (greatest(least((toInt64(Bucket) + {bucket:UInt32}) * 1000000000, {covered_end:Int64}) - greatest(toInt64(Bucket) * 1000000000, {covered_start:Int64}), 1) / 1e9) AS Value
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Step.1), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, Label1, Label2, Label3, sum(Step.2) AS Grown
FROM
(
SELECT Label1, Label2, Label3, arrayJoin(arrayMap((p, b) -> (p.1, if(p.2 >= b.2, p.2 - b.2, p.2)), Points, Before)) AS Step
FROM
(
SELECT Label1, Label2, Label3, Points,
    if(Delta, arrayMap(p -> (Epoch, 0.), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND Epoch < Points[1].1, (Epoch, 0.), Points[1]))) AS Before
FROM
(
SELECT any(ServiceName) AS Label1, any(Attributes[{key_1:String}]) AS Label2, any(ResourceAttributes[{key_2:String}]) AS Label3, AggregationTemporality = 'Delta' AS Delta, if(AggregationTemporality = 'Delta', toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, arraySort(groupArray((Timestamp, Value))) AS Points
FROM metrics_sum
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND isFinite(Value)
    AND IsMonotonic
    AND ServiceName = {value_3:String}
    AND ifNull(toFloat64OrNull(Attributes[{key_4:String}]) > {number_5:Float64}, 0)
GROUP BY SeriesHash, Delta, Epoch
)
)
)
WHERE Step.1 >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
GROUP BY Bucket, Label1, Label2, Label3
)
)
GROUP BY Label1, Label2, Label3
HAVING isNotNull(Best)
)
)
ARRAY JOIN Parts AS Part
GROUP BY Bucket, Other, Shown1, Shown2, Shown3
)
)
WHERE isFinite(ifNull(Value, nan))
)
