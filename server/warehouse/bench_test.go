package warehouse_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// procNumbers are a process's CPU time and resident memory.
func procNumbers(b *testing.B, pid int) (cpu time.Duration, rss uint64) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(fields[i], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on Linux
	return time.Duration(number(11)+number(12)) * tick, number(21) * uint64(os.Getpagesize())
}

// benchSpans makes spans. It fills all columns whose default is not realistic.
const benchSpans = `SELECT 'org_bench' AS OrgId,
	toDateTime64(now(), 9, 'UTC') - toIntervalMicrosecond(65000 - number) AS Timestamp,
	lower(hex(MD5(concat('%[1]s', toString(intDiv(number, 8)))))) AS TraceId, substring(lower(hex(MD5(toString(number)))), 1, 16) AS SpanId,
	if(number %% 8 = 0, '', substring(lower(hex(MD5(toString(number - 1)))), 1, 16)) AS ParentSpanId,
	concat('operation-', toString(number %% 40)) AS SpanName, 'Server' AS SpanKind, concat('service-', toString(intDiv(number, 8) %% 20)) AS ServiceName,
	'shop' AS ServiceNamespace, '1.2.3' AS ServiceVersion, 'prod' AS Environment, rand() %% 1000000000 AS DurationNano,
	'Unset' AS StatusCode, number %% 50 = 0 AS HasError, number %% 8 = 0 AS IsEntry, 'GET' AS HttpMethod, '/v1/things/{id}' AS HttpRoute,
	toUInt16(200) AS HttpStatusCode, 1.0 AS SampleRate, 'otel.scope' AS ScopeName,
	CAST(map('host.name', concat('host-', toString(number %% 10)), 'k8s.pod.name', concat('pod-', toString(number %% 100)), 'k8s.namespace.name', 'shop',
		'telemetry.sdk.language', 'go', 'telemetry.sdk.name', 'opentelemetry', 'telemetry.sdk.version', '1.47.0', 'os.type', 'linux', 'process.pid', toString(number %% 10)),
		'Map(LowCardinality(String), String)') AS ResourceAttributes,
	CAST(map('url.path', concat('/v1/things/', toString(rand(1) %% 100000)), 'client.address', concat('10.0.', toString(rand(2) %% 256), '.', toString(rand(3) %% 256)),
		'user.id', toString(rand(4) %% 50000), 'http.request.method', 'GET', 'http.response.status_code', '200', 'server.address', 'shop.example.com',
		'server.port', '443', 'network.protocol.version', '1.1', 'user_agent.original', 'Mozilla/5.0 (X11; Linux x86_64)', 'thread.id', toString(number %% 16)),
		'Map(LowCardinality(String), String)') AS SpanAttributes
	FROM numbers(65000)`

// BenchmarkInsert posts Native blocks of 65k spans (the engine makes one block of them) with 18 attributes each. It reports the
// engine's CPU time, including merges, with and without fsync after each insert.
func BenchmarkInsert(b *testing.B) {
	const rows = 65_000
	for _, fsync := range []int{0, 1} {
		b.Run(fmt.Sprintf("fsync=%d", fsync), func(b *testing.B) {
			e := warehousetest.NewEngine(b)
			for _, table := range []string{"spans", "service_minutes", "trace_roots"} {
				if err := e.Exec(b.Context(), fmt.Sprintf("ALTER TABLE %s MODIFY SETTING fsync_after_insert = %d, fsync_part_directory = %d",
					table, fsync, fsync)); err != nil {
					b.Fatal(err)
				}
			}
			var bodies [][]byte
			for i := range 4 {
				var body bytes.Buffer
				if err := e.RawQuery(b.Context(), fmt.Sprintf(benchSpans, fmt.Sprintf("t%d-", i)), "Native", &body); err != nil {
					b.Fatal(err)
				}
				bodies = append(bodies, body.Bytes())
			}
			var columns bytes.Buffer
			if err := e.RawQuery(b.Context(), fmt.Sprintf(benchSpans, "")+" LIMIT 0", "TSVWithNames", &columns); err != nil {
				b.Fatal(err)
			}
			names := strings.ReplaceAll(strings.TrimSpace(columns.String()), "\t", ", ")
			before, _ := procNumbers(b, e.Supervisor.Pid())
			n, wall := 0, time.Now()
			for b.Loop() {
				if err := e.Insert(b.Context(), "spans", names, bytes.NewReader(bodies[n%len(bodies)]), fmt.Sprintf("bench/%d", n)); err != nil {
					b.Fatal(err)
				}
				n++
			}
			elapsed := time.Since(wall)
			after, rss := procNumbers(b, e.Supervisor.Pid())
			total := float64(n * rows)
			b.ReportMetric(float64((after-before).Microseconds())/total, "cpu-µs/row")
			b.ReportMetric(total/elapsed.Seconds(), "rows/s")
			b.ReportMetric(float64(rss)/(1<<20), "rss-MiB")
			var size bytes.Buffer
			if err := e.RawQuery(b.Context(), "SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE database = currentDatabase() AND "+
				"table = 'spans' AND active", "TSV", &size); err != nil {
				b.Fatal(err)
			}
			perRow, err := strconv.ParseFloat(strings.TrimSpace(size.String()), 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(perRow, "disk-B/row")
			b.ReportMetric(0, "ns/op")
		})
	}
}
