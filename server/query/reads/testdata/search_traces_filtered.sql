SELECT
    TraceId, Start, RootSpanName, RootSpanKind, RootServiceName, RootServiceNamespace, RootEnvironment, RootDurationNano,
    RootStatusCode, RootHasError, RootHttpMethod, RootHttpRoute, RootHttpStatusCode
FROM
(
    SELECT TraceId,
        min(Timestamp) AS Start,
        argMin(SpanName, (Timestamp, SpanId)) AS RootSpanName,
        argMin(SpanKind, (Timestamp, SpanId)) AS RootSpanKind,
        argMin(ServiceName, (Timestamp, SpanId)) AS RootServiceName,
        argMin(ServiceNamespace, (Timestamp, SpanId)) AS RootServiceNamespace,
        argMin(Environment, (Timestamp, SpanId)) AS RootEnvironment,
        argMin(DurationNano, (Timestamp, SpanId)) AS RootDurationNano,
        argMin(StatusCode, (Timestamp, SpanId)) AS RootStatusCode,
        argMin(HasError, (Timestamp, SpanId)) AS RootHasError,
        argMin(HttpMethod, (Timestamp, SpanId)) AS RootHttpMethod,
        argMin(HttpRoute, (Timestamp, SpanId)) AS RootHttpRoute,
        argMin(HttpStatusCode, (Timestamp, SpanId)) AS RootHttpStatusCode
    FROM trace_roots
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
        AND TraceId NOT IN (SELECT TraceId FROM trace_roots WHERE OrgId = {org:String} AND Timestamp >= fromUnixTimestamp64Nano({reach_lo:Int64}, 'UTC') AND Timestamp < fromUnixTimestamp64Nano({lo:Int64}, 'UTC'))
        AND TraceId IN (
            SELECT TraceId FROM spans
            WHERE OrgId = {org:String}
              AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
              AND Timestamp <= fromUnixTimestamp64Nano({reach_hi:Int64}, 'UTC')
              AND ServiceName = {service_name:String}
              AND SpanName = {span_name:String}
              AND positionCaseInsensitiveUTF8(SpanName, {span_name_contains:String}) > 0
              AND TraceId = {trace_id:String}
              AND StatusCode = {status_code:String}
              AND HttpMethod = {http_method:String}
              AND HttpRoute = {http_route:String}
              AND Environment = {deployment_environment:String}
              AND ServiceNamespace = {service_namespace:String}
              AND HttpStatusCode = {http_status_code:UInt16}
              AND HasError
              AND DurationNano >= {min_duration:UInt64}
              AND DurationNano <= {max_duration:UInt64}
              AND ParentSpanId = ''
              AND mapContains(SpanAttributes, {attribute_key_1:String})
              AND NOT (mapContains(SpanAttributes, {attribute_key_2:String}))
              AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({attribute_key_3:String}, {attribute_value_4:String})) AND mapContains(SpanAttributes, {attribute_key_3:String}) AND SpanAttributes[{attribute_key_3:String}] = {attribute_value_4:String}
              AND NOT (mapContains(SpanAttributes, {attribute_key_5:String}) AND SpanAttributes[{attribute_key_5:String}] = {attribute_value_6:String})
              AND mapContains(SpanAttributes, {attribute_key_7:String}) AND positionCaseInsensitiveUTF8(SpanAttributes[{attribute_key_7:String}], {attribute_value_8:String}) > 0
              AND NOT (mapContains(SpanAttributes, {attribute_key_9:String}) AND positionCaseInsensitiveUTF8(SpanAttributes[{attribute_key_9:String}], {attribute_value_10:String}) > 0)
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_11:String}]) > {attribute_value_12:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_13:String}]) > {attribute_value_14:Float64}, 0))
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_15:String}]) >= {attribute_value_16:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_17:String}]) >= {attribute_value_18:Float64}, 0))
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_19:String}]) < {attribute_value_20:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_21:String}]) < {attribute_value_22:Float64}, 0))
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_23:String}]) <= {attribute_value_24:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_25:String}]) <= {attribute_value_26:Float64}, 0))
              AND ServiceName = {attribute_value_28:String} AND mapContains(ResourceAttributes, {attribute_key_27:String}) AND ResourceAttributes[{attribute_key_27:String}] = {attribute_value_28:String})
    GROUP BY TraceId
    UNION ALL
    SELECT TraceId,
        min(Timestamp) AS Start,
        argMin(SpanName, (Timestamp, SpanId)) AS RootSpanName,
        argMin(SpanKind, (Timestamp, SpanId)) AS RootSpanKind,
        argMin(ServiceName, (Timestamp, SpanId)) AS RootServiceName,
        argMin(ServiceNamespace, (Timestamp, SpanId)) AS RootServiceNamespace,
        argMin(Environment, (Timestamp, SpanId)) AS RootEnvironment,
        argMin(DurationNano, (Timestamp, SpanId)) AS RootDurationNano,
        argMin(StatusCode, (Timestamp, SpanId)) AS RootStatusCode,
        argMin(HasError, (Timestamp, SpanId)) AS RootHasError,
        argMin(HttpMethod, (Timestamp, SpanId)) AS RootHttpMethod,
        argMin(HttpRoute, (Timestamp, SpanId)) AS RootHttpRoute,
        argMin(HttpStatusCode, (Timestamp, SpanId)) AS RootHttpStatusCode
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({reach_lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
        AND TraceId IN (
            SELECT TraceId FROM spans
            WHERE OrgId = {org:String}
              AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
              AND Timestamp <= fromUnixTimestamp64Nano({reach_hi:Int64}, 'UTC')
              AND ServiceName = {service_name:String}
              AND SpanName = {span_name:String}
              AND positionCaseInsensitiveUTF8(SpanName, {span_name_contains:String}) > 0
              AND TraceId = {trace_id:String}
              AND StatusCode = {status_code:String}
              AND HttpMethod = {http_method:String}
              AND HttpRoute = {http_route:String}
              AND Environment = {deployment_environment:String}
              AND ServiceNamespace = {service_namespace:String}
              AND HttpStatusCode = {http_status_code:UInt16}
              AND HasError
              AND DurationNano >= {min_duration:UInt64}
              AND DurationNano <= {max_duration:UInt64}
              AND ParentSpanId = ''
              AND mapContains(SpanAttributes, {attribute_key_1:String})
              AND NOT (mapContains(SpanAttributes, {attribute_key_2:String}))
              AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({attribute_key_3:String}, {attribute_value_4:String})) AND mapContains(SpanAttributes, {attribute_key_3:String}) AND SpanAttributes[{attribute_key_3:String}] = {attribute_value_4:String}
              AND NOT (mapContains(SpanAttributes, {attribute_key_5:String}) AND SpanAttributes[{attribute_key_5:String}] = {attribute_value_6:String})
              AND mapContains(SpanAttributes, {attribute_key_7:String}) AND positionCaseInsensitiveUTF8(SpanAttributes[{attribute_key_7:String}], {attribute_value_8:String}) > 0
              AND NOT (mapContains(SpanAttributes, {attribute_key_9:String}) AND positionCaseInsensitiveUTF8(SpanAttributes[{attribute_key_9:String}], {attribute_value_10:String}) > 0)
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_11:String}]) > {attribute_value_12:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_13:String}]) > {attribute_value_14:Float64}, 0))
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_15:String}]) >= {attribute_value_16:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_17:String}]) >= {attribute_value_18:Float64}, 0))
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_19:String}]) < {attribute_value_20:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_21:String}]) < {attribute_value_22:Float64}, 0))
              AND ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_23:String}]) <= {attribute_value_24:Float64}, 0)
              AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{attribute_key_25:String}]) <= {attribute_value_26:Float64}, 0))
              AND ServiceName = {attribute_value_28:String} AND mapContains(ResourceAttributes, {attribute_key_27:String}) AND ResourceAttributes[{attribute_key_27:String}] = {attribute_value_28:String}
              AND TraceId NOT IN (SELECT TraceId FROM trace_roots WHERE OrgId = {org:String} AND Timestamp >= fromUnixTimestamp64Nano({reach_lo:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({reach_hi:Int64}, 'UTC')))
    GROUP BY TraceId
    HAVING Start >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
)
ORDER BY Start DESC, TraceId DESC
LIMIT {limit:UInt32}
