SELECT [toString(Label1), toString(Label2), toString(Label3)] AS GroupKey, assumeNotNull(Value) AS Value, sum(assumeNotNull(Value)) OVER () AS Total, count() OVER () AS Groups
FROM
(
SELECT *
FROM
(
SELECT *, Observations AS Value
FROM
(
SELECT toUInt32(0) AS Bucket, Label1, Label2, Label3, sum(Step.2) AS Observations, sum(Step.3) AS Total, sumIf(Step.2, isNotNull(Step.3)) AS Summed
FROM
(
SELECT Label1, Label2, Label3, arrayJoin(arrayMap((p, b) -> if(p.2 >= b.2, (p.1, toFloat64(toUInt64(p.2 - b.2)), p.3 - b.3), (p.1, toFloat64(p.2), p.3 - 0)), Points, Before)) AS Step
FROM
(
SELECT Label1, Label2, Label3, Points,
    if(Delta, arrayMap(p -> (Epoch, toUInt64(0), CAST(0 AS Nullable(Float64))), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND Epoch < Points[1].1, (Epoch, toUInt64(0), CAST(0 AS Nullable(Float64))), Points[1]))) AS Before
FROM
(
SELECT any(ServiceName) AS Label1, any(Attributes[{key_1:String}]) AS Label2, any(ResourceAttributes[{key_2:String}]) AS Label3, AggregationTemporality = 'Delta' AS Delta, if(AggregationTemporality = 'Delta', toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, arraySort(groupArray((Timestamp, Count, CAST(Sum AS Nullable(Float64))))) AS Points
FROM metrics_histogram
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
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
