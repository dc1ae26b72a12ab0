SELECT
    [toString(Key1)] AS GroupKey,
    Value,
    sum(Value) OVER () AS Total,
    count() OVER () AS Groups
FROM
(
    SELECT
        HttpRoute AS Key1,
        toFloat64(uniqIf(SpanAttributes[{key_2:String}], mapContains(SpanAttributes, {key_2:String}))) AS Value
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND HttpStatusCode != 0
        AND HttpStatusCode >= {number_1:Float64}
    GROUP BY Key1
)
WHERE Value > {having_3:Float64}
ORDER BY Value DESC, Key1 ASC
LIMIT {limit:UInt32}
