SELECT Value, Uses, Rows
FROM
(
    SELECT toString(Value) AS Value, sum(Weight) AS Uses, any(Read) AS Rows
    FROM
    (
        SELECT Value, Weight, count() OVER () AS Read
        FROM
        (
            SELECT SpanAttributes[{key_1:String}] AS Value, toFloat64(SampleRate) AS Weight
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
                AND mapContains(SpanAttributes, {key_1:String})
            LIMIT {max_rows:UInt32}
        )
    )
    GROUP BY Value
)
WHERE Value != '' AND position(lowerUTF8(Value), lowerUTF8({search:String})) > 0
ORDER BY Uses DESC, Value
LIMIT {max_distinct:UInt32}
