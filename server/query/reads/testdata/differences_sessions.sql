SELECT
    *,
    sum(SelectedEstimated) OVER (PARTITION BY Key) AS KeySelected,
    sum(OtherEstimated) OVER (PARTITION BY Key) AS KeyOther,
    count() OVER (PARTITION BY Key) AS Values
FROM
(
    SELECT
        Pair.1 AS Key,
        Pair.2 AS Value,
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
            1 * if(Side = 1, {selected_weight:Float64}, {other_weight:Float64}) AS Weight,
            arrayConcat(
            [('service.name', toString(ServiceName)), ('service.version', ResourceAttributes['service.version']), ('browser.name', toString(BrowserName)),
             ('os.name', toString(OsName)), ('device.type', toString(DeviceType)), ('language', toString(Language)), ('country', toString(Country)),
             ('host', toString(Host)), ('entry.path', EntryPath), ('exit.path', ExitPath), ('referrer.host', toString(ReferrerHost)),
             ('utm.source', toString(UtmSource)), ('utm.medium', toString(UtmMedium)), ('utm.campaign', toString(UtmCampaign)),
             ('group.id', GroupId), ('user.id', UserId), ('visitor.is_new', if(VisitorIsNew, 'true', 'false'))],
            arrayMap(p -> (concat('attr.', toString(p.1)), p.2), arrayZip(mapKeys(UserTraits), mapValues(UserTraits))),
            arrayMap(p -> (concat('resource.', toString(p.1)), p.2), arrayFilter(p -> p.1 NOT IN ('service.name', 'service.version'),
                arrayZip(mapKeys(ResourceAttributes), mapValues(ResourceAttributes))))) AS Pairs
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
            AND Side > 0
            AND cityHash64(SessionId) % 1048576 < if(Side = 1, {selected_drawn:UInt64}, {other_drawn:UInt64})
    )
    ARRAY JOIN Pairs AS Pair
    WHERE Value != '' AND lengthUTF8(Value) <= 200
    GROUP BY Key, Value
)
ORDER BY abs(SelectedEstimated / {selected_size:Float64} - OtherEstimated / {other_size:Float64}) DESC, Key, Value
LIMIT {limit:UInt32}
