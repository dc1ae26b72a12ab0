-- Statements that tenants want to run: each must pass and give at least one row (TestUsefulStatements). The data are in tenant_test.go.
SELECT 1
;;
select body.1 from (select tuple(Body) as body from logs) limit 1
;;
SELECT count() FROM logs;
;;
SELECT * FROM spans ORDER BY Timestamp DESC LIMIT 5
;;
FROM logs SELECT count() AS n
;;
SELECT ServiceName, count() AS n FROM logs GROUP BY ServiceName ORDER BY n DESC
;;
SELECT ServiceName, quantile(0.95)(DurationNano) / 1e6 AS p95, quantiles(0.5, 0.9)(DurationNano) FROM spans GROUP BY ServiceName
;;
SELECT toStartOfInterval(Timestamp, INTERVAL 5 MINUTE) AS t, count() FROM logs GROUP BY t ORDER BY t WITH FILL STEP INTERVAL 5 MINUTE LIMIT 20
;;
SELECT toUnixTimestamp(toStartOfMinute(Timestamp)) AS t, count() AS c FROM spans GROUP BY t ORDER BY t WITH FILL STEP 60 INTERPOLATE (c AS c) LIMIT 10
;;
SELECT SpanAttributes['http.route'] AS route, count() FROM spans GROUP BY route
;;
SELECT mapKeys(SpanAttributes) AS keys, mapContains(SpanAttributes, 'http.route') AS has FROM spans LIMIT 3
;;
SELECT arrayJoin(mapKeys(LogAttributes)) AS key, count() FROM logs GROUP BY key
;;
SELECT k, count() FROM logs ARRAY JOIN mapKeys(LogAttributes) AS k GROUP BY k
;;
SELECT l.Body, s.SpanName FROM logs AS l INNER JOIN spans AS s ON l.TraceId = s.TraceId LIMIT 3
;;
SELECT l.Body, s.SpanName FROM logs l LEFT JOIN spans s USING (TraceId) LIMIT 3
;;
SELECT s.TraceId, r.SpanName FROM spans AS s, trace_roots AS r WHERE s.TraceId = r.TraceId LIMIT 1
;;
WITH slow AS (SELECT TraceId, max(DurationNano) AS d FROM spans GROUP BY TraceId) SELECT count(), max(d) FROM slow
;;
WITH a AS (SELECT ServiceName, count() AS n FROM spans GROUP BY ServiceName), b AS (SELECT sum(n) AS total FROM a) SELECT a.ServiceName, a.n / b.total AS share FROM a CROSS JOIN b
;;
WITH 5 AS five, now() AS t SELECT five, t > toDateTime('2020-01-01')
;;
WITH (SELECT count() FROM logs) AS total SELECT SeverityText, count() / total AS share FROM logs GROUP BY SeverityText
;;
WITH RECURSIVE tree AS (SELECT SpanId, ParentSpanId, 1 AS depth FROM spans WHERE ParentSpanId = '' UNION ALL SELECT s.SpanId, s.ParentSpanId, tree.depth + 1 FROM spans s INNER JOIN tree ON s.ParentSpanId = tree.SpanId) SELECT max(depth), count() FROM tree
;;
SELECT ServiceName, Timestamp, row_number() OVER (PARTITION BY ServiceName ORDER BY Timestamp DESC) AS n FROM logs QUALIFY n <= 2
;;
SELECT Timestamp, DurationNano, avg(DurationNano) OVER (ORDER BY Timestamp ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM spans LIMIT 5
;;
SELECT lagInFrame(Timestamp, 1) OVER w AS previous, count() OVER w AS n FROM logs WINDOW w AS (PARTITION BY ServiceName ORDER BY Timestamp) LIMIT 3
;;
SELECT Body FROM logs WHERE TraceId IN (SELECT TraceId FROM spans WHERE DurationNano > 0) LIMIT 3
;;
SELECT count() FROM logs WHERE SeverityText IN ('ERROR', 'INFO')
;;
SELECT count() FROM logs WHERE SeverityText NOT IN ('DEBUG')
;;
SELECT count() FROM logs WHERE (SeverityText, ServiceName) IN (('INFO', 'web'), ('ERROR', 'web'))
;;
SELECT count() FROM spans AS s WHERE EXISTS (SELECT 1 FROM logs WHERE SeverityText = 'INFO')
;;
SELECT Body FROM logs WHERE Body LIKE '%mine%' OR Body ILIKE 'MINE%' OR match(Body, 'm[i]ne') LIMIT 2
;;
SELECT count() FROM logs WHERE hasAllTokens(Body, ['mine'])
;;
SELECT arrayMap(x -> x * 2, [1, 2, 3]) AS doubled, arraySum(x -> x, range(5)) AS s, arraySort([3, 1, 2]) AS sorted
;;
SELECT arrayMap(length, ['a', 'bc']) AS lengths
;;
SELECT if(HasError, 'bad', 'good') AS state, countIf(HasError) AS errors, sumIf(DurationNano, HasError) FROM spans GROUP BY state
;;
SELECT CASE WHEN DurationNano > 1000 THEN 'slow' WHEN DurationNano > 10 THEN 'ok' ELSE 'fast' END AS c, count() FROM spans GROUP BY c
;;
SELECT ServiceName, SpanName, count() FROM spans GROUP BY ROLLUP(ServiceName, SpanName)
;;
SELECT ServiceName, SeverityText, count() FROM logs GROUP BY GROUPING SETS ((ServiceName), (SeverityText))
;;
SELECT ServiceName, count() FROM logs GROUP BY ServiceName WITH ROLLUP
;;
SELECT DISTINCT ServiceName FROM spans
;;
SELECT ServiceName, Body FROM logs ORDER BY Timestamp LIMIT 1 BY ServiceName
;;
SELECT uniq(TraceId), uniqExact(TraceId), topK(3)(ServiceName), argMax(SpanName, DurationNano), groupArray(3)(SpanName), any(SpanName) FROM spans
;;
SELECT quantilesTDigestMerge(0.5, 0.95, 0.99)(DurationQuantiles) AS q, sum(SpanCount) AS n, ServiceName FROM service_minutes GROUP BY ServiceName
;;
SELECT 'spans' AS kind, count() AS n FROM spans UNION ALL SELECT 'logs', count() FROM logs
;;
SELECT ServiceName FROM spans INTERSECT SELECT ServiceName FROM logs
;;
SELECT ServiceName FROM spans EXCEPT SELECT 'nobody'
;;
SELECT number, toDateTime('2026-01-01 00:00:00') + INTERVAL number HOUR AS t FROM numbers(3)
;;
SELECT * FROM values('name String, n UInt8', ('a', 1), ('b', 2))
;;
SELECT SessionId, Status, Version FROM session_replays
;;
SELECT Name, count() FROM product_events GROUP BY Name
;;
SELECT Type, JSONExtractString('{"a":"b"}', 'a') FROM session_events LIMIT 1
;;
SELECT MetricName, Value, toInt64(9007199254740993) AS big, toDecimal64('1.23456789', 8) AS d FROM metrics_sum
;;
SELECT count() FROM traces
;;
SELECT * EXCEPT (OrgId, ResourceAttributes) FROM logs LIMIT 1
;;
SELECT COLUMNS('^Service') FROM logs LIMIT 1
;;
SELECT * REPLACE (upper(Body) AS Body) FROM logs LIMIT 1
;;
SELECT ServiceVersion AS version, count() AS n FROM spans GROUP BY version ORDER BY version
;;
SELECT s.Body AS "Größe (x)", `SeverityText` FROM (SELECT * FROM logs) AS s -- ein Kommentar mit Ümlaut
LIMIT 1
;;
/* first */ SELECT -- second
 count() /* ; */ AS n FROM logs WHERE Body != ';' AND Body != 'DROP TABLE x'
;;
SELECT windowFunnel(3600)(toDateTime(Timestamp), Type = 'navigation', Type = 'click') AS level, count() FROM session_events GROUP BY SessionId
;;
SELECT count(DISTINCT ServiceName), max(Timestamp) - min(Timestamp) AS span, dateDiff('second', min(Timestamp), max(Timestamp)) FROM logs
;;
SELECT t.1 AS a, t.2 AS b FROM (SELECT (1, 'x') AS t)
;;
SELECT sum(SampleRate) AS calls, formatReadableSize(1024), round(avg(DurationNano), 2), toString(now()) != '', CAST('7' AS UInt8), '7'::Int32 FROM spans
;;
SELECT ServiceName FROM spans UNION SELECT ServiceName FROM logs
;;
SELECT finalizeAggregation(sumMergeState(s)), uniqMerge(u) FROM (SELECT sumState(DurationNano) AS s, uniqState(TraceId) AS u FROM spans GROUP BY ServiceName)
;;
SELECT JSONExtract('{"a":[1,2]}', 'a', 'Array(UInt8)') AS a, accurateCastOrNull('x', 'UInt8') AS b, [1, 2]::Array(UInt8) AS c
;;
SELECT count() FROM (
    SELECT toString(FingerprintHash) AS Fingerprint, any(ErrorLabel) AS Label, any(ServiceName) AS Service, toUInt32(uniqExact(TraceId)) AS Traces
    FROM error_events
    WHERE (1 = 1) AND (Timestamp >= toDateTime64('2026-03-01 00:00:00.000000005', 9, 'UTC') AND Timestamp <= toDateTime64('2026-03-01 06:00:00.000000005', 9, 'UTC'))
        AND TraceId IN ('4bf92f3577b34da6a3ce929d0e0e4736', '0af7651916cd43dd8448eb211c80319c') AND toString(FingerprintHash) != '77'
    GROUP BY FingerprintHash
    ORDER BY Traces DESC, Fingerprint
    LIMIT 10
)
