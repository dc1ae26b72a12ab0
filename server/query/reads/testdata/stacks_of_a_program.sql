SELECT DISTINCT EventsAttributes[indexOf(EventsName, 'exception')]['exception.stacktrace'] AS Stack
FROM spans
WHERE OrgId = {org:String}
    AND ServiceName = {service_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ServiceVersion = {version:String}
    AND coalesce(nullIf(ResourceAttributes['deployment.commit_sha'], ''), nullIf(ResourceAttributes['vcs.ref.head.revision'], ''), '') = {commit:String}
    AND has(EventsName, 'exception')
    AND Stack != ''
LIMIT {limit:UInt32}
