SELECT
    ServiceName,
    count() AS Spans,
    countIf(ServiceVersion = '') AS NoVersion,
    countIf(Environment = '') AS NoEnvironment,
    countIf(NOT mapContains(ResourceAttributes, 'vcs.repository.url.full')) AS NoRepository,
    countIf(NOT mapContains(ResourceAttributes, 'vcs.ref.head.revision')) AS NoRevision,
    uniqCombined64(SpanName) AS Names,
    anyIf(SpanName, match(SpanName, '[0-9]{3,}')) AS Sample,
    countIf(HttpStatusCode >= 500 AND StatusCode != 'Error' AND SpanKind = 'Server') AS Unset,
    countIf(StatusCode = 'Error') AS Failed,
    countIf(StatusCode = 'Error' AND StatusMessage = '' AND NOT has(EventsName, 'exception')) AS Bare,
    countIf(mapContains(SpanAttributes, 'db.query.text') OR mapContains(SpanAttributes, 'db.statement')) AS Queries,
    countIf((mapContains(SpanAttributes, 'db.query.text') OR mapContains(SpanAttributes, 'db.statement'))
        AND NOT mapContains(SpanAttributes, 'db.system.name') AND NOT mapContains(SpanAttributes, 'db.system')) AS Nameless,
    countIf(Timestamp > fromUnixTimestamp64Nano({future:Int64}, 'UTC')) AS Future,
    max(Timestamp) AS Last
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({late:Int64}, 'UTC')
GROUP BY ServiceName
ORDER BY Spans DESC, ServiceName
LIMIT 500
