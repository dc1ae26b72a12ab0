SELECT
    countIf(Side = 1) AS Selected,
    countIf(Side = 2) AS Other,
    toFloat64(sumIf(Weight, Side = 1)) AS SelectedEstimated,
    toFloat64(sumIf(Weight, Side = 2)) AS OtherEstimated
FROM
(
    SELECT
        multiIf((Timestamp >= fromUnixTimestamp64Nano({selected_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({selected_end:Int64}, 'UTC')
        AND ErrorCount > 0), 1, (Timestamp >= fromUnixTimestamp64Nano({other_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({other_end:Int64}, 'UTC')
        AND mapContains(UserTraits, {key_1:String})
        AND NOT (mapContains(UserTraits, {key_2:String}))
        AND mapContains(UserTraits, {key_3:String})
        AND UserTraits[{key_3:String}] = {value_4:String}
        AND NOT ((mapContains(UserTraits, {key_5:String}) AND UserTraits[{key_5:String}] = {value_6:String}))
        AND mapContains(UserTraits, {key_7:String})
        AND position(lowerUTF8(UserTraits[{key_7:String}]), lowerUTF8({value_8:String})) > 0
        AND NOT ((mapContains(UserTraits, {key_9:String}) AND position(lowerUTF8(UserTraits[{key_9:String}]), lowerUTF8({value_10:String})) > 0))
        AND ifNull(toFloat64OrNull(UserTraits[{key_11:String}]) > {number_12:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(UserTraits[{key_13:String}]) > {number_14:Float64}, 0))
        AND ifNull(toFloat64OrNull(UserTraits[{key_15:String}]) >= {number_16:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(UserTraits[{key_17:String}]) >= {number_18:Float64}, 0))
        AND ifNull(toFloat64OrNull(UserTraits[{key_19:String}]) < {number_20:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(UserTraits[{key_21:String}]) < {number_22:Float64}, 0))
        AND ifNull(toFloat64OrNull(UserTraits[{key_23:String}]) <= {number_24:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(UserTraits[{key_25:String}]) <= {number_26:Float64}, 0))), 2, 0) AS Side,
        1 AS Weight
    FROM (
        SELECT *, StartTime AS Timestamp
        FROM session_replays
        WHERE OrgId = {org:String}
            AND StartTime >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        ORDER BY SessionId, Version DESC
        LIMIT 1 BY SessionId
    ) AS latest
    WHERE OrgId = {org:String}
        AND mapContains(UserTraits, {key_27:String})
        AND UserTraits[{key_27:String}] = {value_28:String}
)
