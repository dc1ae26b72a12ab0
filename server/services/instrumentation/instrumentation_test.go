package instrumentation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// insert puts one row with the named columns into a table. All other columns have their defaults.
func insert(t *testing.T, w *warehouse.Warehouse, table string, columns []string, rows ...[]any) {
	t.Helper()
	if err := w.InsertRows(t.Context(), table, columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}

func TestGetTelemetrySignals(t *testing.T) {
	w := warehousetest.Shared(t)
	now := time.Now().UTC().Truncate(time.Minute).Add(30 * time.Second)
	s := New(nil, w, slog.New(slog.DiscardHandler), func() time.Time { return now })
	const org, other = "org_signals", "org_signals_other"
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	day := 24 * time.Hour

	insert(t, w, "spans", []string{"OrgId", "Timestamp", "TraceId", "ServiceName"},
		[]any{org, ago(3 * day), "a", "web"}, []any{org, ago(time.Hour), "a", "web"}, []any{org, ago(2 * day), "b", "db"},
		[]any{other, ago(day), "a", "web"})
	insert(t, w, "logs", []string{"OrgId", "Timestamp", "ServiceName", "Body"},
		[]any{org, ago(day), "web", "x"}, []any{org, ago(time.Minute), "web", "y"}, []any{org, ago(-time.Hour), "web", "in the future"})
	insert(t, w, "metric_catalog", []string{"OrgId", "Hour", "MetricName", "DataPointCount", "FirstSeen", "LastSeen"},
		[]any{org, ago(5 * day).Truncate(time.Hour), "m", uint64(7), ago(5 * day), ago(5*day - time.Second)},
		[]any{org, ago(4 * day).Truncate(time.Hour), "n", uint64(3), ago(4 * day), ago(4*day - time.Second)},
		[]any{org, ago(40 * day).Truncate(time.Hour), "n", uint64(100), ago(40 * day), ago(40 * day)})
	insert(t, w, "session_replays", []string{"OrgId", "SessionId", "Version", "StartTime"},
		[]any{org, "s1", uint32(1), ago(6 * day)}, []any{org, "s1", uint32(2), ago(6 * day)}, []any{org, "s2", uint32(1), ago(day)})
	insert(t, w, "product_events", []string{"OrgId", "Name", "Timestamp", "ServiceName"},
		[]any{"org_signals_events", "paid", ago(day), "shop"})

	ts := timestamppb.New
	of := func(name string, signals ...*svcv2.TelemetrySignal) *svcv2.ServiceSignals {
		return &svcv2.ServiceSignals{Object: "service_telemetry_signals", Name: name, Signals: signals}
	}
	want := func(services []*svcv2.ServiceSignals, signals ...*svcv2.TelemetrySignal) *svcv2.TelemetrySignals {
		return &svcv2.TelemetrySignals{
			Object: "telemetry_signals", GeneratedAt: ts(now), WindowStart: ts(ago(30 * day)), WindowEnd: ts(now), WarehouseAvailable: true,
			Signals: signals, Services: services, ServiceCount: int32(len(services)),
		}
	}
	has := func(name string, count float64, first, last time.Time) *svcv2.TelemetrySignal {
		return &svcv2.TelemetrySignal{
			Object: "telemetry_signal", Signal: name, Status: "present", Count: &count, FirstSeen: ts(first), LastSeen: ts(last),
		}
	}
	lacks := func(name string) *svcv2.TelemetrySignal {
		zero := 0.0
		return &svcv2.TelemetrySignal{Object: "telemetry_signal", Signal: name, Status: "absent", Count: &zero}
	}
	for _, c := range []struct {
		org  principal.OrgID
		want *svcv2.TelemetrySignals
	}{
		{org, want(
			[]*svcv2.ServiceSignals{
				of("web", has("traces", 2, ago(3*day).Truncate(time.Minute), ago(time.Hour).Truncate(time.Minute)),
					has("logs", 2, ago(day), ago(time.Minute)), lacks("metrics"), lacks("sessions"), lacks("product_events")),
				of("db", has("traces", 1, ago(2*day).Truncate(time.Minute), ago(2*day).Truncate(time.Minute)), lacks("logs"), lacks("metrics"),
					lacks("sessions"), lacks("product_events")),
			},
			has("traces", 3, ago(3*day).Truncate(time.Minute), ago(time.Hour).Truncate(time.Minute)), has("logs", 2, ago(day), ago(time.Minute)),
			has("metrics", 10, ago(5*day), ago(4*day-time.Second)), has("sessions", 2, ago(6*day), ago(day)), lacks("product_events"),
		)},
		{other, want(
			[]*svcv2.ServiceSignals{of("web", has("traces", 1, ago(day).Truncate(time.Minute), ago(day).Truncate(time.Minute)), lacks("logs"),
				lacks("metrics"), lacks("sessions"), lacks("product_events"))},
			has("traces", 1, ago(day).Truncate(time.Minute), ago(day).Truncate(time.Minute)), lacks("logs"), lacks("metrics"), lacks("sessions"),
			lacks("product_events"),
		)},
		{"org_signals_events", want(
			[]*svcv2.ServiceSignals{of("shop", lacks("traces"), lacks("logs"), lacks("metrics"), lacks("sessions"),
				has("product_events", 1, ago(day), ago(day)))},
			lacks("traces"), lacks("logs"), lacks("metrics"), lacks("sessions"), has("product_events", 1, ago(day), ago(day)),
		)},
		{"org_signals_none", want(nil, lacks("traces"), lacks("logs"), lacks("metrics"), lacks("sessions"), lacks("product_events"))},
	} {
		got, err := s.GetTelemetrySignals(warehousetest.As(t.Context(), c.org), &svcv2.GetTelemetrySignalsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.org, diff)
		}
	}
}

// down is a telemetry store that does not answer.
type down struct{ read.Warehouse }

func (down) Query(context.Context, principal.OrgID, string, ...warehouse.Arg) (*warehouse.Rows, error) {
	return nil, warehouse.ErrUnavailable
}

// TestSignalsOfManyServices: the answer has the busiest services and says how many there are.
func TestSignalsOfManyServices(t *testing.T) {
	w := warehousetest.Shared(t)
	now := time.Now().UTC()
	s := New(nil, w, slog.New(slog.DiscardHandler), func() time.Time { return now })
	const org, all = "org_signals_many", limits.SignalServices + 7
	var spans, logs [][]any
	for i := range all {
		name := fmt.Sprintf("service-%03d", i)
		logs = append(logs, []any{org, now.Add(-time.Hour), name, "x"})
		if i >= 7 {
			spans = append(spans, []any{org, now.Add(-time.Hour), "a", name})
		}
	}
	insert(t, w, "spans", []string{"OrgId", "Timestamp", "TraceId", "ServiceName"}, spans...)
	insert(t, w, "logs", []string{"OrgId", "Timestamp", "ServiceName", "Body"}, logs...)
	got, err := s.GetTelemetrySignals(warehousetest.As(t.Context(), org), &svcv2.GetTelemetrySignalsRequest{})
	if err != nil || got.GetServiceCount() != all || len(got.GetServices()) != limits.SignalServices {
		t.Fatalf("%d services of %d, %v", len(got.GetServices()), got.GetServiceCount(), err)
	}
	for i, one := range got.GetServices() {
		if name := fmt.Sprintf("service-%03d", i+7); one.GetName() != name || one.GetSignals()[0].GetCount() != 1 ||
			one.GetSignals()[1].GetCount() != 1 {
			t.Fatalf("service %d: %v", i, one)
		}
	}
}

func TestSignalsWithoutTheStore(t *testing.T) {
	s := New(nil, down{}, slog.New(slog.DiscardHandler), time.Now)
	got, err := s.GetTelemetrySignals(warehousetest.As(t.Context(), "org_a"), &svcv2.GetTelemetrySignalsRequest{})
	if err != nil || got.GetWarehouseAvailable() || len(got.GetSignals()) != 5 || len(got.GetServices()) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
	for _, signal := range got.GetSignals() {
		if signal.GetStatus() != unknown || signal.Count != nil || signal.FirstSeen != nil || signal.LastSeen != nil {
			t.Errorf("%v", signal)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.GetTelemetrySignals(warehousetest.As(gone, "org_a"), &svcv2.GetTelemetrySignalsRequest{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
}

// TestSendersOfOldNames: if one service sends a name beside its replacement, that says nothing about services that send only the
// old name.
func TestSendersOfOldNames(t *testing.T) {
	w := warehousetest.Shared(t)
	now := time.Now().UTC()
	s := New(nil, w, slog.New(slog.DiscardHandler), func() time.Time { return now })
	const org = "org_senders"
	span := func(org, service string, keys ...string) []any {
		m := map[string]string{}
		for _, k := range keys {
			m[k] = "v"
		}
		return []any{org, now.Add(-time.Minute), "a", service, m}
	}
	insert(t, w, "spans", []string{"OrgId", "Timestamp", "TraceId", "ServiceName", "SpanAttributes"},
		span(org, "orders", "db.statement", "db.query.text"), span(org, "orders", "db.statement"), span(org, "reports", "db.statement"),
		span(org, "new", "db.query.text"),
		span(org, "web", "http.method"), span("org_senders_other", "foreign", "db.statement", "db.query.text"))
	uses := map[string]int64{"db.statement": 3, "db.query.text": 2, "http.method": 1, "http.url": 5}
	senders, err := s.senders(t.Context(), org, now, uses, map[string]bool{"http.url": true})
	if err != nil {
		t.Fatal(err)
	}
	want := []sender{
		{ServiceName: "orders", OldKey: "db.statement", Old: 2, New: 1, Both: 1},
		{ServiceName: "reports", OldKey: "db.statement", Old: 1},
		{ServiceName: "web", OldKey: "http.method", Old: 1},
	}
	if diff := cmp.Diff(want, senders); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	kinds := map[string]int64{}
	for _, f := range findings(uses, map[string]bool{"http.url": true}, senders) {
		kinds[f.Key] = f.Usage
	}
	if diff := cmp.Diff(map[string]int64{"dual:db.statement": 2, "rename:db.statement": 1, "rename:http.method": 1}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
