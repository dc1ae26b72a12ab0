package servicemap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/callhours"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

type span struct {
	trace, id, parent, service, environment, kind string
	at                                            time.Time
	duration                                      time.Duration
	failed                                        bool
	rate                                          float64
	attributes                                    map[string]string
}

func insert(t testing.TB, w *warehouse.Warehouse, org principal.OrgID, spans ...span) {
	t.Helper()
	var rows [][]any
	for _, s := range spans {
		if s.attributes == nil {
			s.attributes = map[string]string{}
		}
		entry := s.parent == "" || s.kind == "Server" || s.kind == "Consumer"
		rows = append(rows, []any{
			string(org), s.at, s.trace, s.id, s.parent, s.service, s.environment, s.kind, uint64(s.duration), s.failed, entry, max(s.rate, 1),
			s.attributes,
		})
	}
	columns := strings.Fields("OrgId Timestamp TraceId SpanId ParentSpanId ServiceName Environment SpanKind DurationNano HasError IsEntry " +
		"SampleRate SpanAttributes")
	if err := w.InsertRows(t.Context(), "spans", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, w *warehouse.Warehouse, org principal.OrgID, req *svcv2.GetServiceMapRequest) *svcv2.ServiceMap {
	t.Helper()
	if req.StartTime == nil {
		req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(3*time.Hour))
	}
	m, err := New(w, query.AllRollups(), time.Now).GetServiceMap(warehousetest.As(t.Context(), org), req)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func nodes(m *svcv2.ServiceMap) []string {
	var out []string
	for _, n := range m.GetNodes() {
		out = append(out, n.GetId())
	}
	return out
}

func edges(m *svcv2.ServiceMap) []string {
	var out []string
	for _, e := range m.GetEdges() {
		out = append(out, e.GetSourceService()+">"+e.GetTargetService())
	}
	for _, e := range m.GetPeerEdges() {
		out = append(out, e.GetSource()+">"+e.GetTarget())
	}
	slices.Sort(out)
	return out
}

func TestMap(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_map"
	at := warehousetest.Noon().Add(time.Hour)
	a := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	insert(t, w, org,
		span{trace: "t1", id: "01", service: "web", environment: "prod", kind: "Server", at: at, duration: time.Second},
		span{
			trace: "t1", id: "02", parent: "01", service: "web", environment: "prod", kind: "Client", at: at, duration: 40 * time.Millisecond,
			attributes: a("server.address", "cart"),
		},
		span{
			trace: "t1", id: "03", parent: "02", service: "cart", environment: "prod", kind: "Server", at: at,
			duration: 30 * time.Millisecond, rate: 4, failed: true,
		},
		// A second try has the same parent.
		span{
			trace: "t1", id: "04", parent: "02", service: "cart", environment: "prod", kind: "Server", at: at.Add(time.Second),
			duration: 10 * time.Millisecond, rate: 2,
		},
		// Internal parents and the service itself do not count as calls.
		span{trace: "t1", id: "05", parent: "01", service: "cart", kind: "Server", at: at},
		span{trace: "t1", id: "06", parent: "04", service: "cart", kind: "Client", at: at, attributes: a("db.system", "redis")},
		span{trace: "t1", id: "07", parent: "06", service: "cart", kind: "Server", at: at},
		// The same span ids in another trace.
		span{trace: "t2", id: "03", parent: "02", service: "other", kind: "Server", at: at},
		span{
			trace: "t3", id: "01", service: "cart", environment: "prod", kind: "Client", at: at, duration: 5 * time.Millisecond, rate: 3,
			attributes: a("db.system.name", "postgresql", "db.namespace", "orders", "server.address", "pg-1"),
		},
		span{
			trace: "t3", id: "02", service: "cart", environment: "staging", kind: "Client", at: at, duration: 5 * time.Millisecond,
			failed: true, attributes: a("db.system", "postgresql", "db.name", "orders"),
		},
		span{
			trace: "t3", id: "03", service: "cart", kind: "Producer", at: at,
			attributes: a("messaging.system", "kafka", "messaging.destination.name", "orders"),
		},
		span{
			trace: "t4", id: "01", service: "mailer", kind: "Consumer", at: at,
			attributes: a("messaging.system", "kafka", "messaging.destination.name", "orders"),
		},
		span{
			trace: "t5", id: "01", service: "cart", kind: "Client", at: at,
			attributes: a("http.request.method", "POST", "server.address", "api.pay.example"),
		},
		span{trace: "t5", id: "02", service: "cart", kind: "Client", at: at, attributes: a("url.full", "https://hooks.example:8443/x")},
		span{
			trace: "t5", id: "03", service: "cart", kind: "Client", at: at,
			attributes: a("rpc.system", "grpc", "rpc.service", "geo.v1.Geo", "server.address", "geo.example"),
		},
		span{trace: "t5", id: "04", service: "cart", kind: "Client", at: at, attributes: a("server.address", "mailer.shop.svc.cluster.local")},
		span{trace: "t5", id: "05", service: "cart", kind: "Client", at: at, attributes: a("x", "no address at all")},
		span{trace: "t6", id: "01", service: "alone", kind: "Server", at: at, rate: 2, failed: true, duration: 7 * time.Millisecond},
		span{trace: "t7", id: "01", service: "before", kind: "Server", at: warehousetest.Noon().Add(-time.Hour)},
		// The caller began before the window, and after it.
		span{trace: "t8", id: "01", service: "queue-in", kind: "Producer", at: warehousetest.Noon().Add(-30 * time.Minute)},
		span{trace: "t8", id: "02", parent: "01", service: "mailer", kind: "Consumer", at: warehousetest.Noon().Add(time.Minute)},
		span{trace: "t9", id: "01", service: "web", kind: "Client", at: warehousetest.Noon().Add(3 * time.Hour)},
		span{trace: "t9", id: "02", parent: "01", service: "cart", kind: "Server", at: warehousetest.Noon().Add(3*time.Hour + time.Minute)},
	)
	insert(t, w, "org_map_other",
		span{trace: "t1", id: "02", service: "foreign", kind: "Client", at: at}, span{
			trace: "t1", id: "08", parent: "02", service: "foreign2", kind: "Server", at: at,
		})
	m := get(t, w, org, &svcv2.GetServiceMapRequest{})
	want := []string{
		"queue-in>mailer", "queue:kafka:orders>service:mailer", "service:cart>database:postgresql:orders", "service:cart>database:redis:",
		"service:cart>external:grpc:geo.v1.Geo", "service:cart>external:http:api.pay.example", "service:cart>external:http:hooks.example",
		"service:cart>queue:kafka:orders", "web>cart",
	}
	if diff := cmp.Diff(want, edges(m)); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	wantNodes := []string{
		"service:alone", "service:cart", "service:mailer", "service:other", "service:queue-in", "service:web", "database:postgresql:orders",
		"database:redis:",
		"queue:kafka:orders", "external:grpc:geo.v1.Geo", "external:http:api.pay.example", "external:http:hooks.example",
	}
	if diff := cmp.Diff(wantNodes, nodes(m)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	near := cmpopts.EquateApprox(0, 1e-6)
	edge := &svcv2.ServiceMapEdge{
		Object: "service_map.edge", SourceService: "web", TargetService: "cart", CallCount: 2, EstimatedCallCount: 6, ErrorCount: 1,
		ErrorRate: 4.0 / 6, AvgDurationMs: (4*30.0 + 2*10) / 6, MaxDurationMs: 30, HasSampling: true, SamplingWeight: 3,
	}
	if diff := cmp.Diff(edge, m.GetEdges()[0], protocmp.Transform(), near); diff != "" {
		t.Errorf("edge (-want +got):\n%s", diff)
	}
	for _, n := range m.GetNodes() {
		switch n.GetId() {
		case "service:alone":
			if n.GetEstimatedSpanCount() != 2 || n.GetErrorRate() != 1 || math.Abs(n.GetP95LatencyMs()-7) > 1e-6 {
				t.Errorf("the lonely service: %v", n)
			}
		case "database:postgresql:orders":
			if n.GetEstimatedSpanCount() != 4 || n.GetErrorRate() != 0.25 || n.P95LatencyMs != nil {
				t.Errorf("the database: %v", n)
			}
		}
	}
	of := get(t, w, org, &svcv2.GetServiceMapRequest{ServiceName: new("mailer")})
	if diff := cmp.Diff([]string{"queue-in>mailer", "queue:kafka:orders>service:mailer"}, edges(of)); diff != "" {
		t.Errorf("of one service (-want +got):\n%s", diff)
	}
	lonely := get(t, w, org, &svcv2.GetServiceMapRequest{ServiceName: new("alone")})
	if diff := cmp.Diff([]string{"service:alone"}, nodes(lonely)); diff != "" || len(edges(lonely)) > 0 {
		t.Errorf("of a service without calls: %v\n%s", edges(lonely), diff)
	}
	staging := get(t, w, org, &svcv2.GetServiceMapRequest{DeploymentEnvironment: new("staging")})
	if diff := cmp.Diff([]string{"service:cart>database:postgresql:orders"}, edges(staging)); diff != "" {
		t.Errorf("of an environment (-want +got):\n%s", diff)
	}
	for _, n := range staging.GetNodes() {
		if n.GetEstimatedSpanCount() != 1 || n.GetErrorRate() != 1 {
			t.Errorf("in an environment: %v", n)
		}
	}
	both := get(t, w, org, &svcv2.GetServiceMapRequest{DeploymentEnvironment: new("staging"), ServiceName: new("alone")})
	if len(both.GetNodes()) > 0 {
		t.Errorf("a service of another environment: %v", both)
	}
	if empty := get(t, w, "org_nobody", &svcv2.GetServiceMapRequest{}); len(empty.GetNodes())+len(edges(empty)) > 0 {
		t.Errorf("an organization without data sees %v", empty)
	}
}

// The traces are random, sampled, spread over several hours, and have deep call trees. Every edge agrees with the generator's
// count.
func TestEdgesAgree(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_map_random"
	r := rand.New(rand.NewPCG(7, 11))
	services := []string{"a", "b", "c", "d", "e"}
	type stats struct{ calls, estimated, failed, failedEstimated, nano, longest float64 }
	want := map[string]*stats{}
	var spans []span
	start, end := warehousetest.Noon(), warehousetest.Noon().Add(5*time.Hour)
	for n := range 800 {
		trace, id := fmt.Sprintf("%032x", n), 0
		rate := []float64{1, 1, 2.5, 10}[r.IntN(4)]
		at := start.Add(-30*time.Minute + time.Duration(r.Int64N(int64(6*time.Hour))))
		var call func(parent, service string, depth int, at time.Time)
		next := func() string { id++; return fmt.Sprintf("%016x", id) }
		call = func(parent, service string, depth int, at time.Time) {
			for range r.IntN(4) {
				client := next()
				kind := []string{"Client", "Producer", "Internal"}[r.IntN(3)]
				at = at.Add(time.Duration(r.Int64N(int64(time.Minute))))
				spans = append(spans, span{trace: trace, id: client, parent: parent, service: service, kind: kind, at: at, rate: rate})
				for range 1 + r.IntN(2) {
					target := services[r.IntN(len(services))]
					s := span{
						trace: trace, id: next(), parent: client, service: target, kind: []string{"Server", "Consumer", "Internal"}[r.IntN(3)], rate: rate,
						at: at.Add(time.Duration(r.Int64N(int64(10 * time.Minute)))), duration: time.Duration(r.Int64N(1e9)), failed: r.IntN(5) == 0,
					}
					spans = append(spans, s)
					if kind != "Internal" && s.kind != "Internal" && target != service && !s.at.Before(start) && !s.at.After(end) {
						key := service + ">" + target
						if want[key] == nil {
							want[key] = &stats{}
						}
						e := want[key]
						e.calls, e.estimated, e.nano, e.longest = e.calls+1, e.estimated+rate, e.nano+rate*float64(s.duration), max(e.longest,
							float64(s.duration))
						if s.failed {
							e.failed, e.failedEstimated = e.failed+1, e.failedEstimated+rate
						}
					}
					if depth < 3 {
						call(s.id, target, depth+1, s.at)
					}
				}
			}
		}
		call("", services[r.IntN(len(services))], 0, at)
	}
	r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
	insert(t, w, org, spans...)
	window := &svcv2.GetServiceMapRequest{StartTime: timestamppb.New(start), EndTime: timestamppb.New(end)}
	m := get(t, w, org, window)
	// The same map from the hours that the worker counts.
	counter := callhours.NewCounter(callhours.Config{
		Organizations: one(org), Warehouse: w, Into: w, Turn: callhours.NewTurn(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}, func(principal.OrgID) bool { return true })
	if _, err := counter.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	joins := 0
	counted, err := New(counting{w, &joins}, query.AllRollups(), time.Now).GetServiceMap(warehousetest.As(t.Context(), org), window)
	if diff := cmp.Diff(m, counted, protocmp.Transform(), cmpopts.EquateApprox(1e-9, 0)); diff != "" || err != nil || joins != 1 {
		t.Errorf("after the count: %v, %d joins, want 1 for the last instant; -before +after:\n%s", err, joins, diff)
	}
	if len(m.GetEdges()) != len(want) || len(want) < 10 {
		t.Errorf("%d edges, want %d", len(m.GetEdges()), len(want))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
	for _, e := range m.GetEdges() {
		x := want[e.GetSourceService()+">"+e.GetTargetService()]
		if x == nil {
			t.Errorf("%v was never called", e)
			continue
		}
		if e.GetCallCount() != x.calls || !near(e.GetEstimatedCallCount(), x.estimated) || e.GetErrorCount() != x.failed ||
			!near(e.GetErrorRate(), x.failedEstimated/x.estimated) || !near(e.GetAvgDurationMs(), x.nano/x.estimated/1e6) ||
			!near(e.GetMaxDurationMs(), x.longest/1e6) {
			t.Errorf("%v, want %+v", e, *x)
		}
	}
}

// one is the organization of an installation.
type one principal.OrgID

func (o one) OrganizationIDs(context.Context) ([]principal.OrgID, error) {
	return []principal.OrgID{principal.OrgID(o)}, nil
}

func (one) DeletedOrganizations(context.Context, []principal.OrgID) ([]principal.OrgID, error) {
	return nil, nil
}

// counting counts the reads of calls.
type counting struct {
	*warehouse.Warehouse
	joins *int
}

func (c counting) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	if strings.Contains(sql, "JOIN") {
		*c.joins++
	}
	return c.Warehouse.Query(ctx, org, sql, args...)
}

// A second read of a map reads only the ends of its window, until the cached blocks expire. Each organization and environment has
// its own blocks.
func TestBlocksAreKept(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_map_blocks"
	day := warehousetest.Noon().Truncate(24 * time.Hour)
	var spans []span
	for h := range 48 { // two calls an hour
		at := day.Add(time.Duration(h)*30*time.Minute + 10*time.Minute)
		spans = append(spans, span{trace: fmt.Sprint(h), id: "1", service: "a", kind: "Client", at: at}, span{
			trace: fmt.Sprint(h), id: "2", parent: "1", service: "b", kind: "Server", at: at.Add(time.Second),
		})
	}
	insert(t, w, org, spans...)
	joins, now := 0, time.Now()
	s := New(counting{w, &joins}, query.Rollups{}, func() time.Time { return now })
	ask := func(org principal.OrgID, environment *string, from, to time.Time, calls float64, reads int) {
		t.Helper()
		joins = 0
		m, err := s.GetServiceMap(warehousetest.As(t.Context(), org), &svcv2.GetServiceMapRequest{
			StartTime: timestamppb.New(from), EndTime: timestamppb.New(to), DeploymentEnvironment: environment,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for _, e := range m.GetEdges() {
			got += e.GetCallCount()
		}
		if got != calls || joins != reads {
			t.Errorf("%v calls in %d reads, want %v in %d", got, joins, calls, reads)
		}
	}
	from, to := day.Add(30*time.Minute), day.Add(23*time.Hour+30*time.Minute)
	ask(org, nil, from, to, 46, 4)
	ask(org, nil, from, to, 46, 2)
	ask(org, nil, from.Add(time.Hour), to, 44, 2)
	ask(org, new("prod"), from, to, 0, 4)
	ask(org+"_other", nil, from, to, 0, 0)
	now = now.Add(keepFor + time.Second)
	ask(org, nil, from, to, 46, 4)
	now = day.Add(18*time.Hour + limits.CallHourSettled + time.Second) // the block from 12 to 18 is settled by now
	s.blocks = newBlocks(s.blocks.now)
	ask(org, nil, from, to, 46, 4)
	ask(org, nil, from, to, 46, 2)
	s.blocks, now = newBlocks(s.blocks.now), day.Add(18*time.Hour+limits.CallHourSettled-time.Second)
	ask(org, nil, from, to, 46, 4)
	ask(org, nil, from, to, 46, 3)
}

func TestRefuses(t *testing.T) {
	start, end := timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	for name, tc := range map[string]struct {
		req   *svcv2.GetServiceMapRequest
		tag   apierr.Tag
		param string
	}{
		"no end": {&svcv2.GetServiceMapRequest{StartTime: start}, apierr.ParameterMissing, "end_time"},
		"same":   {&svcv2.GetServiceMapRequest{StartTime: start, EndTime: start}, apierr.TimeRangeInvalid, "end_time"},
		"too long": {
			&svcv2.GetServiceMapRequest{StartTime: timestamppb.New(warehousetest.Noon().AddDate(-1, 0, -2)), EndTime: end},
			apierr.TelemetryRangeTooLarge, "start_time",
		},
	} {
		_, err := New(nil, query.Rollups{}, time.Now).GetServiceMap(warehousetest.As(t.Context(), "org_a"), tc.req)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tc.tag || e.Param != tc.param {
			t.Errorf("%s: error %v, want %v on %s", name, err, tc.tag, tc.param)
		}
	}
}
