SELECT
    [toString(Key1)] AS GroupKey,
    Value,
    sum(Value) OVER () AS Total,
    count() OVER () AS Groups
FROM
(
    SELECT
        Attributes[{key_3:String}] AS Key1,
        toFloat64(uniqIf(if(UserId != '', UserId, VisitorId), if(UserId != '', UserId, VisitorId) != '')) AS Value
    FROM product_events
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND Name IN ({value_1:String}, {value_2:String})
    GROUP BY Key1
)
ORDER BY Key1 ASC
LIMIT {limit:UInt32}
