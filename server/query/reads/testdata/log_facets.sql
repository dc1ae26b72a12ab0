SELECT FacetType, FacetName, Items
FROM
(
    SELECT
        multiIf(grouping(SeverityText) = 0, 'severity', grouping(ServiceName) = 0, 'service', grouping(Environment) = 0, 'deployment_env', grouping(ServiceNamespace) = 0, 'namespace', '') AS FacetType,
        multiIf(grouping(SeverityText) = 0, SeverityText, grouping(ServiceName) = 0, ServiceName, grouping(Environment) = 0, Environment, grouping(ServiceNamespace) = 0, ServiceNamespace, '') AS FacetName,
        toFloat64(sum(LogCount)) AS Items
    FROM (
        SELECT Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber, LogCount
        FROM log_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {value_1:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber,
            toUInt64(1) AS LogCount
        FROM logs
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {value_1:String}
    )
    GROUP BY GROUPING SETS ((SeverityText), (ServiceName), (Environment), (ServiceNamespace))
)
WHERE FacetName != '' AND Items > 0
ORDER BY FacetType, Items DESC, FacetName
LIMIT {limit:UInt32} BY FacetType
