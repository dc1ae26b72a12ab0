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
        AND ServiceName = {value_1:String}
        AND mapContains(SpanAttributes, {key_2:String})
        AND NOT (mapContains(SpanAttributes, {key_3:String}))
        AND mapContains(SpanAttributes, {key_4:String})
        AND SpanAttributes[{key_4:String}] = {value_5:String}
        AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({key_4:String}, {value_5:String}))
        AND NOT ((mapContains(SpanAttributes, {key_6:String}) AND SpanAttributes[{key_6:String}] = {value_7:String}))
        AND mapContains(SpanAttributes, {key_8:String})
        AND position(lowerUTF8(SpanAttributes[{key_8:String}]), lowerUTF8({value_9:String})) > 0
        AND NOT ((mapContains(SpanAttributes, {key_10:String}) AND position(lowerUTF8(SpanAttributes[{key_10:String}]), lowerUTF8({value_11:String})) > 0))
        AND ifNull(toFloat64OrNull(SpanAttributes[{key_12:String}]) > {number_13:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_14:String}]) > {number_15:Float64}, 0))
        AND ifNull(toFloat64OrNull(SpanAttributes[{key_16:String}]) >= {number_17:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_18:String}]) >= {number_19:Float64}, 0))
        AND ifNull(toFloat64OrNull(SpanAttributes[{key_20:String}]) < {number_21:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_22:String}]) < {number_23:Float64}, 0))
        AND ifNull(toFloat64OrNull(SpanAttributes[{key_24:String}]) <= {number_25:Float64}, 0)
        AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_26:String}]) <= {number_27:Float64}, 0))
    GROUP BY GROUPING SETS ((ServiceName), (SpanName), (HttpMethod), (HttpStatusCode), (Environment), (ServiceNamespace), ())
)
WHERE FacetName != '' AND Items > 0
ORDER BY FacetType, Items DESC, FacetName
LIMIT {limit:UInt32} BY FacetType
