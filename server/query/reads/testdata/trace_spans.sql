SELECT
    SpanId, ParentSpanId, TraceState, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, StatusMessage, ScopeName, ScopeVersion, SpanAttributes, ResourceAttributes, EventsTimestamp, EventsName, EventsAttributes, LinksTraceId, LinksSpanId, LinksTraceState, LinksAttributes, Matching
FROM
(
    SELECT
        *,
        count() OVER () AS Matching,
        sum(byteSize(SpanAttributes, ResourceAttributes, EventsName, EventsAttributes, LinksAttributes)) OVER (ORDER BY Timestamp, SpanId
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Bytes,
        row_number() OVER (ORDER BY Timestamp, SpanId) AS Place
    FROM
    (
        SELECT
            SpanId, ParentSpanId, TraceState, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, StatusMessage, ScopeName, ScopeVersion, SpanAttributes, ResourceAttributes, EventsTimestamp, EventsName, EventsAttributes, LinksTraceId, LinksSpanId, LinksTraceState, LinksAttributes
        FROM spans
        WHERE OrgId = {org:String}
            AND TraceId = {trace_id:String}
        ORDER BY Timestamp, SpanId
        LIMIT {limit:UInt32}
    )
)
WHERE Bytes <= {bytes:UInt64} OR Place = 1
ORDER BY Timestamp, SpanId
