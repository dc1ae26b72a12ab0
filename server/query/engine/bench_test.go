package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// benchDay is the day of the rows of BenchmarkQueries.
func benchDay() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour) }

// benchSpans are spans of twelve services over one day. They have forty operations and ten attributes. One in ten is
// sampled at a tenth.
const benchSpans = `INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, ServiceNamespace, ServiceVersion, Environment,
	DurationNano, StatusCode, HasError, IsEntry, HttpMethod, HttpRoute, HttpStatusCode, SampleRate, ResourceAttributes, SpanAttributes)
SELECT 'org_bench', toDateTime64('%[1]s', 9, 'UTC') + toIntervalMillisecond(intDiv((number + %[2]d) * 86400000, %[3]d)) AS Timestamp,
	lower(hex(MD5(toString(intDiv(number + %[2]d, 8))))), substring(lower(hex(MD5(toString(number + %[2]d)))), 1, 16),
	if(number %% 8 = 0, '', '00f067aa0ba902b7'), concat('operation-', toString(intDiv(number, 8) %% 40)), if(number %% 8 = 0, 'Server', 'Internal'),
	concat('service-', toString(intDiv(number, 16) %% 12)), 'shop', '1.2.3', if(number %% 5 = 0, 'staging', 'production'),
	toUInt64(exp(randNormal(3, 1.2)) * 1e6), if(number %% 50 = 0, 'Error', 'Unset'), number %% 50 = 0, number %% 8 = 0, 'GET', '/v1/things/{id}', toUInt16(200),
	if(number %% 10 = 0, 10., 1.),
	CAST(map('host.name', concat('host-', toString(number %% 10)), 'k8s.pod.name', concat('pod-', toString(number %% 100)), 'service.name', concat('service-', toString(intDiv(number, 16) %% 12)),
		'telemetry.sdk.language', 'go', 'telemetry.sdk.name', 'opentelemetry', 'os.type', 'linux'), 'Map(LowCardinality(String), String)'),
	CAST(map('url.path', concat('/v1/things/', toString(rand(1) %% 100000)), 'client.address', concat('10.0.', toString(rand(2) %% 256), '.', toString(rand(3) %% 256)),
		'user.id', toString(rand(4) %% 50000), 'http.request.method', 'GET', 'http.response.status_code', '200', 'server.address', 'shop.example.com',
		'server.port', '443', 'cart.size', toString(rand(5) %% 30), 'network.protocol.version', '1.1', 'thread.id', toString(number %% 16)), 'Map(LowCardinality(String), String)')
FROM numbers(%[4]d)`

const benchLogs = `INSERT INTO logs (OrgId, Timestamp, TraceId, SeverityText, SeverityNumber, ServiceName, ServiceNamespace, Environment, Body, ResourceAttributes, LogAttributes)
SELECT 'org_bench', toDateTime64('%[1]s', 9, 'UTC') + toIntervalMillisecond(intDiv((number + %[2]d) * 86400000, %[3]d)) AS Timestamp,
	lower(hex(MD5(toString(intDiv(number + %[2]d, 8))))), if(number %% 20 = 0, 'ERROR', 'INFO'), if(number %% 20 = 0, 17, 9), concat('service-', toString(intDiv(number, 16) %% 12)), 'shop', 'production',
	concat('request ', toString(rand(1) %% 1000000), ' served in ', toString(rand(2) %% 900), ' ms', if(number %% 5000 = 0, ': card declined', '')),
	CAST(map('host.name', concat('host-', toString(number %% 10)), 'service.name', 'x'), 'Map(LowCardinality(String), String)'),
	CAST(map('user.id', toString(rand(4) %% 50000), 'thread.id', toString(number %% 16)), 'Map(LowCardinality(String), String)')
FROM numbers(%[4]d)`

func seedBench(b *testing.B, e *warehousetest.Engine, total int) {
	b.Helper()
	const block = 100_000
	for done := 0; done < total; done += block {
		for _, sql := range []string{benchSpans, benchLogs} {
			text := fmt.Sprintf(sql, benchDay().Format(time.DateTime), done, total, min(block, total-done))
			if err := e.Exec(b.Context(), text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// literal writes a statement with its values in it, for EXPLAIN and for statistics.
func literal(s sqlbuild.Statement, org string) string {
	sql := strings.ReplaceAll(s.SQL, "{org:String}", quote(org))
	for _, a := range s.Args {
		at := strings.Index(sql, "{"+a.Name+":")
		if at < 0 {
			continue
		}
		end := at + strings.Index(sql[at:], "}") + 1
		sql = strings.ReplaceAll(sql, sql[at:end], literalValue(a))
	}
	return sql
}

func literalValue(a warehouse.Arg) string {
	switch v := a.Value.(type) {
	case string:
		return quote(v)
	case []string:
		var list []string
		for _, s := range v {
			list = append(list, quote(s))
		}
		return "[" + strings.Join(list, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// benchCases are standard reads.
func benchCases() []struct {
	name  string
	about time.Duration // length of the window, which ends at the day's end
	run   string        // timeseries or breakdown
	spec  string        // aggregation|source|where|group
	step  time.Duration
} {
	type c = struct {
		name  string
		about time.Duration
		run   string
		spec  string
		step  time.Duration
	}
	return []c{
		{"minute series of spans, 24 h, organization", 24 * time.Hour, "timeseries", "count|traces||", time.Minute},
		{"minute series of the error rate by service, 24 h", 24 * time.Hour, "timeseries", "error_rate|traces||service.name", time.Minute},
		{"minute series of p95, 24 h, organization", 24 * time.Hour, "timeseries", "p95_duration|traces||", time.Minute},
		{"p95 by service, 24 h, 30 buckets", 24 * time.Hour, "timeseries", "p95_duration|traces||service.name", 0},
		{"minute series of p95, 24 h, one service", 24 * time.Hour, "timeseries", "p95_duration|traces|service.name = service-3|", time.Minute},
		{"p95 of one operation, 1 h", time.Hour, "timeseries", "p95_duration|traces|service.name = service-3 AND span.name = operation-7|", 0},
		{"top operations of one service, 24 h", 24 * time.Hour, "breakdown", "count|traces|service.name = service-3|span.name", 0},
		{"top operations, 1 h", time.Hour, "breakdown", "p95_duration|traces||span.name", 0},
		{"attribute equality, 24 h, organization", 24 * time.Hour, "timeseries", "count|traces|attr.user.id = 4242|", 0},
		{"series of a numeric attribute, 1 h, one service", time.Hour, "timeseries", "avg:attr.cart.size|traces|service.name = service-3|", 0},
		{"top pods, 1 h", time.Hour, "breakdown", "count|traces||resource.k8s.pod.name", 0},
		{"log count by severity, 24 h", 24 * time.Hour, "timeseries", "count|logs||severity", 0},
		{"log count of a body search, 24 h", 24 * time.Hour, "timeseries", "count|logs|body contains \" card declined\"|", 0},
	}
}

func benchQuery(tb testing.TB, text string) query.Query {
	tb.Helper()
	parts := strings.Split(text, "|")
	name, value, _ := strings.Cut(parts[0], ":")
	s := query.Source(parts[1])
	a, err := query.ParseAggregation("", s, name, value, 0)
	if err != nil {
		tb.Fatal(err)
	}
	q := query.Query{Name: "A", Spec: query.Spec{Source: s, Aggregation: a}}
	if q.Filter, err = query.ParseWhere(s, parts[2]); err != nil {
		tb.Fatal(err)
	}
	if parts[3] != "" {
		f, err := query.ParseField(s, parts[3])
		if err != nil {
			tb.Fatal(err)
		}
		q.GroupBy = []query.Field{f}
	}
	return q
}

// BenchmarkQueries runs standard reads over one day of spans and as many logs. SVC_TEST_BENCH_ROWS sets their number, by default
// a million each. If SVC_TEST_BENCH_DIR is set, the rows are kept there for the next run of the same day. For each read it
// reports the median and the 95th percentile of the time, the engine's CPU time, and the rows and bytes that it reads.
func BenchmarkQueries(b *testing.B) {
	total := 1_000_000
	if text := os.Getenv("SVC_TEST_BENCH_ROWS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		total = n
	}
	dir, seeded := os.Getenv("SVC_TEST_BENCH_DIR"), false
	if dir == "" {
		dir = b.TempDir()
	} else if _, err := os.Stat(filepath.Join(dir, "warehouse")); err == nil {
		seeded = true
	}
	w := warehousetest.NewEngineIn(b, dir, "")
	if !seeded {
		seedBench(b, w, total)
	}
	for scalar(b, w, "SELECT count() FROM system.merges") > 0 {
		time.Sleep(200 * time.Millisecond)
	}
	e := New(Config{Warehouse: w.Warehouse, Rollups: query.AllRollups()})
	for _, c := range benchCases() {
		b.Run(c.name, func(b *testing.B) {
			end := benchDay().Add(24 * time.Hour)
			r := &query.Request{
				Window: query.Window{Start: end.Add(-c.about), End: end}, Bucket: c.step,
				Queries: []query.Query{benchQuery(b, c.spec)},
			}
			r.Queries[0].Rollups = e.rollups
			var times []time.Duration
			rows, bytesRead := selected(b, w, "SelectedRows"), selected(b, w, "SelectedBytes")
			cpu := selected(b, w, "OSCPUVirtualTimeMicroseconds")
			for b.Loop() {
				began := time.Now()
				var err error
				if c.run == "timeseries" {
					_, err = e.Timeseries(b.Context(), "org_bench", r)
				} else {
					_, err = e.Breakdown(b.Context(), "org_bench", r)
				}
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((selected(b, w, "OSCPUVirtualTimeMicroseconds")-cpu)/float64(len(times))/1000, "cpu-ms")
			b.ReportMetric((selected(b, w, "SelectedRows")-rows)/float64(len(times)), "rows-read")
			b.ReportMetric((selected(b, w, "SelectedBytes")-bytesRead)/float64(len(times))/1e6, "MB-read")
		})
	}
}

// selected is the sum of an event over all queries since the engine's start. The events count what the engine read.
func selected(b *testing.B, w *warehousetest.Engine, event string) float64 {
	b.Helper()
	return scalar(b, w, "SELECT sum(value) FROM system.events WHERE event = '"+event+"'")
}

func scalar(b *testing.B, w *warehousetest.Engine, sql string) float64 {
	b.Helper()
	var out bytes.Buffer
	if err := w.RawQuery(b.Context(), sql, "TSV", &out); err != nil {
		b.Fatal(err)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
