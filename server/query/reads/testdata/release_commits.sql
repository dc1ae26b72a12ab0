SELECT
    toString(ServiceName) AS ServiceName,
    toString(Environment) AS Environment,
    toString(ServiceVersion) AS ServiceVersion,
    min(coalesce(nullIf(ResourceAttributes['deployment.commit_sha'], ''), nullIf(ResourceAttributes['vcs.ref.head.revision'], ''), '')) AS CommitSha
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp < fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND toInt64(toUnixTimestamp(toStartOfMinute(Timestamp))) IN {minutes:Array(Int64)}
    AND ServiceName IN {services:Array(String)}
    AND has(arrayZip({services:Array(String)}, {environments:Array(String)}, {versions:Array(String)}, {minutes:Array(Int64)}),
        (toString(ServiceName), toString(Environment), toString(ServiceVersion), toInt64(toUnixTimestamp(toStartOfMinute(Timestamp)))))
    AND coalesce(nullIf(ResourceAttributes['deployment.commit_sha'], ''), nullIf(ResourceAttributes['vcs.ref.head.revision'], ''), '') != ''
GROUP BY ServiceName, Environment, ServiceVersion
