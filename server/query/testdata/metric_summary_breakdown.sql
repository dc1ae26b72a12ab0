SELECT [toString(Label1), toString(Label2), toString(Label3)] AS GroupKey, assumeNotNull(Value) AS Value, sum(assumeNotNull(Value)) OVER () AS Total, count() OVER () AS Groups
FROM
(
SELECT *
FROM
(
SELECT *, Total / Points AS Value
FROM
(
SELECT toUInt32(0) AS Bucket, (ServiceName) AS Label1, (Attributes[{key_1:String}]) AS Label2, (ResourceAttributes[{key_2:String}]) AS Label3, sum(QuantilesValue[indexOf(QuantilesQuantile, 0.99)] AS Sent) AS Total, count() AS Points, min(Sent) AS Least, max(Sent) AS Most
FROM metrics_summary
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND isFinite(if(has(QuantilesQuantile, 0.99), QuantilesValue[indexOf(QuantilesQuantile, 0.99)], nan))
    AND ServiceName = {value_3:String}
    AND ifNull(toFloat64OrNull(Attributes[{key_4:String}]) > {number_5:Float64}, 0)
GROUP BY Bucket, Label1, Label2, Label3
)
)
WHERE isFinite(ifNull(Value, nan))
    AND Value > {having_6:Float64}
)
ORDER BY Value DESC, Label1 ASC, Label2 ASC, Label3 ASC
LIMIT {limit:UInt32}
