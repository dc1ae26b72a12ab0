SELECT
    Timestamp, ServiceName, TraceId, SpanId, SeverityText, SeverityNumber, Body, EventName, ScopeName, LogAttributes, ResourceAttributes, Record, Copy
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
            AND ServiceName = {service_name:String}
            AND SeverityText = {severity:String}
            AND SeverityNumber >= {minimum_severity:UInt16}
            AND TraceId = {trace_id:String}
            AND SpanId = {span_id:String}
            AND Environment = {deployment_environment:String}
            AND ServiceNamespace = {service_namespace:String}
            AND hasAllTokens(Body, {body_tokens:Array(String)})
            AND positionCaseInsensitiveUTF8(Body, {body_search:String}) > 0
            AND mapContains(LogAttributes, {attribute_key_1:String})
            AND NOT (mapContains(LogAttributes, {attribute_key_2:String}))
            AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({attribute_key_3:String}, {attribute_value_4:String})) AND mapContains(LogAttributes, {attribute_key_3:String}) AND LogAttributes[{attribute_key_3:String}] = {attribute_value_4:String}
            AND NOT (mapContains(LogAttributes, {attribute_key_5:String}) AND LogAttributes[{attribute_key_5:String}] = {attribute_value_6:String})
            AND mapContains(LogAttributes, {attribute_key_7:String}) AND positionCaseInsensitiveUTF8(LogAttributes[{attribute_key_7:String}], {attribute_value_8:String}) > 0
            AND NOT (mapContains(LogAttributes, {attribute_key_9:String}) AND positionCaseInsensitiveUTF8(LogAttributes[{attribute_key_9:String}], {attribute_value_10:String}) > 0)
            AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_11:String}]) > {attribute_value_12:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_13:String}]) > {attribute_value_14:Float64}, 0))
            AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_15:String}]) >= {attribute_value_16:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_17:String}]) >= {attribute_value_18:Float64}, 0))
            AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_19:String}]) < {attribute_value_20:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_21:String}]) < {attribute_value_22:Float64}, 0))
            AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_23:String}]) <= {attribute_value_24:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_25:String}]) <= {attribute_value_26:Float64}, 0))
            AND mapContains(ResourceAttributes, {attribute_key_27:String}) AND positionCaseInsensitiveUTF8(ResourceAttributes[{attribute_key_27:String}], {attribute_value_28:String}) > 0
            AND (Timestamp, ServiceName, TraceId, SpanId) >= (
                SELECT min(Key) FROM (
                    SELECT (Timestamp, ServiceName, TraceId, SpanId) AS Key FROM logs
                    WHERE OrgId = {org:String}
                      AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                      AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                      AND ServiceName = {service_name:String}
                      AND SeverityText = {severity:String}
                      AND SeverityNumber >= {minimum_severity:UInt16}
                      AND TraceId = {trace_id:String}
                      AND SpanId = {span_id:String}
                      AND Environment = {deployment_environment:String}
                      AND ServiceNamespace = {service_namespace:String}
                      AND hasAllTokens(Body, {body_tokens:Array(String)})
                      AND positionCaseInsensitiveUTF8(Body, {body_search:String}) > 0
                      AND mapContains(LogAttributes, {attribute_key_1:String})
                      AND NOT (mapContains(LogAttributes, {attribute_key_2:String}))
                      AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)), cityHash64({attribute_key_3:String}, {attribute_value_4:String})) AND mapContains(LogAttributes, {attribute_key_3:String}) AND LogAttributes[{attribute_key_3:String}] = {attribute_value_4:String}
                      AND NOT (mapContains(LogAttributes, {attribute_key_5:String}) AND LogAttributes[{attribute_key_5:String}] = {attribute_value_6:String})
                      AND mapContains(LogAttributes, {attribute_key_7:String}) AND positionCaseInsensitiveUTF8(LogAttributes[{attribute_key_7:String}], {attribute_value_8:String}) > 0
                      AND NOT (mapContains(LogAttributes, {attribute_key_9:String}) AND positionCaseInsensitiveUTF8(LogAttributes[{attribute_key_9:String}], {attribute_value_10:String}) > 0)
                      AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_11:String}]) > {attribute_value_12:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_13:String}]) > {attribute_value_14:Float64}, 0))
                      AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_15:String}]) >= {attribute_value_16:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_17:String}]) >= {attribute_value_18:Float64}, 0))
                      AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_19:String}]) < {attribute_value_20:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_21:String}]) < {attribute_value_22:Float64}, 0))
                      AND ifNull(toFloat64OrNull(LogAttributes[{attribute_key_23:String}]) <= {attribute_value_24:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(LogAttributes[{attribute_key_25:String}]) <= {attribute_value_26:Float64}, 0))
                      AND mapContains(ResourceAttributes, {attribute_key_27:String}) AND positionCaseInsensitiveUTF8(ResourceAttributes[{attribute_key_27:String}], {attribute_value_28:String}) > 0
                    ORDER BY Key DESC
                    LIMIT {limit:UInt32}))
    )
)
ORDER BY Timestamp DESC, ServiceName DESC, TraceId DESC, SpanId DESC, Record DESC, Copy
LIMIT {limit:UInt32}
