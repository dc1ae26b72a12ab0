SELECT
    Timestamp, ServiceName, TraceId, SpanId, SeverityText, SeverityNumber, Body, EventName, ScopeName, LogAttributes, ResourceAttributes, Record, Copy, Matching
FROM
(
    SELECT
        *,
        count() OVER () AS Matching,
        sum(byteSize(Body, LogAttributes, ResourceAttributes)) OVER (ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Bytes,
        row_number() OVER (ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy) AS Place
    FROM
    (
        SELECT
            *,
            row_number() OVER (PARTITION BY Timestamp, ServiceName, TraceId, SpanId, Record) AS Copy
        FROM
        (
            SELECT
                Timestamp, ServiceName, TraceId, SpanId, SeverityText, SeverityNumber, Body, EventName, ScopeName, LogAttributes, ResourceAttributes,
                lower(hex(sipHash128(Timestamp, ObservedTimestamp, TraceId, SpanId, Flags, SeverityText, SeverityNumber, ServiceName,
            ServiceNamespace, ServiceVersion, Environment, EventName, Body, ScopeName, ScopeVersion,
            mapKeys(ScopeAttributes), mapValues(ScopeAttributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes),
            mapKeys(LogAttributes), mapValues(LogAttributes)))) AS Record
            FROM logs
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {value_1:String}
                AND SeverityText = {value_2:String}
                AND ((SeverityNumber != 0 AND SeverityNumber >= {number_3:Float64}) OR (NOT (SeverityNumber != 0) AND SeverityText IN ({value_4:String}, {value_5:String}, {value_6:String}, {value_7:String})))
                AND TraceId = {value_8:String}
                AND SpanId = {value_9:String}
                AND hasAllTokens(Body, {tokens_10:Array(String)})
                AND Body != ''
                AND position(lowerUTF8(Body), lowerUTF8({value_11:String})) > 0
                AND Environment = {value_12:String}
                AND ServiceNamespace = {value_13:String}
                AND mapContains(LogAttributes, {key_14:String})
                AND NOT (mapContains(LogAttributes, {key_15:String}))
                AND mapContains(LogAttributes, {key_16:String})
                AND LogAttributes[{key_16:String}] = {value_17:String}
                AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({key_16:String}, {value_17:String}))
                AND NOT ((mapContains(LogAttributes, {key_18:String}) AND LogAttributes[{key_18:String}] = {value_19:String}))
                AND mapContains(LogAttributes, {key_20:String})
                AND position(lowerUTF8(LogAttributes[{key_20:String}]), lowerUTF8({value_21:String})) > 0
                AND NOT ((mapContains(LogAttributes, {key_22:String}) AND position(lowerUTF8(LogAttributes[{key_22:String}]), lowerUTF8({value_23:String})) > 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_24:String}]) > {number_25:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_26:String}]) > {number_27:Float64}, 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_28:String}]) >= {number_29:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_30:String}]) >= {number_31:Float64}, 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_32:String}]) < {number_33:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_34:String}]) < {number_35:Float64}, 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_36:String}]) <= {number_37:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_38:String}]) <= {number_39:Float64}, 0))
                AND mapContains(ResourceAttributes, {key_40:String})
                AND position(lowerUTF8(ResourceAttributes[{key_40:String}]), lowerUTF8({value_41:String})) > 0
                AND (Timestamp, ServiceName, TraceId, SpanId) >= (
                    SELECT min(Key) FROM (
                        SELECT (Timestamp, ServiceName, TraceId, SpanId) AS Key FROM logs
                        WHERE OrgId = {org:String}
                          AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                          AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                          AND ServiceName = {value_1:String}
                          AND SeverityText = {value_2:String}
                          AND ((SeverityNumber != 0 AND SeverityNumber >= {number_3:Float64}) OR (NOT (SeverityNumber != 0) AND SeverityText IN ({value_4:String}, {value_5:String}, {value_6:String}, {value_7:String})))
                          AND TraceId = {value_8:String}
                          AND SpanId = {value_9:String}
                          AND hasAllTokens(Body, {tokens_10:Array(String)})
                          AND Body != ''
                          AND position(lowerUTF8(Body), lowerUTF8({value_11:String})) > 0
                          AND Environment = {value_12:String}
                          AND ServiceNamespace = {value_13:String}
                          AND mapContains(LogAttributes, {key_14:String})
                          AND NOT (mapContains(LogAttributes, {key_15:String}))
                          AND mapContains(LogAttributes, {key_16:String})
                          AND LogAttributes[{key_16:String}] = {value_17:String}
                          AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({key_16:String}, {value_17:String}))
                          AND NOT ((mapContains(LogAttributes, {key_18:String}) AND LogAttributes[{key_18:String}] = {value_19:String}))
                          AND mapContains(LogAttributes, {key_20:String})
                          AND position(lowerUTF8(LogAttributes[{key_20:String}]), lowerUTF8({value_21:String})) > 0
                          AND NOT ((mapContains(LogAttributes, {key_22:String}) AND position(lowerUTF8(LogAttributes[{key_22:String}]), lowerUTF8({value_23:String})) > 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_24:String}]) > {number_25:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_26:String}]) > {number_27:Float64}, 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_28:String}]) >= {number_29:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_30:String}]) >= {number_31:Float64}, 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_32:String}]) < {number_33:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_34:String}]) < {number_35:Float64}, 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_36:String}]) <= {number_37:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_38:String}]) <= {number_39:Float64}, 0))
                          AND mapContains(ResourceAttributes, {key_40:String})
                          AND position(lowerUTF8(ResourceAttributes[{key_40:String}]), lowerUTF8({value_41:String})) > 0
                        ORDER BY Key DESC
                        LIMIT {limit:UInt32}))
        )
    )
    ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy
    LIMIT {limit:UInt32}
)
WHERE Bytes <= {bytes:UInt64} OR Place = 1
ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy
