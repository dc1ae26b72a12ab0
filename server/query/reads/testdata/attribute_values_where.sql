SELECT Value, Uses, Rows
FROM
(
    SELECT toString(Value) AS Value, sum(Weight) AS Uses, any(Read) AS Rows
    FROM
    (
        SELECT Value, Weight, count() OVER () AS Read
        FROM
        (
            SELECT SpanAttributes[{key_27:String}] AS Value, toFloat64(SampleRate) AS Weight
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND mapContains(SpanAttributes, {key_1:String})
                AND NOT (mapContains(SpanAttributes, {key_2:String}))
                AND mapContains(SpanAttributes, {key_3:String})
                AND SpanAttributes[{key_3:String}] = {value_4:String}
                AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({key_3:String}, {value_4:String}))
                AND NOT ((mapContains(SpanAttributes, {key_5:String}) AND SpanAttributes[{key_5:String}] = {value_6:String}))
                AND mapContains(SpanAttributes, {key_7:String})
                AND position(lowerUTF8(SpanAttributes[{key_7:String}]), lowerUTF8({value_8:String})) > 0
                AND NOT ((mapContains(SpanAttributes, {key_9:String}) AND position(lowerUTF8(SpanAttributes[{key_9:String}]), lowerUTF8({value_10:String})) > 0))
                AND ifNull(toFloat64OrNull(SpanAttributes[{key_11:String}]) > {number_12:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_13:String}]) > {number_14:Float64}, 0))
                AND ifNull(toFloat64OrNull(SpanAttributes[{key_15:String}]) >= {number_16:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_17:String}]) >= {number_18:Float64}, 0))
                AND ifNull(toFloat64OrNull(SpanAttributes[{key_19:String}]) < {number_20:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_21:String}]) < {number_22:Float64}, 0))
                AND ifNull(toFloat64OrNull(SpanAttributes[{key_23:String}]) <= {number_24:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_25:String}]) <= {number_26:Float64}, 0))
                AND mapContains(SpanAttributes, {key_27:String})
            LIMIT {max_rows:UInt32}
        )
    )
    GROUP BY Value
)
WHERE Value != ''
ORDER BY Uses DESC, Value
LIMIT {max_distinct:UInt32}
