SELECT
    TraceId, Start, RootSpanName, RootSpanKind, RootServiceName, RootServiceNamespace, RootEnvironment, RootDurationNano,
    RootStatusCode, RootHasError, RootHttpMethod, RootHttpRoute, RootHttpStatusCode
FROM
(
    SELECT TraceId,
        min(Timestamp) AS Start,
        argMin(SpanName, (Timestamp, SpanId)) AS RootSpanName,
        argMin(SpanKind, (Timestamp, SpanId)) AS RootSpanKind,
        argMin(ServiceName, (Timestamp, SpanId)) AS RootServiceName,
        argMin(ServiceNamespace, (Timestamp, SpanId)) AS RootServiceNamespace,
        argMin(Environment, (Timestamp, SpanId)) AS RootEnvironment,
        argMin(DurationNano, (Timestamp, SpanId)) AS RootDurationNano,
        argMin(StatusCode, (Timestamp, SpanId)) AS RootStatusCode,
        argMin(HasError, (Timestamp, SpanId)) AS RootHasError,
        argMin(HttpMethod, (Timestamp, SpanId)) AS RootHttpMethod,
        argMin(HttpRoute, (Timestamp, SpanId)) AS RootHttpRoute,
        argMin(HttpStatusCode, (Timestamp, SpanId)) AS RootHttpStatusCode
    FROM trace_roots
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
        AND TraceId NOT IN (SELECT TraceId FROM trace_roots WHERE OrgId = {org:String} AND Timestamp >= fromUnixTimestamp64Nano({reach_lo:Int64}, 'UTC') AND Timestamp < fromUnixTimestamp64Nano({lo:Int64}, 'UTC'))
    GROUP BY TraceId
    UNION ALL
    SELECT TraceId,
        min(Timestamp) AS Start,
        argMin(SpanName, (Timestamp, SpanId)) AS RootSpanName,
        argMin(SpanKind, (Timestamp, SpanId)) AS RootSpanKind,
        argMin(ServiceName, (Timestamp, SpanId)) AS RootServiceName,
        argMin(ServiceNamespace, (Timestamp, SpanId)) AS RootServiceNamespace,
        argMin(Environment, (Timestamp, SpanId)) AS RootEnvironment,
        argMin(DurationNano, (Timestamp, SpanId)) AS RootDurationNano,
        argMin(StatusCode, (Timestamp, SpanId)) AS RootStatusCode,
        argMin(HasError, (Timestamp, SpanId)) AS RootHasError,
        argMin(HttpMethod, (Timestamp, SpanId)) AS RootHttpMethod,
        argMin(HttpRoute, (Timestamp, SpanId)) AS RootHttpRoute,
        argMin(HttpStatusCode, (Timestamp, SpanId)) AS RootHttpStatusCode
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({reach_lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
        AND TraceId IN (
            SELECT TraceId FROM spans
            WHERE OrgId = {org:String}
              AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
              AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
              AND TraceId NOT IN (SELECT TraceId FROM trace_roots WHERE OrgId = {org:String} AND Timestamp >= fromUnixTimestamp64Nano({reach_lo:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({reach_hi:Int64}, 'UTC')))
    GROUP BY TraceId
    HAVING Start >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
)
ORDER BY Start DESC, TraceId DESC
LIMIT {limit:UInt32}
SETTINGS distributed_product_mode = 'local'
