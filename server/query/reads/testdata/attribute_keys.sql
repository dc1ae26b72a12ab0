SELECT
    Scope,
    Key,
    arrayMap(t -> t.2, arrayReverseSort(groupArray((OfType, ValueType)))) AS Types,
    sum(OfType) AS Uses
FROM
(
    SELECT Scope, Key, toString(ValueType) AS ValueType, sum(UsageCount) AS OfType
    FROM attribute_keys
    WHERE OrgId = {org:String}
        AND Hour >= toStartOfHour(toDateTime({start:Int64}, 'UTC'))
        AND Hour <= toDateTime({end:Int64}, 'UTC')
        AND Signal = {signal:String}
        AND NOT (Scope = 'resource' AND startsWith(Key, 'svc_'))
        AND Scope = {scope:String}
        AND position(lowerUTF8(Key), lowerUTF8({search:String})) > 0
    GROUP BY Scope, Key, ValueType
)
GROUP BY Scope, Key
ORDER BY Uses DESC, Scope, Key
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
