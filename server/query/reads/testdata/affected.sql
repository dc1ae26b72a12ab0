WITH
    if(SpanAttributes['user.id'] != '', SpanAttributes['user.id'], SpanAttributes['enduser.id']) AS User,
    SpanAttributes['session.id'] AS Session
SELECT
    uniqCombined64(TraceId) AS Traces,
    uniqCombined64If(User, User != '') AS Users,
    uniqCombined64If(Session, Session != '') AS Sessions
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND TraceId IN
    (
        SELECT DISTINCT TraceId
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
        LIMIT {limit:UInt32}
    )
SETTINGS distributed_product_mode = 'local'
