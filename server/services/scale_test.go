// Package services_test measures the reads of all services together on a large amount of data.
package services_test

import (
	"bytes"
	"context"
	"crypto/md5" // trace ids of made-up spans
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/callhours"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/services/catalog"
	"github.com/svc-observability/svc/server/services/environments"
	"github.com/svc-observability/svc/server/services/errorevents"
	"github.com/svc-observability/svc/server/services/logs"
	"github.com/svc-observability/svc/server/services/servicemap"
	"github.com/svc-observability/svc/server/services/traces"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// rowsVariable sets the number of spans, and of log records, for the measurements.
const rowsVariable = "SVC_BENCH_ROWS"

const org = "org_scale"

// scaleSpans are traces of eight spans over a day. A trace has four of 20 services, and a Client span of each calls the next.
const scaleSpans = `INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, ServiceNamespace, ServiceVersion, Environment,
	DurationNano, StatusCode, StatusMessage, HasError, IsEntry, HttpMethod, HttpRoute, HttpStatusCode, SampleRate, ResourceAttributes, SpanAttributes, EventsTimestamp, EventsName, EventsAttributes)
SELECT '` + org + `', fromUnixTimestamp64Nano(toInt64(%[1]d + intDiv(number, 8) * %[2]d + (number %% 8) * 1000000), 'UTC') AS At,
	lower(hex(MD5(toString(intDiv(number, 8))))), lower(leftPad(hex(number), 16, '0')), if(number %% 8 = 0, '', lower(leftPad(hex(number - 1), 16, '0'))),
	concat('operation ', toString(number %% 160)), if(number %% 2 = 0, 'Server', 'Client') AS Kind,
	concat('service-', toString((intDiv(number, 8) * 7 + intDiv(number %% 8, 2) * 3) %% 20)), 'shop', concat('1.', toString(intDiv(number, 2000000))), if(number %% 16 < 12, 'production', 'staging'),
	1000000 + cityHash64(number) %% 100000000, if(cityHash64(number) %% 100 = 0, 'Error', 'Unset') AS Status, if(Status = 'Error', concat('failed with ', toString(number)), ''),
	Status = 'Error', Kind = 'Server', 'GET', concat('/v1/things/', toString(number %% 40)), 200, 1,
	map('host.name', concat('host-', toString(number %% 10)), 'k8s.pod.name', concat('pod-', toString(number %% 100)), 'telemetry.sdk.language', 'go', 'os.type', 'linux'),
	map('url.path', concat('/v1/things/', toString(cityHash64(number) %% 100000)), 'client.address', concat('10.0.', toString(cityHash64(number, 1) %% 256), '.', toString(cityHash64(number, 2) %% 256)),
		'user.id', toString(cityHash64(number, 3) %% 50000), 'http.request.method', 'GET', 'server.address', 'shop.example.com', 'db.system', if(number %% 8 = 7, 'postgresql', ''), 'thread.id', toString(number %% 16)),
	if(Status = 'Error', [At], []), if(Status = 'Error', ['exception'], []),
	if(Status = 'Error', [map('exception.type', concat('Error', toString(number %% 7)), 'exception.message', 'failed', 'exception.stacktrace', 'at f (a.js:1:2)')], [])
FROM numbers(%[3]d, %[4]d)`

const scaleLogs = `INSERT INTO logs (OrgId, Timestamp, TraceId, SpanId, SeverityText, SeverityNumber, ServiceName, ServiceNamespace, Environment, Body, ResourceAttributes, LogAttributes)
SELECT '` + org + `', fromUnixTimestamp64Nano(toInt64(%[1]d + number * %[2]d), 'UTC'), lower(hex(MD5(toString(intDiv(number, 8))))), lower(leftPad(hex(number), 16, '0')),
	['INFO', 'INFO', 'WARN', 'ERROR'][number %% 4 + 1], [9, 9, 13, 17][number %% 4 + 1], concat('service-', toString(cityHash64(number) %% 20)), 'shop', 'production',
	concat('request ', toString(number), ' of user ', toString(cityHash64(number) %% 50000), ' served in ', toString(number %% 900), 'ms ', if(number %% 100000 = 77, 'payment declined', 'fine')),
	map('host.name', concat('host-', toString(number %% 10)), 'k8s.pod.name', concat('pod-', toString(number %% 100))), map('user.id', toString(cityHash64(number) %% 50000), 'n', toString(number))
FROM numbers(%[3]d, %[4]d)`

// BenchmarkScale fills a warehouse and runs each read. For each it reports the time (p50, p95), the engine's CPU time, and the
// rows and bytes that the engine read for it.
func BenchmarkScale(b *testing.B) {
	rows := 1_000_000
	if text := os.Getenv(rowsVariable); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	e := warehousetest.NewEngine(b)
	end := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	start := end.Add(-24 * time.Hour)
	const batch = 250_000
	for from := 0; from < rows; from += batch {
		for sql, step := range map[string]time.Duration{
			scaleSpans: 24 * time.Hour / time.Duration(rows/8+1),
			scaleLogs:  24 * time.Hour / time.Duration(rows+1),
		} {
			if err := e.Exec(b.Context(), fmt.Sprintf(sql, start.UnixNano(), step.Nanoseconds(), from, min(batch, rows-from))); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, table := range []string{"spans", "logs", "trace_roots", "service_minutes", "service_hours", "service_peers", "error_events"} {
		deadline := time.Now().Add(5 * time.Minute)
		for scalar(b, e, "SELECT count() FROM system.merges WHERE table = '"+table+"'") > 0 && time.Now().Before(deadline) {
			time.Sleep(200 * time.Millisecond)
		}
	}
	ctx := principal.WithResult(b.Context(), principal.Result{Principal: &principal.Principal{Org: org}})
	// Use the rollups as the server does, but not its cache.
	all := engine.New(engine.Config{Warehouse: e, Rollups: query.AllRollups()})
	tr, lg, sv, sm := traces.New(e, all), logs.New(e, all), catalog.New(e, query.AllRollups()), servicemap.New(e, query.AllRollups(), time.Now)
	groups := errorevents.New(e, all, nil, time.Now)
	from, to, hour := timestamppb.New(start), timestamppb.New(end), timestamppb.New(end.Add(-time.Hour))
	page := int32(50)
	traceID := fmt.Sprintf("%x", md5Of(rows/16))
	fingerprint := ""
	var counted sync.Once
	for _, read := range []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"traces, last 50", func(ctx context.Context) error {
			_, err := tr.SearchTraces(ctx, &svcv2.SearchTracesRequest{StartTime: from, EndTime: to, Limit: &page})
			return err
		}},
		{"traces, last 50 of a service", func(ctx context.Context) error {
			_, err := tr.SearchTraces(ctx, &svcv2.SearchTracesRequest{
				StartTime: from, EndTime: to, Limit: &page, Filters: &svcv2.TraceFilters{ServiceName: new("service-7")},
			})
			return err
		}},
		{"traces by an attribute", func(ctx context.Context) error {
			_, err := tr.SearchTraces(ctx, &svcv2.SearchTracesRequest{
				StartTime: from, EndTime: to, Limit: &page, Filters: &svcv2.TraceFilters{Attributes: equals("user.id", "4242")},
			})
			return err
		}},
		{"trace by id", func(ctx context.Context) error {
			_, err := tr.GetTrace(ctx, &svcv2.GetTraceRequest{TraceId: traceID})
			return err
		}},
		{"skeleton", func(ctx context.Context) error {
			_, err := tr.GetTraceSkeleton(ctx, &svcv2.GetTraceSkeletonRequest{TraceId: traceID})
			return err
		}},
		{"trace facets, 24 h", func(ctx context.Context) error {
			_, err := tr.SearchTraceFacets(ctx, &svcv2.SearchTraceFacetsRequest{StartTime: from, EndTime: to})
			return err
		}},
		{"logs, last 50", func(ctx context.Context) error {
			_, err := lg.SearchLogs(ctx, &svcv2.SearchLogsRequest{StartTime: from, EndTime: to, Limit: &page})
			return err
		}},
		{"logs, last 50 of a service", func(ctx context.Context) error {
			_, err := lg.SearchLogs(ctx, &svcv2.SearchLogsRequest{
				StartTime: from, EndTime: to, Limit: &page, Filters: &svcv2.LogFilters{ServiceName: new("service-7")},
			})
			return err
		}},
		{"logs by words of the body", func(ctx context.Context) error {
			_, err := lg.SearchLogs(ctx, &svcv2.SearchLogsRequest{
				StartTime: from, EndTime: to, Limit: &page, Filters: &svcv2.LogFilters{BodySearch: new(" payment declined")},
			})
			return err
		}},
		{"log facets, 24 h", func(ctx context.Context) error {
			_, err := lg.SearchLogFacets(ctx, &svcv2.SearchLogFacetsRequest{StartTime: from, EndTime: to})
			return err
		}},
		{"log patterns, 24 h", func(ctx context.Context) error {
			_, err := lg.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{StartTime: from, EndTime: to, Baseline: new("none")})
			return err
		}},
		{"services, 24 h", func(ctx context.Context) error {
			_, err := sv.ListServices(ctx, &svcv2.ListServicesRequest{StartTime: from, EndTime: to})
			return err
		}},
		{"service overview, 24 h", func(ctx context.Context) error {
			_, err := sv.GetServiceOverview(ctx, &svcv2.GetServiceOverviewRequest{Name: "service-7", StartTime: from, EndTime: to})
			return err
		}},
		{"operations of a service, 24 h", func(ctx context.Context) error {
			_, err := sv.ListServiceOperations(ctx, &svcv2.ListServiceOperationsRequest{Name: "service-7", StartTime: from, EndTime: to})
			return err
		}},
		{"Apdex of a service, 24 h", func(ctx context.Context) error {
			_, err := sv.GetServiceApdex(ctx, &svcv2.GetServiceApdexRequest{Name: "service-7", StartTime: from, EndTime: to})
			return err
		}},
		{"service map, 1 h", func(ctx context.Context) error {
			_, err := sm.GetServiceMap(ctx, &svcv2.GetServiceMapRequest{StartTime: hour, EndTime: to})
			return err
		}},
		{"service map, 24 h", func(ctx context.Context) error {
			_, err := sm.GetServiceMap(ctx, &svcv2.GetServiceMapRequest{StartTime: from, EndTime: to})
			return err
		}},
		{"service map, 24 h, the first time, hours not counted", firstMap(e, from, to)},
		{"service map, 24 h, the first time, hours counted", func(ctx context.Context) error {
			counted.Do(func() { countCalls(b, e) })
			return firstMap(e, from, to)(ctx)
		}},
		{"environments, 24 h", func(ctx context.Context) error {
			_, err := environments.New(e).ListEnvironments(ctx, &svcv2.ListEnvironmentsRequest{StartTime: from, EndTime: to})
			return err
		}},
		{"error groups, 24 h", func(ctx context.Context) error {
			res, err := groups.SearchErrorEvents(ctx, &svcv2.SearchErrorEventsRequest{StartTime: from, EndTime: to})
			if err == nil && len(res.GetData()) > 0 {
				fingerprint = res.GetData()[0].GetFingerprintHash()
			}
			return err
		}},
		{"error group", func(ctx context.Context) error {
			_, err := groups.GetErrorEvent(ctx,
				&svcv2.GetErrorEventRequest{Fingerprint: fingerprint, StartTime: from, EndTime: to})
			return err
		}},
	} {
		b.Run(read.name, func(b *testing.B) {
			const times = 40
			for b.Loop() {
				var took []time.Duration
				cpu, selected, bytesRead := engineCPU(b, e), event(b, e, "SelectedRows"), event(b, e, "SelectedBytes")
				for range times {
					begun := time.Now()
					if err := read.do(ctx); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(begun))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[times/2].Microseconds())/1e3, "p50-ms")
				b.ReportMetric(float64(took[times*95/100-1].Microseconds())/1e3, "p95-ms")
				b.ReportMetric(float64(took[times-1].Microseconds())/1e3, "max-ms")
				b.ReportMetric(float64((engineCPU(b, e)-cpu).Microseconds())/1e3/times, "engine-cpu-ms")
				b.ReportMetric((event(b, e, "SelectedRows")-selected)/times, "rows-read")
				b.ReportMetric((event(b, e, "SelectedBytes")-bytesRead)/times/1e6, "MB-read")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// firstMap reads a map without anything in a cache.
func firstMap(e *warehousetest.Engine, from, to *timestamppb.Timestamp) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := servicemap.New(e, query.AllRollups(), time.Now).GetServiceMap(ctx, &svcv2.GetServiceMapRequest{StartTime: from, EndTime: to})
		return err
	}
}

// countCalls does the work of the worker that counts the calls of each hour.
func countCalls(b *testing.B, e *warehousetest.Engine) {
	b.Helper()
	c := callhours.NewCounter(callhours.Config{
		Organizations: installation{}, Warehouse: e, Into: e, Turn: callhours.NewTurn(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}, func(principal.OrgID) bool { return true })
	begun, cpu := time.Now(), engineCPU(b, e)
	for range 2 {
		if _, err := c.Step(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("the calls of a day are counted in %s, %s of the engine's CPU", time.Since(begun), engineCPU(b, e)-cpu)
}

type installation struct{}

func (installation) OrganizationIDs(context.Context) ([]principal.OrgID, error) {
	return []principal.OrgID{org}, nil
}

func (installation) DeletedOrganizations(context.Context, []principal.OrgID) ([]principal.OrgID, error) {
	return nil, nil
}

func equals(key, value string) []*svcv2.AttributeFilter {
	return []*svcv2.AttributeFilter{{Key: key, Operator: "equals", Value: structpb.NewStringValue(value)}}
}

func md5Of(n int) [md5.Size]byte {
	return md5.Sum([]byte(strconv.Itoa(n))) // the rows above use the same hash for their trace ids
}

func scalar(b *testing.B, e *warehousetest.Engine, sql string) float64 {
	b.Helper()
	var out bytes.Buffer
	if err := e.RawQuery(b.Context(), sql, "TSV", &out); err != nil {
		b.Fatal(err)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func event(b *testing.B, e *warehousetest.Engine, name string) float64 {
	return scalar(b, e, "SELECT sum(value) FROM system.events WHERE event = '"+name+"'")
}

func engineCPU(b *testing.B, e *warehousetest.Engine) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.Supervisor.Pid()))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks int64
	for _, i := range []int{11, 12} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on Linux
}

// BenchmarkViews posts blocks of spans. Half of them are Client spans, and a hundredth failed. It reports the engine's CPU time
// for each span, merges included, with and without the views of 0005_reads.sql.
func BenchmarkViews(b *testing.B) {
	const rows, inserts = 65_000, 12
	for _, without := range [][]string{nil, {"service_peers_view"}, {"service_peers_view", "error_events_view"}} {
		b.Run("without "+strings.Join(without, " "), func(b *testing.B) {
			e := warehousetest.NewEngine(b)
			for _, view := range without {
				if err := e.Exec(b.Context(), "DROP VIEW "+view); err != nil {
					b.Fatal(err)
				}
			}
			columns, values, _ := strings.Cut(strings.TrimPrefix(scaleSpans, "INSERT INTO spans "), "\nSELECT")
			var bodies [2][]byte
			for i := range bodies {
				sql := "SELECT" + fmt.Sprintf(values, time.Now().Add(-time.Hour).UnixNano(), 1000, i*rows, rows)
				var body bytes.Buffer
				if err := e.RawQuery(b.Context(), sql, "Native", &body); err != nil {
					b.Fatal(err)
				}
				bodies[i] = body.Bytes()
			}
			for b.Loop() {
				before := engineCPU(b, e)
				for n := range inserts {
					if err := e.Insert(b.Context(), "spans", strings.Trim(columns, "()"), bytes.NewReader(bodies[n%len(bodies)]), ""); err != nil {
						b.Fatal(err)
					}
				}
				for scalar(b, e, "SELECT count() FROM system.merges") > 0 {
					time.Sleep(100 * time.Millisecond)
				}
				b.ReportMetric(float64((engineCPU(b, e)-before).Microseconds())/rows/inserts, "engine-µs/span")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
