SELECT FacetType, FacetName, Items
FROM
(
    SELECT
        multiIf(grouping(ServiceName) = 0, 'service', grouping(SpanName) = 0, 'span_name', grouping(HttpMethod) = 0, 'http_method', grouping(HttpStatusCode) = 0, 'http_status', grouping(Environment) = 0, 'deployment_env', grouping(ServiceNamespace) = 0, 'service_namespace', 'error_count') AS FacetType,
        multiIf(grouping(ServiceName) = 0, ServiceName, grouping(SpanName) = 0, SpanName, grouping(HttpMethod) = 0, HttpMethod, grouping(HttpStatusCode) = 0, if(HttpStatusCode = 0, '', toString(HttpStatusCode)), grouping(Environment) = 0, Environment, grouping(ServiceNamespace) = 0, ServiceNamespace, 'error') AS FacetName,
        if(FacetType = 'error_count', sumIf(SampleRate, HasError), sum(SampleRate)) AS Items
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND ServiceName = {service_name:String}
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
    GROUP BY GROUPING SETS ((ServiceName), (SpanName), (HttpMethod), (HttpStatusCode), (Environment), (ServiceNamespace), ())
)
WHERE FacetName != '' AND Items > 0
ORDER BY FacetType, Items DESC, FacetName
LIMIT {limit:UInt32} BY FacetType
