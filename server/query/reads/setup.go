package reads

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SetupServiceRow is a row of SetupServices: how the spans of one service are instrumented.
type SetupServiceRow struct {
	ServiceName   string `ch:"ServiceName"`
	Spans         uint64 `ch:"Spans"`
	NoVersion     uint64 `ch:"NoVersion"`
	NoEnvironment uint64 `ch:"NoEnvironment"`
	NoRepository  uint64 `ch:"NoRepository"`
	NoRevision    uint64 `ch:"NoRevision"`
	// Names is the approximate number of distinct span names. Sample is a name that contains a number.
	Names  uint64 `ch:"Names"`
	Sample string `ch:"Sample"`
	// Unset counts server spans that answered 500 or above and whose status is not Error. Failed counts spans with status Error,
	// and Bare those of them that have neither exception nor message.
	Unset  uint64 `ch:"Unset"`
	Failed uint64 `ch:"Failed"`
	Bare   uint64 `ch:"Bare"`
	// Queries counts spans with a database statement, and Nameless those of them that do not name the system.
	Queries  uint64 `ch:"Queries"`
	Nameless uint64 `ch:"Nameless"`
	// Future counts spans that begin after now. Last is the latest start.
	Future uint64    `ch:"Future"`
	Last   time.Time `ch:"Last"`
	// Language is that of the SDK, empty for spans of proxies and of other senders without an SDK. Instances is the approximate number of
	// pods, containers or hosts; NoInstance counts spans without service.instance.id. NoRuntime counts spans without process.runtime.name,
	// NoCloud those without cloud.provider.
	Language   string `ch:"Language"`
	Instances  uint64 `ch:"Instances"`
	NoInstance uint64 `ch:"NoInstance"`
	NoRuntime  uint64 `ch:"NoRuntime"`
	NoCloud    uint64 `ch:"NoCloud"`
	// Hidden counts spans whose status is not Error and that have an attribute which says that they failed.
	Hidden uint64 `ch:"Hidden"`
	// These count spans by kind. Entries are server and consumer spans, and spans without a parent.
	Servers  uint64 `ch:"Servers"`
	Clients  uint64 `ch:"Clients"`
	Handlers uint64 `ch:"Handlers"`
	Internal uint64 `ch:"Internal"`
	Entries  uint64 `ch:"Entries"`
	// Outgoing counts client and producer spans. Unmarked counts spans of another kind that have attributes of a call of a database or a
	// service.
	Outgoing uint64 `ch:"Outgoing"`
	Unmarked uint64 `ch:"Unmarked"`
	// Probes counts entry spans of health checks and scrapes.
	Probes uint64 `ch:"Probes"`
	// Calls counts client spans that call a service, and Unnamed those of them that do not name it.
	Calls   uint64 `ch:"Calls"`
	Unnamed uint64 `ch:"Unnamed"`
	// Messages counts producer and consumer spans, Remote spans of remote procedures, and Vague those of both that do not say which queue or
	// service it is.
	Messages uint64 `ch:"Messages"`
	Remote   uint64 `ch:"Remote"`
	Vague    uint64 `ch:"Vague"`
	// Models counts calls of the addresses of language model providers, and Generative spans with attributes of the conventions.
	Models     uint64 `ch:"Models"`
	Generative uint64 `ch:"Generative"`
}

// These are expressions over a row of spans.
const (
	databaseSpan = "(mapContains(SpanAttributes, 'db.system.name') OR mapContains(SpanAttributes, 'db.system') OR " +
		"mapContains(SpanAttributes, 'db.query.text') OR mapContains(SpanAttributes, 'db.statement'))"
	// embeddedSpan: these databases run in the process of the service, so their spans are not calls.
	embeddedSpan = "(SpanAttributes['db.system.name'] IN ('sqlite', 'h2', 'hsqldb', 'derby') OR SpanAttributes['db.system'] IN ('sqlite', " +
		"'h2', 'hsqldb', 'derby'))"
	generativeSpan = "(mapContains(SpanAttributes, 'gen_ai.operation.name') OR mapContains(SpanAttributes, 'gen_ai.provider.name') OR " +
		"mapContains(SpanAttributes, 'gen_ai.system') OR mapContains(SpanAttributes, 'gen_ai.request.model'))"
	remoteSpan = "(mapContains(SpanAttributes, 'rpc.method') OR mapContains(SpanAttributes, 'rpc.service'))"
	callSpan   = "(SpanKind = 'Client' AND NOT " + databaseSpan + " AND NOT " + generativeSpan +
		" AND NOT mapContains(SpanAttributes, 'messaging.system'))"
	// peerNames are the attributes from which the service map takes the name of the called service or system.
	peerNames = "['peer.service', 'rpc.service', 'server.address', 'http.host', 'url.authority', 'net.peer.name', 'url.full', 'http.url']"
	entryPath = "coalesce(nullIf(HttpRoute, ''), nullIf(SpanAttributes['url.path'], ''), nullIf(SpanAttributes['http.target'], ''), SpanName)"
	modelHost = "coalesce(nullIf(SpanAttributes['server.address'], ''), nullIf(SpanAttributes['net.peer.name'], ''), " +
		"domain(if(SpanAttributes['url.full'] != '', SpanAttributes['url.full'], SpanAttributes['http.url'])))"
	modelHosts = `'(^|[.])(api[.]openai[.]com|openai[.]azure[.]com|api[.]anthropic[.]com|generativelanguage[.]googleapis[.]com|aiplatform[.]googleapis[.]com|api[.]mistral[.]ai|api[.]cohere[.](ai|com)|api[.]groq[.]com|api[.]deepseek[.]com|api[.]x[.]ai|openrouter[.]ai|bedrock-runtime[.][a-z0-9-]+[.]amazonaws[.]com)$'`
	probePath  = `'(?i)(^|[ /])(health|healthz|livez?|liveness|readyz?|readiness|ping|metrics|favicon[.]ico)([/?].*)?$'`
	vagueQueue = "(SpanAttributes['messaging.system'] = '' OR (SpanAttributes['messaging.destination.name'] = '' AND " +
		"SpanAttributes['messaging.destination'] = ''))"
	vagueRemote = "(SpanAttributes['rpc.system'] = '' AND SpanAttributes['rpc.system.name'] = '' OR SpanAttributes['rpc.service'] = '' AND " +
		"position(SpanAttributes['rpc.method'], '/') = 0)"
)

// SetupServices gives a SetupServiceRow for each service, busiest first, at most limits.SetupServices. It includes spans that begin up to
// a day after now, because their sender's clock may be ahead.
func SetupServices(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("late", w.End.Add(limits.ClockAhead)))
	future := b.Time("future", w.End.Add(time.Minute))
	return b.Statement(fmt.Sprintf(`WITH coalesce(nullIf(ResourceAttributes['k8s.pod.name'], ''), nullIf(ResourceAttributes['container.id'], ''), ResourceAttributes['host.name']) AS Instance
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
    countIf(Timestamp > %s) AS Future,
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
    countIf(SpanKind IN ('Internal', 'Unspecified') AND (`+databaseSpan+` AND NOT `+embeddedSpan+` OR mapContains(SpanAttributes, 'peer.service')
        OR (mapContains(SpanAttributes, 'http.request.method') OR mapContains(SpanAttributes, 'http.method')) AND mapContains(SpanAttributes, 'url.full'))) AS Unmarked,
    countIf(IsEntry AND match(`+entryPath+`, `+probePath+`)) AS Probes,
    countIf(`+callSpan+`) AS Calls,
    countIf(`+callSpan+` AND arrayAll(k -> SpanAttributes[k] = '', `+peerNames+`)) AS Unnamed,
    countIf(SpanKind IN ('Producer', 'Consumer')) AS Messages,
    countIf(`+remoteSpan+`) AS Remote,
    countIf(SpanKind IN ('Producer', 'Consumer') AND `+vagueQueue+` OR `+remoteSpan+` AND `+vagueRemote+`) AS Vague,
    countIf(SpanKind = 'Client' AND match(`+modelHost+`, `+modelHosts+`)) AS Models,
    countIf(`+generativeSpan+`) AS Generative
FROM spans
WHERE %s
GROUP BY ServiceName
ORDER BY Spans DESC, ServiceName
LIMIT %d`, future, c.Join(4), limits.SetupServices))
}

// SetupLogRow is a row of SetupLogs: how the log records of one service are instrumented.
type SetupLogRow struct {
	ServiceName string `ch:"ServiceName"`
	Records     uint64 `ch:"Records"`
	NoTrace     uint64 `ch:"NoTrace"`
	NoSeverity  uint64 `ch:"NoSeverity"`
	// Skewed counts records whose time differs by more than limits.SetupClock from the time at which a collector saw them.
	Skewed uint64 `ch:"Skewed"`
	// Plain counts records that have no attribute and whose body is not an object.
	Plain uint64 `ch:"Plain"`
}

// SetupLogs gives a SetupLogRow for each service, busiest first, at most limits.SetupServices.
func SetupLogs(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceName,
    count() AS Records,
    countIf(TraceId = '') AS NoTrace,
    countIf(SeverityNumber = 0) AS NoSeverity,
    countIf(ObservedTimestamp > toDateTime64(0, 9, 'UTC') AND abs(dateDiff('second', Timestamp, ObservedTimestamp)) > %d) AS Skewed,
    countIf(empty(LogAttributes) AND NOT startsWith(Body, '{')) AS Plain
FROM logs
WHERE %s
GROUP BY ServiceName
ORDER BY Records DESC, ServiceName
LIMIT %d`, int64(limits.SetupClock.Seconds()), c.Join(4), limits.SetupServices))
}

// SetupLinkRow is a row of SetupLinks: how the spans of one service are connected with the spans that called them.
type SetupLinkRow struct {
	ServiceName string `ch:"ServiceName"`
	// Children counts spans that have a parent, and Orphans those of them whose parent was not received.
	Children uint64 `ch:"Children"`
	Orphans  uint64 `ch:"Orphans"`
	// Calls counts spans whose parent is in another service, and Early those of them that begin before their parent.
	Calls   uint64  `ch:"Calls"`
	Early   uint64  `ch:"Early"`
	AheadMs float64 `ch:"AheadMs"`
	// Unmarked counts those of Calls that are neither server nor consumer spans.
	Unmarked uint64 `ch:"Unmarked"`
}

// SetupLinks gives a SetupLinkRow for each service. It reads one of every share traces. Spans of the first ten minutes of the
// window count only as parents. Spans of the last minute do not count as children, because their parents may still arrive.
func SetupLinks(w query.Window, share uint64) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	sampled := "cityHash64(TraceId) % " + b.Bind("share", "UInt64", max(share, 1)) + " = 0"
	all := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End), sampled)
	children := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("children", w.Start.Add(10*time.Minute)),
		"Timestamp <= "+b.Time("settled", w.End.Add(-time.Minute)),
		sampled,
		"ParentSpanId != ''",
	)
	return b.Statement(fmt.Sprintf(`SELECT
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
    WHERE %s
) AS c
LEFT ANY JOIN
(
    SELECT TraceId, SpanId, ServiceName, Timestamp
    FROM spans
    WHERE %s
) AS p ON c.TraceId = p.TraceId AND c.ParentSpanId = p.SpanId
GROUP BY ServiceName
ORDER BY Children DESC, ServiceName
LIMIT %d`, children.Join(8), all.Join(8), limits.SetupServices))
}

// SetupKeyRow is a row of SetupKeys.
type SetupKeyRow struct {
	Signal string `ch:"Signal"`
	Scope  string `ch:"Scope"`
	Key    string `ch:"Key"`
	Uses   uint64 `ch:"Uses"`
}

// SetupKeys gives a SetupKeyRow for each attribute key of the window, most used first, at most limits.SetupKeys. An hour that the
// window cuts counts whole.
func SetupKeys(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Hour >= toStartOfHour(toDateTime("+b.Bind("start", "Int64", w.Start.Unix())+", 'UTC'))",
		"Hour <= toDateTime("+b.Bind("end", "Int64", w.End.Unix())+", 'UTC')",
	)
	return b.Statement(fmt.Sprintf(`SELECT Signal, Scope, Key, sum(UsageCount) AS Uses
FROM attribute_keys
WHERE %s
GROUP BY Signal, Scope, Key
ORDER BY Uses DESC, Signal, Scope, Key
LIMIT %d`, c.Join(4), limits.SetupKeys))
}

// SetupRenameRow is a row of SetupRenames: how many spans of one service carry an old key and the key that replaced it.
type SetupRenameRow struct {
	ServiceName string `ch:"ServiceName"`
	OldKey      string `ch:"OldKey"`
	// Old counts the service's spans with the old key, New those with the new key, Both those with both keys.
	Old  uint64 `ch:"Old"`
	New  uint64 `ch:"New"`
	Both uint64 `ch:"Both"`
}

// SetupRenames gives a SetupRenameRow for each service that sends one of the old keys. The service with most spans comes first,
// and there are at most limits.SetupKeys rows. The new keys are in the order of the old keys that they replaced.
func SetupRenames(w query.Window, olds, news []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	oldKeys, newKeys := b.Bind("olds", "Array(String)", olds), b.Bind("news", "Array(String)", news)
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceName,
    OldKey,
    countIf(has(Keys, OldKey)) AS Old,
    countIf(has(Keys, NewKey)) AS New,
    countIf(has(Keys, OldKey) AND has(Keys, NewKey)) AS Both
FROM
(
    SELECT ServiceName, mapKeys(SpanAttributes) AS Keys
    FROM spans
    WHERE %s
        AND hasAny(Keys, arrayConcat(%[2]s, %[3]s))
)
ARRAY JOIN %[2]s AS OldKey, %[3]s AS NewKey
GROUP BY ServiceName, OldKey
HAVING Old > 0
ORDER BY Old DESC, ServiceName, OldKey
LIMIT %[4]d`, c.Join(8), oldKeys, newKeys, limits.SetupKeys))
}

// SetupValueRow is a row of SetupValues: the number of values of a key that look like personal data.
type SetupValueRow struct {
	Key string `ch:"Key"`
	// Sort is email, card or token.
	Sort  string `ch:"Sort"`
	Spans uint64 `ch:"Spans"`
	Of    uint64 `ch:"Of"`
}

// SetupValues gives SetupValueRow rows from at most rows spans of the window. The result holds keys and counts, never a value.
func SetupValues(w query.Window, rows int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	return b.Statement(`SELECT Key, Sort, count() AS Spans, any(Rows) AS Of
FROM
(
    SELECT Pair.1 AS Key, Rows, multiIf(
            match(Pair.2, '^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+[.][A-Za-z0-9.-]*[A-Za-z]{2,}$'), 'email',
            match(Pair.2, '^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|3[47][0-9]{13})$'), 'card',
            match(Pair.2, '^(?:Bearer |eyJ[A-Za-z0-9_-]{10,}[.]|sk_live_|ghp_|AKIA[0-9A-Z]{16})'), 'token',
            '') AS Sort
    FROM
    (
        SELECT SpanAttributes, count() OVER () AS Rows
        FROM
        (
            SELECT SpanAttributes
            FROM spans
            WHERE ` + c.Join(16) + `
            LIMIT ` + b.Bind("rows", "UInt32", int64(rows)) + `
        )
    )
    ARRAY JOIN arrayMap((k, v) -> (k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)) AS Pair
)
WHERE Sort != ''
GROUP BY Key, Sort
ORDER BY Spans DESC, Key, Sort
LIMIT ` + strconv.Itoa(limits.SetupFindings))
}

// SetupMetricRow is a row of SetupMetrics.
type SetupMetricRow struct {
	MetricName string `ch:"MetricName"`
	Services   uint64 `ch:"Services"`
	Series     uint64 `ch:"Series"`
}

// SetupMetrics gives a SetupMetricRow for each metric that has more than the given number of series in the window. The metric
// with most series comes first, and there are at most limits.SetupFindings rows.
func SetupMetrics(w query.Window, series uint64) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	var reads []string
	for _, table := range metricTables() {
		reads = append(reads, fmt.Sprintf("SELECT MetricName, ServiceName, SeriesHash\n    FROM %s\n    WHERE %s", table, c.Join(8)))
	}
	return b.Statement(fmt.Sprintf(`SELECT MetricName, uniqCombined64(ServiceName) AS Services, uniqCombined64(SeriesHash) AS Series
FROM
(
    %s
)
GROUP BY MetricName
HAVING Series > %s
ORDER BY Series DESC, MetricName
LIMIT %d`, strings.Join(reads, "\n    UNION ALL\n    "), b.Bind("series", "UInt64", series), limits.SetupFindings))
}
