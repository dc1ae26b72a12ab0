SELECT FacetType, FacetName, Items
FROM
(
    SELECT
        multiIf(grouping(ServiceName) = 0, 'service', grouping(SpanName) = 0, 'span_name', grouping(HttpMethod) = 0, 'http_method', grouping(HttpStatusCode) = 0, 'http_status', grouping(Environment) = 0, 'deployment_env', grouping(ServiceNamespace) = 0, 'service_namespace', 'error_count') AS FacetType,
        multiIf(grouping(ServiceName) = 0, ServiceName, grouping(SpanName) = 0, SpanName, grouping(HttpMethod) = 0, HttpMethod, grouping(HttpStatusCode) = 0, if(HttpStatusCode = 0, '', toString(HttpStatusCode)), grouping(Environment) = 0, Environment, grouping(ServiceNamespace) = 0, ServiceNamespace, 'error') AS FacetName,
        if(FacetType = 'error_count', sum(EstimatedErrorCount), sum(EstimatedSpanCount)) AS Items
    FROM (
        SELECT Hour AS Minute, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano
        FROM operation_hours
        WHERE OrgId = {org:String}
            AND Hour >= toDateTime({first_hour:Int64}, 'UTC')
            AND Hour < toDateTime({last_hour:Int64}, 'UTC')
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry,
            SampleRate AS EstimatedSpanCount,
            if(HasError, SampleRate, 0) AS EstimatedErrorCount,
            SampleRate * DurationNano AS EstimatedDurationNano
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_hour:Int64}, 'UTC') OR Timestamp >= toDateTime({last_hour:Int64}, 'UTC'))
    )
    GROUP BY GROUPING SETS ((ServiceName), (SpanName), (HttpMethod), (HttpStatusCode), (Environment), (ServiceNamespace), ())
)
WHERE FacetName != '' AND Items > 0
ORDER BY FacetType, Items DESC, FacetName
LIMIT {limit:UInt32} BY FacetType
