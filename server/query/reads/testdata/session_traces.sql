SELECT
    TraceId,
    min(Timestamp) AS Start,
    max(toUnixTimestamp64Nano(Timestamp) + toInt64(DurationNano)) - toUnixTimestamp64Nano(Start) AS Duration,
    argMin(SpanName, (ParentSpanId != '', Timestamp, SpanId)) AS RootSpanName,
    argMin(ServiceName, (ParentSpanId != '', Timestamp, SpanId)) AS RootServiceName,
    argMin(SpanKind, (ParentSpanId != '', Timestamp, SpanId)) AS RootSpanKind,
    argMin(HttpMethod, (ParentSpanId != '', Timestamp, SpanId)) AS RootHttpMethod,
    argMin(HttpRoute, (ParentSpanId != '', Timestamp, SpanId)) AS RootHttpRoute,
    count() AS SpanCount,
    max(HasError) AS TraceHasError
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND TraceId GLOBAL IN (
            SELECT TraceId FROM
            (
                SELECT arrayJoin(TraceIds) AS TraceId FROM session_replays WHERE OrgId = {org:String}
                    AND SessionId = {session_id:String}
                UNION ALL
                SELECT TraceId FROM session_events WHERE OrgId = {org:String}
                    AND SessionId = {session_id:String}
                UNION ALL
                SELECT TraceId FROM spans WHERE OrgId = {org:String}
                    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                    AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64('session.id', {session_id:String}))
                    AND SpanAttributes['session.id'] = {session_id:String}
            ))
GROUP BY TraceId
ORDER BY Start, TraceId
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
