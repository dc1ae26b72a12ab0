package charts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/alerting/alertingtest"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// bench is an organization with telemetry, rules, and a worker that has evaluated them.
type bench struct {
	*alertingtest.Past

	t         *testing.T
	warehouse *warehouse.Warehouse
	org       principal.OrgID
	admin     principal.UserID
	end       time.Time
	charts    *Charts
	links     Links
	notices   []alerting.Notice
	fences    []store.Fence
}

func newBench(t *testing.T) *bench {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	made, err := st.CreateOrganization(t.Context(), store.NewOrganization{
		Name:  "Charts",
		Admin: &store.NewUser{Email: "a@example.com", Name: "A"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := seals(t, 1, SealPurpose)
	b := &bench{
		Past: alertingtest.NewPast(st), t: t,
		warehouse: warehousetest.Shared(t), org: made.Organization.ID, admin: made.Admin.ID,
		end:   time.Now().UTC().Add(-90 * time.Second).Truncate(time.Minute),
		links: Links{BaseURL: "https://svc.example.com", Seals: s, Now: time.Now},
	}
	reader := read.NewReader(read.Config{Warehouse: b.warehouse})
	source := alerting.NewSource(engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()}), reader, query.AllRollups())
	b.charts = New(Config{Store: st, Figures: source, Warehouse: reader, Seals: s, Now: time.Now})
	return b
}

// insert stores 100 minutes of spans. In each minute, every service has one more failure among its 10 spans than in the minute before,
// modulo 7.
func (b *bench) insert(services ...string) {
	b.t.Helper()
	columns := []string{
		"OrgId", "Timestamp", "ServiceName", "TraceId", "SpanId", "SpanName", "SampleRate", "HasError", "IsEntry",
		"DurationNano",
	}
	var rows [][]any
	for minute := range 100 {
		for s, service := range services {
			for n := range 10 {
				id := len(rows) + 1
				rows = append(rows, []any{
					string(b.org), b.end.Add(time.Duration(minute-100)*time.Minute + time.Duration(n)*time.Second), service,
					fmt.Sprintf("%032x", id), fmt.Sprintf("%016x", id), "op", 1.0, n < (minute+s)%7, true, uint64(10+minute) * 1e6,
				})
			}
		}
	}
	if err := b.warehouse.InsertRows(b.t.Context(), "spans", columns, rows, uuid.NewString()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) rule(r store.AlertRule) store.AlertRule {
	b.t.Helper()
	r.Enabled, r.Severity, r.ConsecutiveBreachesRequired, r.ConsecutiveHealthyRequired, r.RenotifyIntervalMinutes = true, "warning", 1, 5, 30
	out, _, err := b.CreateAlertRule(b.t.Context(), b.org, b.admin, r)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// evaluate lets a worker do everything that is due.
func (b *bench) evaluate() {
	b.t.Helper()
	w := alerting.NewWorker(alerting.Config{
		Store: b.Past, Source: b.charts.cfg.Figures, Logger: slog.New(slog.DiscardHandler),
		StoredThrough: func(context.Context) (store.IngestMark, bool, error) {
			return store.IngestMark{Through: time.Now()}, true, nil
		},
		Messages: func(_ context.Context, _ principal.OrgID, n []alerting.Notice) ([]store.NewDelivery, error) {
			b.notices = append(b.notices, n...)
			return nil, nil
		},
		Summary: func(alerting.Notice) string { return "" },
	})
	node := store.WorkNode{ID: uuid.New(), Kinds: []string{store.WorkAlerts}, Host: "test", Version: "v0"}
	if err := b.JoinWork(b.t.Context(), node); err != nil {
		b.t.Fatal(err)
	}
	var err error
	if b.fences, err = b.BeatWork(b.t.Context(), node); err != nil {
		b.t.Fatal(err)
	}
	for _, f := range b.fences {
		if _, err := w.Shard(f).Run(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// record moves the checks into the warehouse.
func (b *bench) record() {
	b.t.Helper()
	recorder := alerting.Recorder{Waiting: b.Store, Into: b.warehouse, Unreadable: func(_ store.AlertCheckBatch, err error) { b.t.Error(err) }}
	for _, f := range b.fences {
		if err := recorder.Record(b.t.Context(), f); err != nil {
			b.t.Fatal(err)
		}
	}
}

// chart resolves the address of a picture.
func (b *bench) chart(address string, err error) *svcv2.ChartPicture {
	b.t.Helper()
	if err != nil || address == "" {
		b.t.Fatalf("no address: %v", err)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(address, b.links.BaseURL+Path), ".png")
	_, read, err := b.charts.OpenAlert(b.t.Context(), text)
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := read(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// values are the points of a series by minute.
func values(s *svcv2.ChartPictureSeries) map[int64]float64 {
	out := map[int64]float64{}
	for _, p := range s.GetPoints() {
		out[int64(p.GetValues()[0].GetNumberValue())] = p.GetValues()[1].GetNumberValue()
	}
	return out
}

// compareWith holds a series against what the worker has compared. It returns the number of minutes that both have.
func (b *bench) compareWith(s *svcv2.ChartPictureSeries, rule, group string, until time.Time) (same int) {
	b.t.Helper()
	drawn := values(s)
	for _, c := range b.Checks {
		if c.RuleID != rule || c.GroupKey != group || c.At.After(until) {
			continue
		}
		got, ok := drawn[c.At.UnixMilli()]
		switch {
		case ok != (c.ObservedValue != nil):
			b.t.Errorf("%s at %s: drawn %t, the worker compared %v", group, c.At, ok, c.ObservedValue)
		case ok && fmt.Sprintf("%.9g", got) != fmt.Sprintf("%.9g", *c.ObservedValue):
			b.t.Errorf("%s at %s: %v, the worker compared %v", group, c.At, got, *c.ObservedValue)
		case ok:
			same++
		}
	}
	return same
}

// TestAlertCharts checks that the chart of each incident has the values that the worker compared, before and after the checks are in the
// warehouse, and those of earlier minutes, too. Later changes of the rule change nothing that was decided.
func TestAlertCharts(t *testing.T) {
	b := newBench(t)
	b.insert("web", "shop")
	for _, r := range []store.AlertRule{
		{Name: "failing", SignalType: "error_rate", Comparator: "gt", Threshold: 0.45, WindowMinutes: 1, ServiceNames: []string{"web", "absent"}},
		{Name: "slow", SignalType: "p95_latency", Comparator: "gte", Threshold: 100, WindowMinutes: 5},
		{Name: "quiet", SignalType: "throughput", Comparator: "lt", Threshold: 25, WindowMinutes: 2},
		{Name: "outside", SignalType: "p99_latency", Comparator: "not_between", Threshold: 1, ThresholdUpper: new(90.0), WindowMinutes: 1},
		{
			Name: "counted", SignalType: "raw_query", Comparator: "gt", Threshold: 5, WindowMinutes: 1,
			RawQuerySQL: new("SELECT ServiceName AS `group`, count() AS value FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) GROUP BY ServiceName"),
		},
	} {
		b.rule(r)
	}
	b.evaluate()
	if len(b.notices) < 6 {
		t.Fatalf("the telemetry is too quiet: %d notices", len(b.notices))
	}
	check := func(what string, earlier bool) {
		t.Helper()
		for _, n := range b.notices {
			out := b.chart(b.links.Incident(n.Rule, n.Incident, n.At))
			group := n.Incident.GroupKey
			s := out.GetSeries()[0]
			if same := b.compareWith(s, publicRule(n.Rule), group, n.At); same == 0 && n.Value != nil {
				t.Errorf("%s: %s %s has no decided minute", what, n.Rule.Name, group)
			}
			if n.Value != nil && fmt.Sprintf("%.9g", values(s)[n.At.UnixMilli()]) != fmt.Sprintf("%.9g", *n.Value) {
				t.Errorf("%s: %s %s: the last value is %v, the message says %v", what, n.Rule.Name, group, values(s)[n.At.UnixMilli()], *n.Value)
			}
			side, threshold, unit := "above", n.Rule.Threshold, "number"
			switch n.Rule.Name {
			case "quiet":
				side = "below"
			case "failing":
				unit = "percent"
			case "slow":
				unit = "duration_ms"
			case "outside":
				threshold, unit = 90, "duration_ms"
			}
			if out.GetBreachSide() != side || out.GetThreshold() != threshold || out.GetUnit() != unit ||
				!strings.HasPrefix(out.GetTitle(), n.Rule.Name) {
				t.Errorf("%s: %s: %s %v %s %q", what, n.Rule.Name, out.GetBreachSide(), out.GetThreshold(), out.GetUnit(), out.GetTitle())
			}
			if group != alerting.TotalGroup && (s.GetName() != group || !strings.HasSuffix(out.GetTitle(), " · "+group)) {
				t.Errorf("%s: %s: the group %s is not named: %q %q", what, n.Rule.Name, group, s.GetName(), out.GetTitle())
			}
			if points := len(s.GetPoints()); n.Rule.Name == "slow" && (points > 40) != earlier {
				t.Errorf("%s: %s has %d points", what, n.Rule.Name, points)
			}
		}
	}
	check("before the checks are stored", true)
	b.record()
	check("when the checks are stored", true)

	// A chart of all groups of a rule begins with the group that is furthest beyond the threshold.
	failing := b.notices[0].Rule
	for _, n := range b.notices {
		if n.Rule.Name == "counted" {
			failing = n.Rule
		}
	}
	all := b.chart(b.links.Rule(failing, b.notices[0].At))
	if len(all.GetSeries()) != 2 || all.GetKind() != "line" || all.GetBreachSide() != "above" {
		t.Errorf("the groups of a rule: %v", all)
	}
	for _, s := range all.GetSeries() {
		if b.compareWith(s, publicRule(failing), s.GetName(), b.notices[0].At) == 0 {
			t.Errorf("the group %s has no decided minute", s.GetName())
		}
	}

	// An edit of the rules: only what was decided is drawn.
	for _, n := range b.notices {
		if _, _, err := b.EditAlertRules(t.Context(), b.org, b.admin, []uuid.UUID{n.Rule.ID}, "updated", func(r *store.AlertRule) error {
			r.WindowMinutes = 30
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	check("after an edit", false)

	// A chart ends with its rule, for the incident and for the groups.
	n := b.notices[0]
	incident, err := b.links.Incident(n.Rule, n.Incident, n.At)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := b.links.Rule(n.Rule, n.At)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.DeleteAlertRule(t.Context(), b.org, n.Rule.ID,
		func(store.AlertRule, []store.AlertIncident) ([]store.NewDelivery, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{incident, groups} {
		text := strings.TrimSuffix(strings.TrimPrefix(address, b.links.BaseURL+Path), ".png")
		if _, _, err := b.charts.OpenAlert(t.Context(), text); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the chart of a rule that is gone: %v", err)
		}
		if _, _, err := b.charts.OpenChat(t.Context(), text); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the chart of an alert as one of a chat: %v", err)
		}
	}
}

// TestOtherOrganization checks that an id which names a thing of another organization opens nothing, even with a good seal.
func TestOtherOrganization(t *testing.T) {
	b := newBench(t)
	other, err := b.CreateOrganization(t.Context(), store.NewOrganization{Name: "Other", Admin: &store.NewUser{Email: "b@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	r := b.rule(store.AlertRule{Name: "theirs", SignalType: "throughput", Comparator: "gt", WindowMinutes: 1})
	now := time.Now()
	for _, org := range []principal.OrgID{b.org, other.Organization.ID, "org_nobody"} {
		i := &id{
			Org: org, Subject: ofRule, Things: []uuid.UUID{r.ID}, Version: r.Version, Start: now.Add(-time.Hour), At: now,
			Expires: now.Add(time.Hour),
		}
		text, err := i.seal(b.links.Seals, kindAlert)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.charts.OpenAlert(t.Context(), text); (err == nil) != (org == b.org) || err != nil &&
			!errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", org, err)
		}
	}
}

// TestRanked checks the chart of a digest.
func TestRanked(t *testing.T) {
	got := ranked([]store.ErrorIssue{
		{ErrorLabel: "EOF", OccurrenceCount: 3}, {ErrorLabel: "TypeError", ServiceName: "web", OccurrenceCount: 40},
	})
	if got.GetKind() != "ranked" || len(got.GetPoints()) != 2 || got.GetPoints()[0].GetName() != "TypeError in web" ||
		got.GetPoints()[0].GetValue() != 40 ||
		got.GetPoints()[1].GetName() != "EOF" || got.GetSeries() != nil || got.BreachSide != nil {
		t.Errorf("%v", got)
	}
	if n := len(thin(make([]time.Time, 60), limits.ChartEvaluations)); n != limits.ChartEvaluations {
		t.Errorf("%d minutes", n)
	}
}

func publicRule(r *store.AlertRule) string { return publicid.Encode(publicid.AlertRule, r.ID) }
