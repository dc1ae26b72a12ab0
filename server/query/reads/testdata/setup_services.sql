WITH coalesce(nullIf(ResourceAttributes['k8s.pod.name'], ''), nullIf(ResourceAttributes['container.id'], ''), ResourceAttributes['host.name']) AS Instance
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
    max(Timestamp) AS Last,
    any(ResourceAttributes['telemetry.sdk.language']) AS Language,
    uniqCombined64If(Instance, Instance != '') AS Instances,
    countIf(NOT mapContains(ResourceAttributes, 'service.instance.id')) AS NoInstance,
    countIf(NOT mapContains(ResourceAttributes, 'process.runtime.name')) AS NoRuntime,
    countIf(NOT mapContains(ResourceAttributes, 'cloud.provider')) AS NoCloud,
    countIf(StatusCode != 'Error' AND (lower(SpanAttributes['error']) IN ('true', '1') OR upper(SpanAttributes['otel.status_code']) = 'ERROR')) AS Hidden,
    countIf(SpanKind = 'Server') AS Servers,
    countIf(SpanKind = 'Client') AS Clients,
    countIf(SpanKind = 'Consumer') AS Handlers,
    countIf(SpanKind = 'Internal') AS Internal,
    countIf(IsEntry) AS Entries,
    countIf(SpanKind IN ('Client', 'Producer')) AS Outgoing,
    countIf(SpanKind IN ('Internal', 'Unspecified') AND ((mapContains(SpanAttributes, 'db.system.name') OR mapContains(SpanAttributes, 'db.system') OR mapContains(SpanAttributes, 'db.query.text') OR mapContains(SpanAttributes, 'db.statement')) AND NOT (SpanAttributes['db.system.name'] IN ('sqlite', 'h2', 'hsqldb', 'derby') OR SpanAttributes['db.system'] IN ('sqlite', 'h2', 'hsqldb', 'derby')) OR mapContains(SpanAttributes, 'peer.service')
        OR (mapContains(SpanAttributes, 'http.request.method') OR mapContains(SpanAttributes, 'http.method')) AND mapContains(SpanAttributes, 'url.full'))) AS Unmarked,
    countIf(IsEntry AND match(coalesce(nullIf(HttpRoute, ''), nullIf(SpanAttributes['url.path'], ''), nullIf(SpanAttributes['http.target'], ''), SpanName), '(?i)(^|[ /])(health|healthz|livez?|liveness|readyz?|readiness|ping|metrics|favicon[.]ico)([/?].*)?$')) AS Probes,
    countIf((SpanKind = 'Client' AND NOT (mapContains(SpanAttributes, 'db.system.name') OR mapContains(SpanAttributes, 'db.system') OR mapContains(SpanAttributes, 'db.query.text') OR mapContains(SpanAttributes, 'db.statement')) AND NOT (mapContains(SpanAttributes, 'gen_ai.operation.name') OR mapContains(SpanAttributes, 'gen_ai.provider.name') OR mapContains(SpanAttributes, 'gen_ai.system') OR mapContains(SpanAttributes, 'gen_ai.request.model')) AND NOT mapContains(SpanAttributes, 'messaging.system'))) AS Calls,
    countIf((SpanKind = 'Client' AND NOT (mapContains(SpanAttributes, 'db.system.name') OR mapContains(SpanAttributes, 'db.system') OR mapContains(SpanAttributes, 'db.query.text') OR mapContains(SpanAttributes, 'db.statement')) AND NOT (mapContains(SpanAttributes, 'gen_ai.operation.name') OR mapContains(SpanAttributes, 'gen_ai.provider.name') OR mapContains(SpanAttributes, 'gen_ai.system') OR mapContains(SpanAttributes, 'gen_ai.request.model')) AND NOT mapContains(SpanAttributes, 'messaging.system')) AND arrayAll(k -> SpanAttributes[k] = '', ['peer.service', 'rpc.service', 'server.address', 'http.host', 'url.authority', 'net.peer.name', 'url.full', 'http.url'])) AS Unnamed,
    countIf(SpanKind IN ('Producer', 'Consumer')) AS Messages,
    countIf((mapContains(SpanAttributes, 'rpc.method') OR mapContains(SpanAttributes, 'rpc.service'))) AS Remote,
    countIf(SpanKind IN ('Producer', 'Consumer') AND (SpanAttributes['messaging.system'] = '' OR (SpanAttributes['messaging.destination.name'] = '' AND SpanAttributes['messaging.destination'] = '')) OR (mapContains(SpanAttributes, 'rpc.method') OR mapContains(SpanAttributes, 'rpc.service')) AND (SpanAttributes['rpc.system'] = '' AND SpanAttributes['rpc.system.name'] = '' OR SpanAttributes['rpc.service'] = '' AND position(SpanAttributes['rpc.method'], '/') = 0)) AS Vague,
    countIf(SpanKind = 'Client' AND match(coalesce(nullIf(SpanAttributes['server.address'], ''), nullIf(SpanAttributes['net.peer.name'], ''), domain(if(SpanAttributes['url.full'] != '', SpanAttributes['url.full'], SpanAttributes['http.url']))), '(^|[.])(api[.]openai[.]com|openai[.]azure[.]com|api[.]anthropic[.]com|generativelanguage[.]googleapis[.]com|aiplatform[.]googleapis[.]com|api[.]mistral[.]ai|api[.]cohere[.](ai|com)|api[.]groq[.]com|api[.]deepseek[.]com|api[.]x[.]ai|openrouter[.]ai|bedrock-runtime[.][a-z0-9-]+[.]amazonaws[.]com)$')) AS Models,
    countIf((mapContains(SpanAttributes, 'gen_ai.operation.name') OR mapContains(SpanAttributes, 'gen_ai.provider.name') OR mapContains(SpanAttributes, 'gen_ai.system') OR mapContains(SpanAttributes, 'gen_ai.request.model'))) AS Generative
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({late:Int64}, 'UTC')
GROUP BY ServiceName
ORDER BY Spans DESC, ServiceName
LIMIT 500
