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
            1 * if(Side = 1, {selected_weight:Float64}, {other_weight:Float64}) AS Weight,
            arrayConcat(
            [('service.name', toString(ServiceName)), ('service.version', toString(ServiceVersion)), ('deployment.environment.name', toString(Environment)),
             ('severity', toString(SeverityText)), ('event.name', toString(EventName))],
            arrayMap(p -> (toString(p.1), p.2), arrayZip(mapKeys(LogAttributes), mapValues(LogAttributes))),
            arrayMap(p -> (concat('resource.', toString(p.1)), p.2), arrayFilter(p -> p.1 NOT IN ('service.name', 'service.version',
                'deployment.environment.name', 'deployment.environment'), arrayZip(mapKeys(ResourceAttributes), mapValues(ResourceAttributes))))) AS Pairs
        FROM logs
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND ServiceName = {value_27:String}
            AND Side > 0
            AND cityHash64(TraceId, Timestamp, Body) % 1048576 < if(Side = 1, {selected_drawn:UInt64}, {other_drawn:UInt64})
    )
    ARRAY JOIN Pairs AS Pair
    WHERE Value != '' AND lengthUTF8(Value) <= 200
    GROUP BY Key, Value
)
ORDER BY abs(SelectedEstimated / {selected_size:Float64} - OtherEstimated / {other_size:Float64}) DESC, Key, Value
LIMIT {limit:UInt32}
