package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/alerting/alertingtest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// TestPreviewEqualsWorker lets a worker evaluate random rules over the minutes of random telemetry, and compares what it wrote with a
// preview of each rule over the same minutes: status, value and samples of each group and minute, and the incidents.
func TestPreviewEqualsWorker(t *testing.T) {
	ctx := t.Context()
	w := warehousetest.Shared(t)
	st, err := store.Open(ctx, store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	created, err := st.CreateOrganization(ctx, store.NewOrganization{
		Name:  "Preview",
		Admin: &store.NewUser{Email: "a@example.com", Name: "A"},
	})
	if err != nil {
		t.Fatal(err)
	}
	org := created.Organization.ID
	rnd := rand.New(rand.NewPCG(8, 3))
	// Telemetry of the last minute is not settled yet.
	end := time.Now().UTC().Add(-90 * time.Second).Truncate(time.Minute)
	insert(t, w, org, rnd, end)
	var rules []store.AlertRule
	for n := range 40 {
		r, _, err := st.CreateAlertRule(ctx, org, created.Admin.ID, randomRule(rnd, n))
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	reader := read.NewReader(read.Config{Warehouse: w})
	source := alerting.NewSource(engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()}), reader, query.AllRollups())
	played := alertingtest.NewPast(st)
	evaluate(t, played, source)

	byRule := map[string][]alerting.Check{}
	var first, last time.Time
	for _, c := range played.Checks {
		byRule[c.RuleID] = append(byRule[c.RuleID], c)
		if first.IsZero() || c.At.Before(first) {
			first = c.At
		}
		if c.At.After(last) {
			last = c.At
		}
	}
	s := NewRules(RulesConfig{Store: st, Figures: source, Warehouse: reader, Now: func() time.Time { return last.Add(time.Hour) }})
	caller := principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{Org: org, User: created.Admin.ID}})
	breached, opened := 0, 0
	for i := range rules {
		checks := byRule[publicid.Encode(publicid.AlertRule, rules[i].ID)]
		if len(checks) < 13 {
			t.Fatalf("%s has %d checks", rules[i].Name, len(checks))
		}
		p, err := s.PreviewAlertRule(caller, &svcv2.PreviewAlertRuleRequest{
			Rule: requestOf(t, &rules[i]), StartTime: timestamppb.New(first.Add(-time.Minute)), EndTime: timestamppb.New(last),
		})
		if err != nil {
			t.Fatal(err)
		}
		b, o := compare(t, &rules[i], checks, p)
		breached, opened = breached+b, opened+o
	}
	if breached < 50 || opened < 10 {
		t.Errorf("the telemetry is too quiet: %d breaches, %d incidents", breached, opened)
	}
}

// evaluate lets a worker do everything that is due.
func evaluate(t *testing.T, played *alertingtest.Past, source alerting.Source) {
	t.Helper()
	w := alerting.NewWorker(alerting.Config{
		Store: played, Source: source, Logger: slog.New(slog.DiscardHandler),
		StoredThrough: func(context.Context) (store.IngestMark, bool, error) {
			return store.IngestMark{Through: time.Now()}, true, nil
		},
		Messages: func(context.Context, principal.OrgID, []alerting.Notice) ([]store.NewDelivery, error) {
			return nil, nil
		},
		Summary: Summary,
	})
	node := store.WorkNode{ID: uuid.New(), Kinds: []string{store.WorkAlerts}, Host: "test", Version: "v0"}
	if err := played.JoinWork(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	held, err := played.BeatWork(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range held {
		if _, err := w.Shard(f).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// compare returns the number of breaches and of incidents.
func compare(t *testing.T, r *store.AlertRule, checks []alerting.Check, p *svcv2.AlertRulePreview) (breached, opened int) {
	t.Helper()
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.4g", *v)
	}
	var worker, preview, incidents, fires []string
	for _, c := range checks {
		worker = append(worker, fmt.Sprintf("%s %s %s %s %s %.6g", c.At.Format("15:04"), c.GroupKey, c.Status, c.SkipReason,
			number(c.ObservedValue), c.SampleCount))
		if c.Status == alerting.Breached {
			breached++
		}
		switch c.Transition {
		case alerting.Opened:
			opened++
			incidents = append(incidents, c.GroupKey+" from "+c.At.Format("15:04"))
		case alerting.Resolved:
			incidents = append(incidents, c.GroupKey+" to "+c.At.Format("15:04"))
		case alerting.None, alerting.Continued:
		}
	}
	for _, g := range p.GetSeries() {
		for _, at := range g.GetPoints() {
			preview = append(preview, fmt.Sprintf("%s %s %s %s %s %.6g", at.GetBucket().AsTime().Format("15:04"), g.GetGroupKey(), at.GetStatus(),
				at.GetSkipReason(), number(at.Value), at.GetSampleCount()))
		}
	}
	for _, f := range p.GetWouldFire() {
		fires = append(fires, f.GetGroupKey()+" from "+f.GetStart().AsTime().Format("15:04"))
		if f.GetEnd() != nil {
			fires = append(fires, f.GetGroupKey()+" to "+f.GetEnd().AsTime().Format("15:04"))
		}
	}
	for _, list := range [][]string{worker, preview, incidents, fires} {
		slices.Sort(list)
	}
	if !slices.Equal(worker, preview) {
		t.Errorf("%s (%s): the worker wrote\n%q\nthe preview has\n%q", r.Name, r.SignalType, without(worker, preview), without(preview, worker))
	}
	if !slices.Equal(incidents, fires) {
		t.Errorf("%s (%s): the worker had the incidents\n%q\nthe preview has\n%q", r.Name, r.SignalType, incidents, fires)
	}
	return breached, opened
}

func without(list, other []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(other, s) {
			out = append(out, s)
		}
	}
	return out
}

func requestOf(t *testing.T, r *store.AlertRule) *svcv2.CreateAlertRuleRequest {
	t.Helper()
	m, err := ruleMessage(r, store.AlertCursor{})
	if err != nil {
		t.Fatal(err)
	}
	return &svcv2.CreateAlertRuleRequest{
		Name: m.GetName(), Severity: m.GetSeverity(), ServiceNames: m.GetServiceNames(), Environments: m.GetEnvironments(),
		GroupBy:    m.GetGroupBy(),
		SignalType: m.GetSignalType(), Comparator: m.GetComparator(), Threshold: new(m.GetThreshold()), WindowMinutes: m.GetWindowMinutes(),
		MinimumSampleCount: new(m.GetMinimumSampleCount()), ConsecutiveBreachesRequired: new(m.GetConsecutiveBreachesRequired()),
		ConsecutiveHealthyRequired: new(m.GetConsecutiveHealthyRequired()), ApdexThresholdMs: m.ApdexThresholdMs,
		QueryBuilderDraft: m.GetQueryBuilderDraft(), RawQuerySql: m.RawQuerySql, RawQueryReducer: m.RawQueryReducer,
		ResolveThreshold: m.ResolveThreshold, AlertOnNoData: new(m.GetAlertOnNoData()),
		Burn: m.GetBurn(), Baseline: m.GetBaseline(),
	}
}

// insert stores spans whose rate, failures and durations change from minute to minute, with gaps.
func insert(t *testing.T, w interface {
	InsertRows(ctx context.Context, table string, columns []string, rows [][]any, token string) error
}, org principal.OrgID, rnd *rand.Rand, end time.Time,
) {
	t.Helper()
	columns := []string{
		"OrgId", "Timestamp", "ServiceName", "Environment", "TraceId", "SpanId", "SpanName", "SampleRate", "HasError",
		"IsEntry", "DurationNano",
	}
	var rows [][]any
	for minute := end.Add(-100 * time.Minute); minute.Before(end); minute = minute.Add(time.Minute) {
		for _, service := range []string{"web", "shop", "pay"} {
			n, failing, slow := rnd.IntN(40), rnd.IntN(3), 1+rnd.IntN(20)
			if rnd.IntN(4) == 0 {
				n = 0
			}
			for range n {
				id := uint64(len(rows) + 1)
				rows = append(rows, []any{
					string(org), minute.Add(time.Duration(rnd.Int64N(int64(time.Minute)))), service, []string{"production", "staging"}[rnd.IntN(2)],
					fmt.Sprintf("%032x", id), fmt.Sprintf("%016x", id), "op", []float64{1, 5}[rnd.IntN(2)], rnd.IntN(4) < failing, rnd.IntN(4) > 0,
					uint64(slow*(1+rnd.IntN(100))) * 1e6,
				})
			}
		}
	}
	if err := w.InsertRows(t.Context(), "spans", columns, rows, uuid.NewString()); err != nil {
		t.Fatal(err)
	}
}

func randomRule(rnd *rand.Rand, n int) store.AlertRule {
	signal := []string{"error_rate", "p95_latency", "p99_latency", "apdex", "throughput", "builder_query", "raw_query"}[n%7]
	r := store.AlertRule{
		Name: fmt.Sprint("rule ", n), Enabled: true, Severity: "warning", SignalType: signal,
		Comparator: []string{"gt", "lt", "gte"}[rnd.IntN(3)],
		Threshold: map[string]float64{
			"error_rate": 0.3, "p95_latency": 800, "p99_latency": 1000, "apdex": 0.5, "throughput": 30, "builder_query": 20, "raw_query": 20,
		}[signal],
		WindowMinutes: 1 + rnd.IntN(5), ConsecutiveBreachesRequired: 1 + rnd.IntN(2), ConsecutiveHealthyRequired: 1 + rnd.IntN(2),
		RenotifyIntervalMinutes: 30, MinimumSampleCount: int64(rnd.IntN(2) * 10), AlertOnNoData: rnd.IntN(4) == 0,
	}
	if r.Comparator != "lt" && rnd.IntN(3) == 0 {
		r.ResolveThreshold = new(r.Threshold * 0.8)
	}
	if signal == "raw_query" {
		r.RawQuerySQL = new("SELECT ServiceName AS `group`, sum(SampleRate) AS value, count() AS samples FROM spans " +
			"WHERE $__orgFilter AND $__timeFilter(Timestamp) GROUP BY ServiceName")
		return r
	}
	switch rnd.IntN(3) {
	case 0:
		r.GroupBy = []string{"service.name"}
	case 1:
		if signal != "builder_query" {
			r.ServiceNames = []string{"web", "absent"}
		}
	}
	if signal == "builder_query" {
		r.QueryBuilderDraft = json.RawMessage(`{"dataSource":"traces","aggregation":"count","whereClause":"deployment.environment = staging"}`)
	} else if rnd.IntN(2) == 0 {
		r.Environments = []string{"production"}
	}
	return r
}
