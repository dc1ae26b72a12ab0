SELECT
    c.ServiceName AS ServiceName,
    count() AS Children,
    countIf(p.SpanId = '') AS Orphans,
    countIf(p.SpanId != '' AND p.ServiceName != c.ServiceName) AS Calls,
    countIf(p.SpanId != '' AND p.ServiceName != c.ServiceName AND c.Timestamp < p.Timestamp) AS Early,
    ifNotFinite(avgIf(toUnixTimestamp64Nano(p.Timestamp) - toUnixTimestamp64Nano(c.Timestamp), p.SpanId != '' AND p.ServiceName != c.ServiceName AND c.Timestamp < p.Timestamp), 0) / 1e6 AS AheadMs,
    countIf(p.SpanId != '' AND p.ServiceName != c.ServiceName AND c.SpanKind NOT IN ('Server', 'Consumer')) AS Unmarked
FROM
(
    SELECT TraceId, ParentSpanId, ServiceName, SpanKind, Timestamp
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({children:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({settled:Int64}, 'UTC')
        AND cityHash64(TraceId) % {share:UInt64} = 0
        AND ParentSpanId != ''
) AS c
LEFT ANY JOIN
(
    SELECT TraceId, SpanId, ServiceName, Timestamp
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND cityHash64(TraceId) % {share:UInt64} = 0
) AS p ON c.TraceId = p.TraceId AND c.ParentSpanId = p.SpanId
GROUP BY ServiceName
ORDER BY Children DESC, ServiceName
LIMIT 500
