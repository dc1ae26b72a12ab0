SELECT Pair.1 AS Resource, Pair.2 AS Key, uniq(Pair.3) AS Count, arraySlice(arraySort(groupUniqArray(1000)(Pair.3)), 1, 10) AS Some
FROM
(
    SELECT arrayJoin(arrayConcat(
        arrayMap((k, v) -> (false, toString(k), v), mapKeys(Attributes), mapValues(Attributes)),
        arrayMap((k, v) -> (true, toString(k), v), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)))) AS Pair
    FROM
    (
        SELECT Attributes, ResourceAttributes
        FROM metrics_histogram
        WHERE OrgId = {org:String}
            AND MetricName = {metric_name:String}
            AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
            AND bitAnd(Flags, 1) = 0
        LIMIT 1 BY SeriesHash
        LIMIT 10000
    )
)
GROUP BY Resource, Key
ORDER BY Resource, Key
LIMIT 1000
