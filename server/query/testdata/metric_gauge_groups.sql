SELECT toDateTime(Bucket, 'UTC') AS Bucket, [Shown1, Shown2, Shown3] AS GroupKey, Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, Sums / Points AS Value
FROM
(
SELECT tupleElement(Part, 1) AS Bucket, Other, if(Other, '', toString(Label1)) AS Shown1, if(Other, '', toString(Label2)) AS Shown2, if(Other, '', toString(Label3)) AS Shown3,
    sum(tupleElement(Part, 2)) AS Sums,
    sum(tupleElement(Part, 3)) AS Points
FROM
(
SELECT Label1, Label2, Label3, Parts, row_number() OVER (ORDER BY Best DESC, Label1, Label2, Label3) > {limit:UInt32} AS Other
FROM
(
SELECT Label1, Label2, Label3, groupArray((Bucket, Sums, Points)) AS Parts, max(if(isFinite(ifNull(Value, nan)), Value, NULL)) AS Best
FROM
(
SELECT *, Sums / Points AS Value
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, (ServiceName) AS Label1, (Attributes[{key_1:String}]) AS Label2, (ResourceAttributes[{key_2:String}]) AS Label3, sum(Value) AS Sums, count() AS Points
FROM metrics_gauge
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND isFinite(Value)
    AND ServiceName = {value_3:String}
    AND ifNull(toFloat64OrNull(Attributes[{key_4:String}]) > {number_5:Float64}, 0)
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
