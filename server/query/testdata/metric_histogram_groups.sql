SELECT toDateTime(Bucket, 'UTC') AS Bucket, [Shown1, Shown2, Shown3] AS GroupKey, Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, multiIf(empty(Sizes), NULL, At <= 1 OR Below[At] <= Wanted, Edges[At],
        Edges[At - 1] + (Edges[At] - Edges[At - 1]) * (Wanted - UpTo[At - 1]) / (Below[At] - UpTo[At - 1])) AS Value
FROM
(
SELECT *, arrayFirstIndex(n -> n >= Wanted * (1 - 1e-12), UpTo) AS At
FROM
(
SELECT *, arraySum(Sizes) * 0.95 AS Wanted
FROM
(
SELECT *, arrayMap(e -> arraySum((l, h, c) -> if(h > l, c * least(greatest((e - l) / (h - l), 0), 1), if(e >= h, c, 0.)), Lows, Highs, Sizes), Edges) AS UpTo
FROM
(
SELECT *, arrayMap(e -> arraySum((l, h, c) -> if(h > l, c * least(greatest((e - l) / (h - l), 0), 1), if(e > h, c, 0.)), Lows, Highs, Sizes), Edges) AS Below
FROM
(
SELECT *, arraySort(arrayDistinct(arrayConcat(Lows, Highs))) AS Edges
FROM
(
SELECT *, arrayMap((l, h) -> if(High < h AND High >= l, High, h), Lows, Closed) AS Highs
FROM
(
SELECT *, arrayMap((l, h) -> if(Low > l AND Low <= h, Low, l), Opened, Closed) AS Lows
FROM
(
SELECT *, arrayMap((k, l) -> if(isFinite(k.2), k.2, if(isFinite(High), greatest(High, k.1), l)), Filled, Opened) AS Closed
FROM
(
SELECT *, arrayMap(k -> if(isFinite(k.1), k.1, if(isFinite(Low), least(Low, k.2), if(k.2 > 0 AND isFinite(k.2), 0., k.2))), Filled) AS Opened
FROM
(
SELECT *, arrayFilter((k, c) -> c > 0, Buckets.1, Buckets.2) AS Filled, arrayFilter(c -> c > 0, Buckets.2) AS Sizes
FROM
(
SELECT tupleElement(Part, 1) AS Bucket, Other, if(Other, '', toString(Label1)) AS Shown1, if(Other, '', toString(Label2)) AS Shown2, if(Other, '', toString(Label3)) AS Shown3,
    sumMap(tupleElement(tupleElement(Part, 2), 1), tupleElement(tupleElement(Part, 2), 2)) AS Buckets,
    min(tupleElement(Part, 3)) AS Low,
    max(tupleElement(Part, 4)) AS High
FROM
(
SELECT Label1, Label2, Label3, Parts, row_number() OVER (ORDER BY Best DESC, Label1, Label2, Label3) > {limit:UInt32} AS Other
FROM
(
SELECT Label1, Label2, Label3, groupArray((Bucket, Buckets, Low, High)) AS Parts, max(if(isFinite(ifNull(Value, nan)), Value, NULL)) AS Best
FROM
(
SELECT *, multiIf(empty(Sizes), NULL, At <= 1 OR Below[At] <= Wanted, Edges[At],
        Edges[At - 1] + (Edges[At] - Edges[At - 1]) * (Wanted - UpTo[At - 1]) / (Below[At] - UpTo[At - 1])) AS Value
FROM
(
SELECT *, arrayFirstIndex(n -> n >= Wanted * (1 - 1e-12), UpTo) AS At
FROM
(
SELECT *, arraySum(Sizes) * 0.95 AS Wanted
FROM
(
SELECT *, arrayMap(e -> arraySum((l, h, c) -> if(h > l, c * least(greatest((e - l) / (h - l), 0), 1), if(e >= h, c, 0.)), Lows, Highs, Sizes), Edges) AS UpTo
FROM
(
SELECT *, arrayMap(e -> arraySum((l, h, c) -> if(h > l, c * least(greatest((e - l) / (h - l), 0), 1), if(e > h, c, 0.)), Lows, Highs, Sizes), Edges) AS Below
FROM
(
SELECT *, arraySort(arrayDistinct(arrayConcat(Lows, Highs))) AS Edges
FROM
(
SELECT *, arrayMap((l, h) -> if(High < h AND High >= l, High, h), Lows, Closed) AS Highs
FROM
(
SELECT *, arrayMap((l, h) -> if(Low > l AND Low <= h, Low, l), Opened, Closed) AS Lows
FROM
(
SELECT *, arrayMap((k, l) -> if(isFinite(k.2), k.2, if(isFinite(High), greatest(High, k.1), l)), Filled, Opened) AS Closed
FROM
(
SELECT *, arrayMap(k -> if(isFinite(k.1), k.1, if(isFinite(Low), least(Low, k.2), if(k.2 > 0 AND isFinite(k.2), 0., k.2))), Filled) AS Opened
FROM
(
SELECT *, arrayFilter((k, c) -> c > 0, Buckets.1, Buckets.2) AS Filled, arrayFilter(c -> c > 0, Buckets.2) AS Sizes
FROM
(
SELECT Bucket, Label1, Label2, Label3, sumMap(Cells, Counts) AS Buckets, min(Floor) AS Low, max(Ceiling) AS High
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(Step.1), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, Label1, Label2, Label3, arrayZip(arrayPushFront(ExplicitBounds, -inf), arrayPushBack(ExplicitBounds, inf)) AS Cells, sumForEach(Step.3) AS Counts,
    min(ifNull(Step.4, -inf)) AS Floor, max(ifNull(Step.5, inf)) AS Ceiling
FROM
(
SELECT Label1, Label2, Label3, ExplicitBounds, arrayJoin(arrayMap((p, b) -> (p.1, p.2 != b.2 AND p.2 > 0,
        arrayMap((x, y) -> toFloat64(x) - toFloat64(y), p.3, arrayResize(if(p.2 >= b.2, b.3, emptyArrayUInt64()), length(p.3))), p.4, p.5), Points, Before)) AS Step
FROM
(
SELECT Label1, Label2, Label3, ExplicitBounds, Points,
    if(Delta, arrayMap(p -> (Epoch, toUInt64(0), emptyArrayUInt64(), CAST(NULL AS Nullable(Float64)), CAST(NULL AS Nullable(Float64))), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND Epoch < Points[1].1, (Epoch, toUInt64(0), emptyArrayUInt64(), CAST(NULL AS Nullable(Float64)), CAST(NULL AS Nullable(Float64))), Points[1]))) AS Before
FROM
(
SELECT any(ServiceName) AS Label1, any(Attributes[{key_1:String}]) AS Label2, any(ResourceAttributes[{key_2:String}]) AS Label3, AggregationTemporality = 'Delta' AS Delta, if(AggregationTemporality = 'Delta', toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, ExplicitBounds, arraySort(groupArray((Timestamp, Count, if(empty(BucketCounts), [Count], BucketCounts), Min, Max))) AS Points
FROM metrics_histogram
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND (notEmpty(ExplicitBounds) OR isNotNull(Min) AND isNotNull(Max))
    AND ServiceName = {value_3:String}
    AND ifNull(toFloat64OrNull(Attributes[{key_4:String}]) > {number_5:Float64}, 0)
GROUP BY SeriesHash, Delta, Epoch, ExplicitBounds
)
)
)
WHERE Step.2 AND Step.1 >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
GROUP BY Bucket, ExplicitBounds, Label1, Label2, Label3
)
GROUP BY Bucket, Label1, Label2, Label3
)
)
)
)
)
)
)
)
)
)
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
)
)
)
)
)
)
)
)
)
)
WHERE isFinite(ifNull(Value, nan))
)
