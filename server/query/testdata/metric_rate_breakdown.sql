SELECT [toString(Label1), toString(Label2), toString(Label3)] AS GroupKey, assumeNotNull(Value) AS Value, sum(assumeNotNull(Value)) OVER () AS Total, count() OVER () AS Groups
FROM
(
SELECT *
FROM
(
SELECT *, Grown / {seconds:Float64} AS Value
FROM
(
SELECT toUInt32(0) AS Bucket, Label1, Label2, Label3, sum(Step.2) AS Grown
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
WHERE isFinite(ifNull(Value, nan))
    AND Value > {having_6:Float64}
)
ORDER BY Value DESC, Label1 ASC, Label2 ASC, Label3 ASC
LIMIT {limit:UInt32}
