SELECT
    SpanId, ParentSpanId, TraceState, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, StatusMessage, ScopeName, ScopeVersion, SpanAttributes, ResourceAttributes, EventsTimestamp, EventsName, EventsAttributes, LinksTraceId, LinksSpanId, LinksTraceState, LinksAttributes, toUInt64(1) AS Matching
FROM spans
WHERE OrgId = {org:String}
    AND TraceId = {trace_id:String}
    AND SpanId = {span_id:String}
ORDER BY Timestamp
LIMIT 1
