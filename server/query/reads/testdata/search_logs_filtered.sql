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
                AND SeverityNumber != 0
                AND SeverityNumber >= {number_3:Float64}
                AND TraceId = {value_4:String}
                AND SpanId = {value_5:String}
                AND hasAllTokens(Body, {tokens_6:Array(String)})
                AND Body != ''
                AND position(lowerUTF8(Body), lowerUTF8({value_7:String})) > 0
                AND Environment = {value_8:String}
                AND ServiceNamespace = {value_9:String}
                AND mapContains(LogAttributes, {key_10:String})
                AND NOT (mapContains(LogAttributes, {key_11:String}))
                AND mapContains(LogAttributes, {key_12:String})
                AND LogAttributes[{key_12:String}] = {value_13:String}
                AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({key_12:String}, {value_13:String}))
                AND NOT ((mapContains(LogAttributes, {key_14:String}) AND LogAttributes[{key_14:String}] = {value_15:String}))
                AND mapContains(LogAttributes, {key_16:String})
                AND position(lowerUTF8(LogAttributes[{key_16:String}]), lowerUTF8({value_17:String})) > 0
                AND NOT ((mapContains(LogAttributes, {key_18:String}) AND position(lowerUTF8(LogAttributes[{key_18:String}]), lowerUTF8({value_19:String})) > 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_20:String}]) > {number_21:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_22:String}]) > {number_23:Float64}, 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_24:String}]) >= {number_25:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_26:String}]) >= {number_27:Float64}, 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_28:String}]) < {number_29:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_30:String}]) < {number_31:Float64}, 0))
                AND ifNull(toFloat64OrNull(LogAttributes[{key_32:String}]) <= {number_33:Float64}, 0)
                AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_34:String}]) <= {number_35:Float64}, 0))
                AND mapContains(ResourceAttributes, {key_36:String})
                AND position(lowerUTF8(ResourceAttributes[{key_36:String}]), lowerUTF8({value_37:String})) > 0
                AND (Timestamp, ServiceName, TraceId, SpanId) >= (
                    SELECT min(Key) FROM (
                        SELECT (Timestamp, ServiceName, TraceId, SpanId) AS Key FROM logs
                        WHERE OrgId = {org:String}
                          AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                          AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                          AND ServiceName = {value_1:String}
                          AND SeverityText = {value_2:String}
                          AND SeverityNumber != 0
                          AND SeverityNumber >= {number_3:Float64}
                          AND TraceId = {value_4:String}
                          AND SpanId = {value_5:String}
                          AND hasAllTokens(Body, {tokens_6:Array(String)})
                          AND Body != ''
                          AND position(lowerUTF8(Body), lowerUTF8({value_7:String})) > 0
                          AND Environment = {value_8:String}
                          AND ServiceNamespace = {value_9:String}
                          AND mapContains(LogAttributes, {key_10:String})
                          AND NOT (mapContains(LogAttributes, {key_11:String}))
                          AND mapContains(LogAttributes, {key_12:String})
                          AND LogAttributes[{key_12:String}] = {value_13:String}
                          AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({key_12:String}, {value_13:String}))
                          AND NOT ((mapContains(LogAttributes, {key_14:String}) AND LogAttributes[{key_14:String}] = {value_15:String}))
                          AND mapContains(LogAttributes, {key_16:String})
                          AND position(lowerUTF8(LogAttributes[{key_16:String}]), lowerUTF8({value_17:String})) > 0
                          AND NOT ((mapContains(LogAttributes, {key_18:String}) AND position(lowerUTF8(LogAttributes[{key_18:String}]), lowerUTF8({value_19:String})) > 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_20:String}]) > {number_21:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_22:String}]) > {number_23:Float64}, 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_24:String}]) >= {number_25:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_26:String}]) >= {number_27:Float64}, 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_28:String}]) < {number_29:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_30:String}]) < {number_31:Float64}, 0))
                          AND ifNull(toFloat64OrNull(LogAttributes[{key_32:String}]) <= {number_33:Float64}, 0)
                          AND NOT (ifNull(toFloat64OrNull(LogAttributes[{key_34:String}]) <= {number_35:Float64}, 0))
                          AND mapContains(ResourceAttributes, {key_36:String})
                          AND position(lowerUTF8(ResourceAttributes[{key_36:String}]), lowerUTF8({value_37:String})) > 0
                        ORDER BY Key DESC
                        LIMIT {limit:UInt32}))
        )
    )
    ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy
    LIMIT {limit:UInt32}
)
WHERE Bytes <= {bytes:UInt64} OR Place = 1
ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy
