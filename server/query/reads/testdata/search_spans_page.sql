SELECT
    Timestamp, TraceId, SpanId, ParentSpanId, DurationNano, SpanName, SpanKind, ServiceName, Environment, StatusCode, HasError,
    HttpMethod, HttpRoute, HttpStatusCode,
    [leftUTF8(toString(if(1, toString(DurationNano), '')), 1000), leftUTF8(toString(SpanAttributes[{key_41:String}]), 1000), leftUTF8(toString(arrayMap(event -> event[{key_42:String}], arrayFilter(event -> mapContains(event, {key_42:String}), EventsAttributes))[1]), 1000)] AS Extra
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
    AND ServiceName = {value_1:String}
    AND SpanName = {value_2:String}
    AND SpanName != ''
    AND position(lowerUTF8(SpanName), lowerUTF8({value_3:String})) > 0
    AND TraceId = {value_4:String}
    AND StatusCode = {value_5:String}
    AND HttpRoute = {value_6:String}
    AND Environment = {value_7:String}
    AND ServiceNamespace = {value_8:String}
    AND HttpMethod = {value_9:String}
    AND HttpStatusCode != 0
    AND HttpStatusCode = {number_10:Float64}
    AND HasError
    AND DurationNano >= {number_11:Float64}
    AND DurationNano <= {number_12:Float64}
    AND ParentSpanId = ''
    AND mapContains(SpanAttributes, {key_13:String})
    AND NOT (mapContains(SpanAttributes, {key_14:String}))
    AND mapContains(SpanAttributes, {key_15:String})
    AND SpanAttributes[{key_15:String}] = {value_16:String}
    AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({key_15:String}, {value_16:String}))
    AND NOT ((mapContains(SpanAttributes, {key_17:String}) AND SpanAttributes[{key_17:String}] = {value_18:String}))
    AND mapContains(SpanAttributes, {key_19:String})
    AND position(lowerUTF8(SpanAttributes[{key_19:String}]), lowerUTF8({value_20:String})) > 0
    AND NOT ((mapContains(SpanAttributes, {key_21:String}) AND position(lowerUTF8(SpanAttributes[{key_21:String}]), lowerUTF8({value_22:String})) > 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_23:String}]) > {number_24:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_25:String}]) > {number_26:Float64}, 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_27:String}]) >= {number_28:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_29:String}]) >= {number_30:Float64}, 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_31:String}]) < {number_32:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_33:String}]) < {number_34:Float64}, 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_35:String}]) <= {number_36:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_37:String}]) <= {number_38:Float64}, 0))
    AND mapContains(ResourceAttributes, {key_39:String})
    AND ResourceAttributes[{key_39:String}] = {value_40:String}
    AND ServiceName = {value_40:String}
    AND (Timestamp, TraceId, SpanId) < (fromUnixTimestamp64Nano({before_start:Int64}, 'UTC'), {before_trace:String}, {before_span:String})
ORDER BY toStartOfSecond(Timestamp) DESC, Timestamp DESC, TraceId DESC, SpanId DESC
LIMIT {limit:UInt32}
