SELECT
    EventsAttributes[indexOf(EventsName, 'exception')]['exception.stacktrace'] AS Stack,
    EventsAttributes[indexOf(EventsName, 'exception')]['exception.message'] AS Message,
    toString(ServiceName) AS Service,
    toString(Environment) AS Environment,
    toString(ServiceVersion) AS Version,
    coalesce(nullIf(ResourceAttributes['deployment.commit_sha'], ''), nullIf(ResourceAttributes['vcs.ref.head.revision'], ''), '') AS Commit,
    ResourceAttributes['vcs.repository.url.full'] AS RepositoryURL,
    ResourceAttributes['vcs.repository.name'] AS RepositoryName,
    Timestamp
FROM spans
WHERE OrgId = {org:String}
    AND ServiceName IN {service_names:Array(String)}
    AND (Timestamp >= fromUnixTimestamp64Nano({from_0:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({at_0:Int64}, 'UTC') OR Timestamp IN (fromUnixTimestamp64Nano({at_1:Int64}, 'UTC')))
    AND TraceId IN {trace_ids:Array(String)}
    AND SpanId IN {span_ids:Array(String)}
    AND Stack != ''
ORDER BY Timestamp DESC
LIMIT 1
