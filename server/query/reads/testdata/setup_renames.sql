SELECT
    ServiceName,
    OldKey,
    countIf(has(Keys, OldKey)) AS Old,
    countIf(has(Keys, NewKey)) AS New,
    countIf(has(Keys, OldKey) AND has(Keys, NewKey)) AS Both
FROM
(
    SELECT ServiceName, mapKeys(SpanAttributes) AS Keys
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND hasAny(Keys, arrayConcat({olds:Array(String)}, {news:Array(String)}))
)
ARRAY JOIN {olds:Array(String)} AS OldKey, {news:Array(String)} AS NewKey
GROUP BY ServiceName, OldKey
HAVING Old > 0
ORDER BY Old DESC, ServiceName, OldKey
LIMIT 5000
