-- Statements by which a tenant might see what is not its own. Each is separated by a line that holds only two semicolons. None of them, with
-- all guards or with one of them switched off, may return a row of another organization (TestEscapes).

-- Plain reads of other tables and databases.
SELECT * FROM svc.spans
;;
SELECT * FROM `svc`.`spans`
;;
SELECT * FROM "svc"."logs"
;;
SELECT * FROM svc . spans
;;
SELECT * FROM svc/**/./**/spans
;;
SELECT * FROM `svc.spans`
;;
SELECT * FROM svc.session_replays
;;
SELECT * FROM svc.service_minutes_view
;;
SELECT * FROM svc.trace_roots_view
;;
SELECT * FROM svc.product_events_view
;;
SELECT * FROM svc.schema_migrations
;;
SELECT * FROM tenant_org_theirs.spans
;;
SELECT * FROM default.spans
;;
SELECT * FROM system.tables
;;
SELECT * FROM system.processes
;;
SELECT query FROM system.processes
;;
SELECT * FROM system.query_log
;;
SELECT name FROM system.databases
;;
SELECT * FROM system.parts
;;
SELECT * FROM system.parts_columns
;;
SELECT * FROM system.columns
;;
SELECT * FROM system.row_policies
;;
SELECT * FROM system.users
;;
SELECT * FROM system.settings
;;
SELECT * FROM system.query_cache
;;
SELECT * FROM system.query_condition_cache
;;
SELECT * FROM system.mutations
;;
SELECT * FROM system.errors
;;
SELECT * FROM information_schema.tables
;;
SELECT * FROM INFORMATION_SCHEMA.COLUMNS
;;
SELECT * FROM spans_local
;;
SELECT * FROM schema_migrations
;;
SELECT * FROM session_replay_events
;;
SELECT * FROM '.inner.spans'
;;
SELECT * FROM 'file.csv'
;;
SELECT * FROM passwd
;;

-- Conditions that try to widen the filter.
SELECT * FROM logs WHERE 1 OR OrgId != ''
;;
SELECT * FROM logs WHERE OrgId = 'org_theirs'
;;
SELECT * FROM logs WHERE OrgId = 'org_theirs' OR 1 = 1
;;
SELECT * FROM logs WHERE NOT (OrgId = 'org_mine')
;;
SELECT * FROM logs WHERE OrgId IN ('org_theirs', 'org_mine')
;;
SELECT * FROM logs HAVING OrgId = 'org_theirs'
;;
SELECT Body FROM logs QUALIFY row_number() OVER (PARTITION BY OrgId ORDER BY Timestamp) > 0
;;
SELECT * FROM logs) UNION ALL SELECT * FROM svc.logs --
;;
SELECT 1) AS x, (SELECT Body FROM svc.logs LIMIT 1) AS y FROM (SELECT 1
;;
SELECT * FROM (SELECT * FROM logs) WHERE 1) OR (1
;;
SELECT * FROM logs -- WHERE OrgId = {svc_org:String}
;;
SELECT * FROM logs /* {svc_org:String} */
;;
SELECT {svc_org:String}, * FROM svc.logs
;;
SELECT * FROM {t:Identifier}
;;
SELECT $__orgFilter
;;

-- Names of common table expressions.
WITH logs AS (SELECT * FROM svc.logs) SELECT * FROM logs
;;
WITH x AS (SELECT * FROM svc.logs) SELECT * FROM x
;;
WITH x AS MATERIALIZED (SELECT * FROM svc.logs) SELECT * FROM x
;;
WITH RECURSIVE x AS (SELECT Body FROM svc.logs UNION ALL SELECT Body FROM x) SELECT * FROM x LIMIT 5
;;
WITH RECURSIVE logs AS (SELECT * FROM logs) SELECT * FROM logs
;;
SELECT * FROM (WITH logs AS (SELECT * FROM svc.logs) SELECT * FROM logs)
;;
WITH (SELECT groupArray(Body) FROM svc.logs) AS b SELECT b
;;
WITH (SELECT any(Body) FROM svc.logs) AS b SELECT b
;;
WITH svc.logs AS t SELECT 1 IN t
;;
WITH 'svc.logs' AS t SELECT * FROM t
;;
WITH svc AS (SELECT 1 AS spans) SELECT svc.spans FROM svc, svc.spans
;;
SELECT * FROM logs AS svc JOIN svc.spans ON 1
;;

-- Sets and subqueries.
SELECT 'zebra' IN svc.logs
;;
SELECT * FROM logs WHERE Body IN svc.logs
;;
SELECT tuple('org_theirs') IN (SELECT tuple(OrgId) FROM svc.logs)
;;
SELECT Body FROM numbers(1) WHERE 1 IN (SELECT 1 FROM svc.logs)
;;
SELECT (SELECT any(Body) FROM svc.logs)
;;
SELECT EXISTS(SELECT 1 FROM svc.logs WHERE Body LIKE 'zebra%') AS zebra
;;
SELECT in('zebra', svc.logs)
;;
SELECT globalIn('zebra', (SELECT Body FROM svc.logs)) ? 'zebra found' : 'none'
;;
SELECT arrayExists(x -> x IN (SELECT Body FROM svc.logs), ['zebra one']) ? 'zebra found' : 'none'
;;
SELECT notIn('zebra one', svc.logs)
;;
SELECT nullIn('zebra one', svc.logs)
;;
SELECT l.Body FROM logs l JOIN svc.logs r ON 1
;;
SELECT r.Body FROM logs l, svc.logs r
;;
SELECT r.Body FROM logs l LEFT JOIN svc.logs r USING (SeverityText)
;;
SELECT r.Body FROM logs l CROSS JOIN svc.logs r
;;
SELECT r.Body FROM logs l ASOF JOIN svc.logs r ON l.OrgId = r.OrgId AND l.Timestamp > r.Timestamp
;;
SELECT * FROM logs l PASTE JOIN svc.logs r
;;
SELECT Body FROM logs UNION ALL SELECT Body FROM svc.logs
;;
SELECT Body FROM logs UNION DISTINCT SELECT Body FROM svc.logs
;;
SELECT Body FROM svc.logs EXCEPT SELECT Body FROM logs
;;
SELECT Body FROM svc.logs INTERSECT SELECT Body FROM svc.logs
;;
(SELECT Body FROM svc.logs)
;;
((SELECT Body FROM svc.logs) UNION ALL (SELECT Body FROM svc.logs))
;;
FROM svc.logs SELECT Body
;;
SELECT svc.logs.Body FROM svc.logs
;;
SELECT count() FROM logs WHERE (SELECT count() FROM svc.logs) > 0
;;
SELECT Body FROM svc.logs ORDER BY Body LIMIT 1 BY Body
;;
SELECT * FROM svc.logs FINAL
;;
SELECT * FROM svc.logs SAMPLE 1
;;
SELECT * FROM svc.logs PREWHERE 1
;;

-- Table functions.
SELECT * FROM file('/etc/passwd', 'LineAsString', 'line String')
;;
SELECT * FROM file('*/*/*/data.bin', 'RawBLOB', 'b String')
;;
SELECT * FROM url('http://127.0.0.1:9/', 'LineAsString', 'line String')
;;
SELECT * FROM s3('http://127.0.0.1:9/b/k', 'CSV', 'x String')
;;
SELECT * FROM remote('127.0.0.1', 'svc', 'logs')
;;
SELECT * FROM remoteSecure('127.0.0.1', svc, logs)
;;
SELECT * FROM cluster('default', svc, logs)
;;
SELECT * FROM clusterAllReplicas('default', svc.logs)
;;
SELECT * FROM merge('svc', 'logs')
;;
SELECT * FROM merge('^svc$', '.*')
;;
SELECT * FROM merge(REGEXP('.*'), 'logs')
;;
SELECT * FROM view(SELECT * FROM svc.logs)
;;
SELECT * FROM viewIfPermitted(SELECT * FROM svc.logs ELSE null('x String'))
;;
SELECT * FROM viewExplain('EXPLAIN', '', (SELECT * FROM svc.logs))
;;
SELECT * FROM loop('svc', 'logs')
;;
SELECT * FROM loop(svc.logs) LIMIT 5
;;
SELECT * FROM mergeTreeIndex('svc', 'logs')
;;
SELECT * FROM mergeTreeIndex(svc, logs, with_marks = true, with_minmax = true)
;;
SELECT * FROM mergeTreeProjection('svc', 'logs', 'p')
;;
SELECT * FROM mergeTreeTextIndex('svc', 'logs', 'idx_body')
;;
SELECT * FROM mergeTreeTextIndex(svc, logs, idx_body)
;;
SELECT * FROM mergeTreeAnalyzeIndexes('svc', 'logs')
;;
SELECT * FROM mergeTreeAnalyzeIndexes('svc', 'logs', Body = 'zebra one')
;;
SELECT * FROM dictionary('svc.logs')
;;
SELECT * FROM input('x String')
;;
SELECT * FROM executable('cat /etc/passwd', 'LineAsString', 'x String')
;;
SELECT * FROM mysql('127.0.0.1:9', 'd', 't', 'u', 'p')
;;
SELECT * FROM postgresql('127.0.0.1:9', 'd', 't', 'u', 'p')
;;
SELECT * FROM mongodb('127.0.0.1:9', 'd', 't', 'u', 'p', 'x String')
;;
SELECT * FROM redis('127.0.0.1:9', 'k', 'k String')
;;
SELECT * FROM sqlite('/tmp/x.db', 't')
;;
SELECT * FROM odbc('DSN=x', 'd', 't')
;;
SELECT * FROM hdfs('hdfs://127.0.0.1:9/x', 'CSV', 'x String')
;;
SELECT * FROM azureBlobStorage('http://127.0.0.1:9/', 'c', 'k')
;;
SELECT * FROM deltaLake('http://127.0.0.1:9/')
;;
SELECT * FROM icebergLocal('/tmp/')
;;
SELECT * FROM fuzzQuery('SELECT * FROM svc.logs') LIMIT 1
;;
SELECT * FROM fuzzJSON('{}') LIMIT 1
;;
SELECT * FROM generateRandom('x String') LIMIT 1
;;
SELECT * FROM format('LineAsString', 'x')
;;
SELECT * FROM prometheusQuery('svc', 'logs', 'up', 1)
;;
SELECT * FROM timeSeriesSelector('svc', 'logs', 'up', 1, 2)
;;
SELECT * FROM hudi('http://127.0.0.1:9/')
;;
SELECT * FROM ytsaurus('http://127.0.0.1:9/', '//x', 't', 'x String')
;;
SELECT * FROM arrowFlight('127.0.0.1:9', 'x')
;;
SELECT * FROM python('logs')
;;
SELECT * FROM FILE('/etc/passwd', LineAsString, 'line String')
;;
SELECT * FROM `file`('/etc/passwd', 'LineAsString', 'line String')
;;
SELECT * FROM fi/**/le('/etc/passwd', 'LineAsString', 'line String')
;;
SELECT * FROM (EXPLAIN SELECT * FROM svc.logs)
;;
SELECT * FROM (SHOW TABLES FROM svc)
;;
SELECT * FROM (DESCRIBE TABLE svc.logs)
;;

-- Functions.
SELECT file('/etc/passwd')
;;
SELECT `file`('/etc/passwd')
;;
SELECT "fi\x6ce"('/etc/passwd')
;;
SELECT file ( '/etc/passwd' )
;;
SELECT file/* */('/etc/passwd')
;;
SELECT arrayMap(x -> file(x), ['/etc/passwd'])
;;
SELECT arrayMap(file, ['/etc/passwd'])
;;
SELECT arrayMap(`file`, ['/etc/passwd'])
;;
SELECT arrayFilter(file, ['/etc/passwd'])
;;
SELECT arrayFold((acc, x) -> file(x), ['/etc/passwd'], '')
;;
SELECT mapApply((k, v) -> (k, file(v)), map('a', '/etc/passwd'))
;;
SELECT * APPLY(file) FROM (SELECT '/etc/passwd' AS a)
;;
SELECT COLUMNS('a') APPLY(x -> file(x)) FROM (SELECT '/etc/passwd' AS a)
;;
SELECT * REPLACE (file('/etc/passwd') AS a) FROM (SELECT '' AS a)
;;
WITH (x -> file(x)) AS f SELECT f('/etc/passwd')
;;
WITH file AS f SELECT f('/etc/passwd')
;;
SELECT 1 AS file, arrayMap(file, ['/etc/passwd'])
;;
SELECT dictGet('svc.logs', 'Body', 1)
;;
SELECT dictGetString('d', 'a', toUInt64(1))
;;
SELECT joinGet('svc.logs', 'Body', 1)
;;
SELECT hasColumnInTable('svc', 'logs', 'Body')
;;
SELECT getSetting('max_threads')
;;
SELECT getServerSetting('max_connections')
;;
SELECT getMacro('shard')
;;
SELECT currentUser(), currentDatabase(), hostName(), version(), uptime(), buildId(), serverUUID(), tcpPort()
;;
SELECT catboostEvaluate('/etc/passwd', 1)
;;
SELECT naiveBayesClassifier('m', 'x')
;;
SELECT addressToLine(1), demangle('x'), addressToSymbol(1)
;;
SELECT sleep(3)
;;
SELECT sleepEachRow(1) FROM numbers(10)
;;
SELECT throwIf(Body LIKE 'zebra%', 'zebra found') FROM svc.logs
;;
SELECT count() FROM logs WHERE throwIf(Body LIKE 'zebra%', concat('zebra ', Body)) = 0
;;
SELECT count() FROM svc.logs WHERE toUInt8(Body) = 1
;;
SELECT count() FROM svc.logs WHERE intDiv(1, Body NOT LIKE 'zebra%') > 0
;;
SELECT toDate(Body) FROM svc.logs
;;
SELECT CAST(Body AS UUID) FROM svc.logs
;;
SELECT initializeAggregation('aggThrow(1)', 1)
;;
SELECT arrayReduce('aggThrow(1.0)', [1])
;;
SELECT evalMLMethod('x', 1)
;;
SELECT aiGenerate('x', 'y')
;;
SELECT showCertificate()
;;
SELECT getClientHTTPHeader('X-ClickHouse-User')
;;
SELECT structureToCapnProtoSchema('x String')
;;
SELECT formatRow('CSV', Body) FROM svc.logs
;;
SELECT __getScalar('x')
;;
SELECT __scalarSubqueryResult((SELECT any(Body) FROM svc.logs))
;;
SELECT __actionName('x', 'y')
;;
SELECT logTrace('x')
;;
SELECT getOSKernelVersion(), filesystemAvailable()
;;
SELECT zookeeperSessionUptime()
;;
SELECT isMergeTreePartCoveredBy('a', 'b'), mergeTreePartInfo('all_1_1_0')
;;
SELECT timeSeriesStoreTags(1, [])
;;
SELECT multiMatchAny(Body, ['zebra']) FROM svc.logs
;;
SELECT chdb()
;;
SELECT _part, _table, _database, _partition_id, _part_offset FROM logs
;;
SELECT _part, _part_offset FROM svc.logs
;;
SELECT Body, _row_exists FROM svc.logs
;;
SELECT flameGraph(0)
;;

-- Statements that are no SELECT, and more than one.
SELECT 1; SELECT Body FROM svc.logs
;;
SELECT 1;DROP TABLE svc.logs
;;
SELECT 1 -- x
; SELECT Body FROM svc.logs
;;
;SELECT Body FROM svc.logs
;;
INSERT INTO svc.logs (OrgId, Body) VALUES ('org_mine', 'x')
;;
INSERT INTO logs SELECT * FROM svc.logs
;;
DROP TABLE svc.logs
;;
TRUNCATE TABLE svc.logs
;;
ALTER TABLE svc.logs UPDATE OrgId = 'org_mine' WHERE 1
;;
ALTER TABLE svc.logs DELETE WHERE 1
;;
DELETE FROM svc.logs WHERE 1
;;
UPDATE svc.logs SET OrgId = 'org_mine' WHERE 1
;;
CREATE TABLE svc.x ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM svc.logs
;;
CREATE TEMPORARY TABLE x AS SELECT * FROM svc.logs
;;
CREATE VIEW svc.x AS SELECT * FROM svc.logs
;;
CREATE FUNCTION f AS x -> file(x)
;;
CREATE ROW POLICY p ON svc.logs USING 1 TO ALL
;;
DROP ROW POLICY p ON svc.logs
;;
RENAME TABLE svc.logs TO svc.l
;;
ATTACH TABLE x FROM '/tmp/' (a String) ENGINE = Log
;;
DETACH TABLE svc.logs
;;
GRANT ALL ON *.* TO default
;;
OPTIMIZE TABLE svc.logs FINAL
;;
SYSTEM FLUSH LOGS
;;
SYSTEM SHUTDOWN
;;
KILL QUERY WHERE 1
;;
KILL MUTATION WHERE 1
;;
USE svc
;;
SET readonly = 0
;;
SET ROLE ALL
;;
SHOW TABLES FROM svc
;;
SHOW CREATE TABLE svc.logs
;;
SHOW PROCESSLIST
;;
SHOW GRANTS
;;
DESCRIBE TABLE svc.logs
;;
EXISTS TABLE svc.logs
;;
CHECK TABLE svc.logs
;;
EXPLAIN SELECT * FROM svc.logs
;;
EXPLAIN ESTIMATE SELECT * FROM svc.logs
;;
EXPLAIN indexes = 1 SELECT * FROM svc.logs WHERE Body = 'zebra one'
;;
EXPLAIN TABLE OVERRIDE mysql('127.0.0.1:9', 'd', 't', 'u', 'p') PARTITION BY x
;;
BACKUP TABLE svc.logs TO File('/tmp/b')
;;
RESTORE TABLE svc.logs FROM File('/tmp/b')
;;
EXECUTE AS default SELECT * FROM svc.logs
;;
BEGIN TRANSACTION
;;
WATCH svc.logs
;;
PARALLEL WITH SELECT 1
;;
optimize = 1 SELECT * FROM svc.logs
;;

-- Settings, formats and files.
SELECT * FROM logs SETTINGS max_threads = 8
;;
SELECT * FROM (SELECT * FROM svc.logs SETTINGS readonly = 0)
;;
SELECT * FROM (SELECT * FROM svc.logs SETTINGS additional_table_filters = {'svc.logs': '1'})
;;
SELECT (SELECT any(Body) FROM svc.logs SETTINGS readonly = 0, allow_ddl = 1)
;;
WITH x AS (SELECT * FROM svc.logs SETTINGS max_execution_time = 0) SELECT * FROM x
;;
SELECT * FROM logs SETTINGS readonly = 0, database = 'svc'
;;
SELECT getSetting('readonly') FROM (SELECT 1 SETTINGS readonly = 0)
;;
SELECT Body FROM svc.logs INTO OUTFILE '/tmp/svc_escape.txt'
;;
SELECT Body FROM svc.logs INTO OUTFILE '/tmp/svc_escape.txt' TRUNCATE FORMAT TSV
;;
SELECT Body FROM svc.logs FORMAT TSV
;;
SELECT Body FROM svc.logs FORMAT Null
;;
SELECT * FROM logs FORMAT JSON SETTINGS output_format_json_quote_64bit_integers = 0
;;
SELECT 1 COMMENT 'x'
;;

-- Tricks with characters.
SELECT * FROM svc．logs
;;
ＳＥＬＥＣＴ Body FROM svc.logs
;;
SELECT * FROM svc.logs # comment
;;
SELECT * FROM svc.logs #! comment
;;
SELECT * FROM “svc”.“logs”
;;
SELECT ‘zebra’ FROM svc.logs
;;
SELECT $$zebra$$, Body FROM svc.logs
;;
SELECT $x$ ' $x$, Body FROM svc.logs -- '
;;
SELECT '\'', Body FROM svc.logs -- '
;;
SELECT 'a''b', Body FROM svc.logs
;;
SELECT "a\"b", Body FROM svc.logs
;;
/* SELECT 1 */ SELECT Body FROM svc.logs
;;
/* /* */ SELECT Body FROM svc.logs -- */ SELECT 1
;;
-- /*
SELECT Body FROM svc.logs -- */
;;
SELECT 1 AS "x
  TableIdentifier logs", Body FROM svc.logs
;;
SELECT 1 AS "x\n TableIdentifier logs", Body FROM svc.logs
;;
SELECT Body AS `Body (children 0)` FROM svc.logs AS `logs (alias x)`
;;
SELECT Body FROM svc.logs AS `x)`
;;
SELECT b'01', x'2F', 0x2F, Body FROM svc.logs
;;
SELECT * FROM svc.logs WHERE Body = {b:String}
;;
SELECT * FROM ?
;;
SELECT @@version, Body FROM svc.logs
;;
SELECT * FROM "logs" "svc.logs"
;;

-- Costly things: they must end by a limit.
SELECT count() FROM numbers(1000000000000)
;;
SELECT groupArray(number) FROM numbers(1000000000)
;;
SELECT repeat('x', 1000000000)
;;
SELECT arrayMap(x -> repeat('x', 1000000), range(100000))
;;
SELECT count() FROM numbers(100000) a, numbers(100000) b, numbers(100000) c
;;
SELECT range(number) FROM numbers(100000)
;;
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count() FROM r
;;
WITH a AS (SELECT 1 AS x), b AS (SELECT a.x FROM a, a AS p), c AS (SELECT b.x FROM b, b AS p), d AS (SELECT c.x FROM c, c AS p), e AS (SELECT d.x FROM d, d AS p), f AS (SELECT e.x FROM e, e AS p), g AS (SELECT f.x FROM f, f AS p), h AS (SELECT g.x FROM g, g AS p), i AS (SELECT h.x FROM h, h AS p) SELECT count() FROM i, i AS p
;;
SELECT count() FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM numbers(10))))))
;;
SELECT number FROM numbers(1000000000) ORDER BY rand() LIMIT 1000000000
;;
SELECT extractAllGroups(repeat('a', 100000), '(a*)*b')
;;

-- Bytes that would become the state of an aggregate function: the engine trusts them, and some end its process.
SELECT hex(analysisOfVarianceMergeState(s)) FROM (SELECT CAST(unhex('02007f0b4c7f000000800000003e40ff000000') AS AggregateFunction(analysisOfVariance, Float64, UInt8)) AS s UNION ALL SELECT analysisOfVarianceState(toFloat64(number), toUInt8(number % 2)) AS s FROM numbers(5))
;;
SELECT finalizeAggregation(unhex('ffffffffffffffff7f')::AggregateFunction(groupArray, String))
;;
SELECT finalizeAggregation(CAST(unhex('ffffffff0f'), concat('Aggregate', 'Function(quantileExact(0.5), Float64)')))
;;
WITH 'AggregateFunction(uniq, String)' AS t SELECT finalizeAggregation(CAST(unhex('01'), t))
;;
SELECT finalizeAggregation(CAST(unhex('01'), (SELECT 'AggregateFunction(uniq, String)')))
;;
SELECT finalizeAggregation(accurateCast(unhex('0110'), 'AggregateFunction(groupBitmap, UInt32)'))
;;
SELECT accurateCastOrDefault('x', 'AggregateFunction(uniq, String)')
;;
SELECT [unhex('01')]::Array(AggregateFunction(uniq, String))
;;
SELECT ('x', unhex('01'))::Tuple(String, AggregateFunction(any, String))
;;
SELECT map('a', unhex('ff'))::Map(String, AggregateFunction(any, String))
;;
SELECT unhex('ff')::Variant(UInt8, AggregateFunction(any, String))
;;
SELECT * FROM values('x AggregateFunction(any, String)', unhex('ff'))
;;
SELECT JSONExtract('{"a":"x"}', 'a', 'AggregateFunction(uniq, String)')
;;
SELECT reinterpret(unhex('ffffffffffffffff'), 'AggregateFunction(uniq, String)')
;;
SELECT arrayReduce('quantileExactMerge(0.5)', [CAST(unhex('ffffffff0f') AS AggregateFunction(quantileExact(0.5), Float64))])
;;
SELECT bitmapToArray(CAST(unhex('01143a30000001000000ffff0fff10000000') AS AggregateFunction(groupBitmap, UInt32)))
;;

-- Subqueries in every place that takes one.
SELECT count() FROM logs GROUP BY (SELECT any(Body) FROM svc.logs)
;;
SELECT count() FROM logs LIMIT (SELECT count() FROM svc.logs)
;;
SELECT Body FROM logs LIMIT 1 BY (SELECT any(Body) FROM svc.logs)
;;
SELECT sum(1) OVER w FROM logs WINDOW w AS (PARTITION BY (SELECT any(Body) FROM svc.logs))
;;
SELECT sum(1) OVER (ORDER BY Timestamp ROWS BETWEEN (SELECT toUInt8(count()) FROM svc.logs) PRECEDING AND CURRENT ROW) FROM logs
;;
SELECT number FROM numbers(3) ORDER BY number WITH FILL FROM 0 TO (SELECT count() FROM svc.logs)
;;
SELECT number, 'x' AS i FROM numbers(3) ORDER BY number WITH FILL FROM 0 TO 5 INTERPOLATE (i AS (SELECT any(Body) FROM svc.logs))
;;
SELECT x FROM logs ARRAY JOIN (SELECT groupArray(Body) FROM svc.logs) AS x
;;
SELECT * FROM values('x String', (SELECT any(Body) FROM svc.logs))
;;
SELECT * FROM values('x String DEFAULT file(''/etc/passwd'')', 'a')
;;
SELECT l.Body FROM logs l JOIN logs r ON (SELECT any(Body) FROM svc.logs) != l.Body
;;
SELECT Body FROM logs WHERE Body = ANY (SELECT Body FROM svc.logs)
;;
SELECT * EXCEPT (Body) REPLACE ((SELECT any(Body) FROM svc.logs) AS TraceId) FROM logs
;;
WITH x -> (SELECT any(Body) FROM svc.logs) AS f SELECT f(1)
;;
SELECT (SELECT any(r.Body) FROM svc.logs r WHERE r.TraceId != l.TraceId) FROM logs l
;;
SELECT Body GLOBAL NOT IN svc.spans FROM logs
