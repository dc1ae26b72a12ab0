SELECT toDateTime(Bucket, 'UTC') AS Bucket, CAST([], 'Array(String)') AS GroupKey, false AS Other, assumeNotNull(Value) AS Value
FROM
(
SELECT *
FROM
(
SELECT *, multiIf(empty(Sizes), NULL, L > 0, L * pow(H / L, Share), H < 0, L * pow(H / L, Share), L + (H - L) * Share) AS Value
FROM
(
SELECT *, Highs[At] AS H
FROM
(
SELECT *, Lows[At] AS L
FROM
(
SELECT *, (Wanted - if(At > 1, UpTo[At - 1], 0.)) / Sizes[At] AS Share
FROM
(
SELECT *, arrayFirstIndex(n -> n >= Wanted * (1 - 1e-12), UpTo) AS At
FROM
(
SELECT *, arraySum(Sizes) * 0.95 AS Wanted
FROM
(
SELECT *, arrayCumSum(Sizes) AS UpTo
FROM
(
SELECT *, arrayMap((l, h) -> if(High < h AND High >= l, High, h), Lows, Closed) AS Highs
FROM
(
SELECT *, arrayMap((l, h) -> if(Low > l AND Low <= h, Low, l), Opened, Closed) AS Lows
FROM
(
SELECT *, arrayMap((k, n, f) -> multiIf(k > 0, f, k < 0, -n, Zero), Codes, Nearer, Farther) AS Closed
FROM
(
SELECT *, arrayMap((k, n, f) -> multiIf(k > 0, n, k < 0, -f, Codes[1] < 0, -Zero, 0.), Codes, Nearer, Farther) AS Opened
FROM
(
SELECT *, arrayMap(k -> least(exp2((abs(k) - 8589934592 + 1) * exp2(-Coarsest)), 1.7976931348623157e308), Codes) AS Farther
FROM
(
SELECT *, arrayMap(k -> exp2((abs(k) - 8589934592) * exp2(-Coarsest)), Codes) AS Nearer
FROM
(
SELECT *, arrayFilter(c -> c > 0, Scaled.2) AS Sizes
FROM
(
SELECT *, arrayFilter((k, c) -> c > 0, Scaled.1, Scaled.2) AS Codes
FROM
(
SELECT *, arrayReduce('sumMap', [arrayMap(k -> sign(k.2) * (toInt64(floor((abs(k.2) - 8589934592) / exp2(k.1 - Coarsest))) + 8589934592) * (k.2 != 0), Buckets.1)], [Buckets.2]) AS Scaled
FROM
(
SELECT *, arrayMin(tupleElement(Buckets.1, 1)) AS Coarsest
FROM
(
SELECT Bucket, (groupArray(Cell), groupArray(Size)) AS Buckets, min(Floor) AS Low, max(Ceiling) AS High, max(Threshold) AS Zero
FROM
(
SELECT Bucket, (Part.1, Part.2) AS Cell, sum(Part.3) AS Size, min(Least) AS Floor, max(Most) AS Ceiling, max(Width) AS Threshold
FROM
(
SELECT toUInt32(least(intDiv(toUnixTimestamp(P.1), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32})) AS Bucket, ifNull(P.10, -inf) AS Least, ifNull(P.11, inf) AS Most, P.5 AS Width,
    arrayConcat(
        arrayMap((c, i) -> (P.3, toInt64(P.6) + i - 1 + 8589934592, toFloat64(c)), P.7, arrayEnumerate(P.7)),
        arrayMap((c, i) -> (P.3, -(toInt64(P.8) + i - 1 + 8589934592), toFloat64(c)), P.9, arrayEnumerate(P.9)),
        [(P.3, toInt64(0), toFloat64(P.4))],
        if(P.2 >= B.2, arrayConcat(
        arrayMap((c, i) -> (B.3, toInt64(B.6) + i - 1 + 8589934592, -toFloat64(c)), B.7, arrayEnumerate(B.7)),
        arrayMap((c, i) -> (B.3, -(toInt64(B.8) + i - 1 + 8589934592), -toFloat64(c)), B.9, arrayEnumerate(B.9)),
        [(B.3, toInt64(0), -toFloat64(B.4))]), [])) AS Cells
FROM
(
SELECT P, B
FROM
(
SELECT Points,
    if(Delta, arrayMap(p -> (Epoch, toUInt64(0), toInt32(0), toUInt64(0), 0., toInt32(0), emptyArrayUInt64(), toInt32(0), emptyArrayUInt64(), CAST(NULL AS Nullable(Float64)), CAST(NULL AS Nullable(Float64))), Points), arrayPushFront(arrayPopBack(Points), if(Epoch >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND Epoch < Points[1].1, (Epoch, toUInt64(0), toInt32(0), toUInt64(0), 0., toInt32(0), emptyArrayUInt64(), toInt32(0), emptyArrayUInt64(), CAST(NULL AS Nullable(Float64)), CAST(NULL AS Nullable(Float64))), Points[1]))) AS Before
FROM
(
SELECT AggregationTemporality = 'Delta' AS Delta, if(AggregationTemporality = 'Delta', toDateTime64(0, 9, 'UTC'), StartTimestamp) AS Epoch, arraySort(groupArray((Timestamp, Count, Scale, ZeroCount, ZeroThreshold, PositiveOffset, PositiveBucketCounts, NegativeOffset, NegativeBucketCounts, Min, Max))) AS Points
FROM metrics_exponential_histogram
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
GROUP BY SeriesHash, Delta, Epoch
)
)
ARRAY JOIN Points AS P, Before AS B
)
WHERE P.2 != B.2 AND P.2 > 0 AND P.1 >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
)
ARRAY JOIN Cells AS Part
GROUP BY Bucket, Cell
HAVING Size != 0
)
GROUP BY Bucket
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
)
)
)
)
)
)
WHERE isFinite(ifNull(Value, nan))
)
