SELECT FacetType, FacetName, Items
FROM
(
    SELECT
        multiIf(grouping(SeverityText) = 0, 'severity', grouping(ServiceName) = 0, 'service', grouping(Environment) = 0, 'deployment_env', grouping(ServiceNamespace) = 0, 'namespace', '') AS FacetType,
        multiIf(grouping(SeverityText) = 0, SeverityText, grouping(ServiceName) = 0, ServiceName, grouping(Environment) = 0, Environment, grouping(ServiceNamespace) = 0, ServiceNamespace, '') AS FacetName,
        toFloat64(count()) AS Items
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND ServiceName = {value_1:String}
        AND hasAllTokens(Body, {tokens_2:Array(String)})
        AND Body != ''
        AND position(lowerUTF8(Body), lowerUTF8({value_3:String})) > 0
    GROUP BY GROUPING SETS ((SeverityText), (ServiceName), (Environment), (ServiceNamespace))
)
WHERE FacetName != '' AND Items > 0
ORDER BY FacetType, Items DESC, FacetName
LIMIT {limit:UInt32} BY FacetType
