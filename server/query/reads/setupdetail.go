package reads

import (
	"fmt"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SetupPeerRow is a row of SetupPeers: the names that callers give one address.
type SetupPeerRow struct {
	// Address is the host and port, empty for calls that have none.
	Address  string   `ch:"Address"`
	Names    []string `ch:"Names"`
	Services []string `ch:"Services"`
	Calls    uint64   `ch:"Calls"`
}

// SetupPeers gives a SetupPeerRow for each address that calls name by peer.service, at most limits.SetupPeers. The address
// with the most calls comes first.
func SetupPeers(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End),
		"SpanKind IN ('Client', 'Producer')", "SpanAttributes['peer.service'] != ''")
	return b.Statement(fmt.Sprintf(`SELECT
    if(SpanAttributes['server.address'] = '', '', concat(SpanAttributes['server.address'], ':', SpanAttributes['server.port'])) AS Address,
    arraySort(groupUniqArray(%[3]d)(SpanAttributes['peer.service'])) AS Names,
    arraySort(groupUniqArray(%[3]d)(ServiceName)) AS Services,
    count() AS Calls
FROM spans
WHERE %[1]s
GROUP BY Address
ORDER BY Calls DESC, Address
LIMIT %[2]d`, c.Join(4), limits.SetupPeers, limits.SetupPeerNames))
}

// SetupQueueRow is a row of SetupQueues: the messages of one queue.
type SetupQueueRow struct {
	Queue    string   `ch:"Queue"`
	Sent     uint64   `ch:"Sent"`
	Received uint64   `ch:"Received"`
	Senders  []string `ch:"Senders"`
}

// SetupQueues gives a SetupQueueRow for each queue to which a service sends, at most limits.SetupPeers. The queue with
// the most messages comes first.
func SetupQueues(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Minute >= "+b.Minute("start_minute", w.Start), "Minute <= "+b.Minute("end_minute", w.End),
		"PeerKind = 'queue'", "PeerName != ''")
	return b.Statement(fmt.Sprintf(`SELECT
    PeerName AS Queue,
    sumIf(CallCount, Direction = 'outbound') AS Sent,
    sumIf(CallCount, Direction = 'inbound') AS Received,
    arraySort(groupUniqArrayIf(%[3]d)(ServiceName, Direction = 'outbound')) AS Senders
FROM service_peers
WHERE %[1]s
GROUP BY Queue
HAVING Sent > 0
ORDER BY Sent DESC, Queue
LIMIT %[2]d`, c.Join(4), limits.SetupPeers, limits.SetupPeerNames))
}

// SetupInstrumentRow is a row of SetupInstruments: the metrics of one service.
type SetupInstrumentRow struct {
	ServiceName string `ch:"ServiceName"`
	// Metrics is the number of metrics, and Own the number of those that are not of libraries and runtimes.
	Metrics uint64 `ch:"Metrics"`
	Own     uint64 `ch:"Own"`
	// These are 1 if the metrics show that the service answers requests, sends requests, calls a database, or handles messages.
	Serves    uint8 `ch:"Serves"`
	Requests  uint8 `ch:"Requests"`
	Databases uint8 `ch:"Databases"`
	Messages  uint8 `ch:"Messages"`
}

// standardMetrics matches the names of metrics that libraries, runtimes, hosts and Collectors make.
const standardMetrics = `'^(http|rpc|db|messaging|dns|tls|faas|gen_ai|mcp|process|system|host|container|k8s|jvm|go|nodejs|v8js|cpython|python|dotnet|aspnetcore|kestrel|signalr|ruby|php|hikaricp|otel|otelcol|scrape|up|runtime|memory|cpu|gc|thread|tomcat|jetty|netty|kafka|redis|postgresql|mysql|mongodb|nginx|rabbitmq|promhttp|prometheus|traces_|target_info)([._]|$)'`

// SetupInstruments gives a SetupInstrumentRow for each service that sends metrics, at most limits.SetupServices. An hour that
// the window cuts counts whole.
func SetupInstruments(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Hour >= toStartOfHour(toDateTime("+b.Bind("start", "Int64", w.Start.Unix())+", 'UTC'))",
		"Hour <= toDateTime("+b.Bind("end", "Int64", w.End.Unix())+", 'UTC')", "ServiceName != ''")
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceName,
    uniqExact(MetricName) AS Metrics,
    uniqExactIf(MetricName, NOT match(MetricName, `+standardMetrics+`)) AS Own,
    max(match(MetricName, '^(http|rpc)[._]server[._]')) AS Serves,
    max(match(MetricName, '^(http|rpc)[._]client[._]')) AS Requests,
    max(match(MetricName, '^db[._]client[._]')) AS Databases,
    max(match(MetricName, '^messaging[._]')) AS Messages
FROM metric_catalog
WHERE %s
GROUP BY ServiceName
ORDER BY Metrics DESC, ServiceName
LIMIT %d`, c.Join(4), limits.SetupServices))
}

// SetupRestartRow is a row of SetupRestarts.
type SetupRestartRow struct {
	MetricName  string `ch:"MetricName"`
	ServiceName string `ch:"ServiceName"`
	Starts      uint64 `ch:"Starts"`
}

// SetupRestarts gives a SetupRestartRow for each cumulative counter of which one series began more often than the given number in the
// window, at most limits.SetupFindings; the counter that began most often comes first.
func SetupRestarts(w query.Window, starts uint64) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End),
		"AggregationTemporality = 'Cumulative'", "IsMonotonic", "StartTimestamp > toDateTime64(0, 9, 'UTC')")
	return b.Statement(fmt.Sprintf(`SELECT MetricName, ServiceName, max(SeriesStarts) AS Starts
FROM
(
    SELECT MetricName, ServiceName, SeriesHash, uniqCombined64(StartTimestamp) AS SeriesStarts
    FROM metrics_sum
    WHERE %s
    GROUP BY MetricName, ServiceName, SeriesHash
    HAVING SeriesStarts > %s
)
GROUP BY MetricName, ServiceName
ORDER BY Starts DESC, MetricName, ServiceName
LIMIT %d`, c.Join(8), b.Bind("starts", "UInt64", starts), limits.SetupFindings))
}

// SetupKeyUseRow is a row of SetupKeyUse.
type SetupKeyUseRow struct {
	Scope string `ch:"Scope"`
	Key   string `ch:"Name"`
	Uses  uint64 `ch:"Uses"`
}

// SetupKeyUse gives a SetupKeyUseRow for each of the keys that spans or their resources carry in the window, by scope. The key `*` stands
// for all other keys together.
func SetupKeyUse(w query.Window, keys []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Hour >= toStartOfHour(toDateTime("+b.Bind("start", "Int64", w.Start.Unix())+", 'UTC'))",
		"Hour <= toDateTime("+b.Bind("end", "Int64", w.End.Unix())+", 'UTC')", "Signal = 'traces'", "Scope IN ('span', 'resource')")
	return b.Statement(fmt.Sprintf(`SELECT Scope, if(has(%s, Key), Key, '*') AS Name, sum(UsageCount) AS Uses
FROM attribute_keys
WHERE %s
GROUP BY Scope, Name
ORDER BY Scope, Name`, b.Bind("keys", "Array(String)", keys), c.Join(4)))
}
