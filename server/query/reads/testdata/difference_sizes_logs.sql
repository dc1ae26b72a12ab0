SELECT
    countIf(Side = 1) AS Selected,
    countIf(Side = 2) AS Other,
    toFloat64(sumIf(Weight, Side = 1)) AS SelectedEstimated,
    toFloat64(sumIf(Weight, Side = 2)) AS OtherEstimated
FROM
(
    SELECT
        multiIf((Timestamp >= fromUnixTimestamp64Nano({selected_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({selected_end:Int64}, 'UTC')), 1, (Timestamp >= fromUnixTimestamp64Nano({other_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({other_end:Int64}, 'UTC')
        AND mapContains(LogAttributes, {key_1:String})
        AND NOT (mapContains(LogAttributes, {key_2:String}))
        AND mapContains(LogAttributes, {key_3:String})
        AND LogAttributes[{key_3:String}] = {value_4:String}
        AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({key_3:String}, {value_4:String}))
        AND NOT ((mapContains(LogAttributes, {key_5:String}) AND LogAttributes[{key_5:String}] = {value_6:String}))
        AND mapContains(LogAttributes, {key_7:String})
        AND position(lowerUTF8(LogAttributes[{key_7:String}]), lowerUTF8({value_8:String})) > 0
        AND NOT ((mapContains(LogAttributes, {key_9:String}) AND position(lowerUTF8(LogAttributes[{key_9:String}]), lowerUTF8({value_10:String})) > 0))
        AND ifNull(toFloat64OrNull(LogAttributes[{key_11:String}]) > {number_12:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_13:String}]) > {number_14:Float64}, 0))
        AND ifNull(toFloat64OrNull(LogAttributes[{key_15:String}]) >= {number_16:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_17:String}]) >= {number_18:Float64}, 0))
        AND ifNull(toFloat64OrNull(LogAttributes[{key_19:String}]) < {number_20:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_21:String}]) < {number_22:Float64}, 0))
        AND ifNull(toFloat64OrNull(LogAttributes[{key_23:String}]) <= {number_24:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_25:String}]) <= {number_26:Float64}, 0))), 2, 0) AS Side,
        1 AS Weight
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND ServiceName = {value_27:String}
)
