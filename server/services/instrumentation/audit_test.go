package instrumentation

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// auditBed has a service on real stores, with a clock that stands.
type auditBed struct {
	*Service
	t     *testing.T
	w     *warehouse.Warehouse
	store *store.Store
	now   time.Time
}

func newAuditBed(t *testing.T, w *warehouse.Warehouse, over func(*auditBed) read.Warehouse) *auditBed {
	t.Helper()
	b := &auditBed{t: t, w: w, now: time.Now().UTC()}
	clock := func() time.Time { return b.now }
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	b.store = st
	b.Service = New(st, over(b), slog.New(slog.DiscardHandler), clock)
	return b
}

func (b *auditBed) org() principal.OrgID {
	b.t.Helper()
	made, err := b.store.CreateOrganization(b.t.Context(), store.NewOrganization{
		Name: "Audited", Admin: &store.NewUser{Email: uuid.NewString() + "@example.com", Name: "Admin", PasswordHash: "x"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Organization.ID
}

// audit returns the checks by id.
func (b *auditBed) audit(org principal.OrgID) (*svcv2.SetupAudit, map[string]*svcv2.SetupAuditCheck) {
	b.t.Helper()
	got, err := b.GetSetupAudit(warehousetest.As(b.t.Context(), org), &svcv2.GetSetupAuditRequest{})
	if err != nil {
		b.t.Fatal(err)
	}
	checks := map[string]*svcv2.SetupAuditCheck{}
	for _, c := range got.GetChecks() {
		checks[c.GetId()] = c
	}
	return got, checks
}

type row map[string]any

// spans stores spans of an organization. Each has the defaults of a span that no check minds, unless the row says otherwise.
func (b *auditBed) spans(org principal.OrgID, rows ...row) {
	b.t.Helper()
	columns := []string{
		"OrgId", "Timestamp", "TraceId", "SpanId", "ParentSpanId", "SpanName", "SpanKind", "ServiceName", "ServiceVersion", "Environment",
		"StatusCode", "StatusMessage", "IsEntry", "ResourceAttributes", "SpanAttributes",
	}
	var out [][]any
	for i, r := range rows {
		all := row{
			"OrgId": string(org), "Timestamp": b.now.Add(-30 * time.Minute), "TraceId": fmt.Sprintf("%032x", i+1),
			"SpanId":       fmt.Sprintf("%016x", i+1),
			"ParentSpanId": "", "SpanName": "op", "SpanKind": "Internal", "ServiceName": "web", "ServiceVersion": "1", "Environment": "test",
			"StatusCode": "Unset", "StatusMessage": "", "IsEntry": false, "ResourceAttributes": map[string]string{},
			"SpanAttributes": map[string]string{},
		}
		maps.Copy(all, r)
		resource := map[string]string{
			"telemetry.sdk.language": "go", "service.instance.id": "1", "process.runtime.name": "go", "cloud.provider": "aws",
			"vcs.repository.url.full": "https://example.com", "vcs.ref.head.revision": "abc",
		}
		given, _ := all["ResourceAttributes"].(map[string]string)
		for k, v := range given {
			if resource[k] = v; v == "" {
				delete(resource, k)
			}
		}
		all["ResourceAttributes"] = resource
		values := make([]any, len(columns))
		for j, c := range columns {
			values[j] = all[c]
		}
		out = append(out, values)
	}
	insert(b.t, b.w, "spans", columns, out...)
}

func (b *auditBed) keys(org principal.OrgID, scopesAndKeys ...string) {
	b.t.Helper()
	for _, one := range scopesAndKeys {
		scope, key, _ := strings.Cut(one, " ")
		insert(b.t, b.w, "attribute_keys", []string{"OrgId", "Hour", "Signal", "Scope", "Key", "ValueType", "UsageCount"},
			[]any{string(org), b.now.Add(-time.Hour).Truncate(time.Hour), "traces", scope, key, "string", uint64(7)})
	}
}

func (b *auditBed) metric(org principal.OrgID, service string, names ...string) {
	b.t.Helper()
	for _, name := range names {
		insert(b.t, b.w, "metric_catalog", []string{
			"OrgId", "Hour", "MetricName", "MetricType", "ServiceName", "DataPointCount", "FirstSeen",
			"LastSeen",
		},
			[]any{
				string(org), b.now.Add(-time.Hour).Truncate(time.Hour), name, "gauge", service, uint64(3), b.now.Add(-time.Hour),
				b.now.Add(-time.Hour),
			})
	}
}

// counter stores a cumulative counter with one series that begins several times.
func (b *auditBed) counter(org principal.OrgID, name string, starts int) {
	b.t.Helper()
	for i := range starts {
		at := b.now.Add(-time.Minute * time.Duration(i+1))
		insert(b.t, b.w, "metrics_sum",
			[]string{
				"OrgId", "MetricName", "ServiceName", "SeriesHash", "StartTimestamp", "Timestamp", "Value", "AggregationTemporality",
				"IsMonotonic",
			},
			[]any{string(org), name, "web", uint64(1), at, at, 1.0, "Cumulative", true})
	}
}

func (b *auditBed) log(org principal.OrgID, service, body string, attributes map[string]string) {
	b.t.Helper()
	insert(b.t, b.w, "logs", []string{"OrgId", "Timestamp", "ServiceName", "Body", "TraceId", "SeverityNumber", "LogAttributes"},
		[]any{string(org), b.now.Add(-time.Hour), service, body, fmt.Sprintf("%032x", 1), uint8(9), attributes})
}

func attrs(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func direct(b *auditBed) read.Warehouse { return b.w }

// TestTelemetryChecks has each check of telemetry fail for the services of one organization, pass in a second one, and skip in a third one
// that sends nothing.
func TestTelemetryChecks(t *testing.T) {
	b := newAuditBed(t, warehousetest.Shared(t), direct)
	bad, good, idle := b.org(), b.org(), b.org()
	res, span := "ResourceAttributes", "SpanAttributes"
	b.spans(
		bad,
		row{"ServiceName": "replicated", res: attrs("service.instance.id", "", "k8s.pod.name", "a")},
		row{"ServiceName": "replicated", res: attrs("service.instance.id", "", "k8s.pod.name", "b")},
		row{"ServiceName": "bare", res: attrs("process.runtime.name", "", "cloud.provider", "")},
		row{"ServiceName": "hides", span: attrs("error", "true")},
		row{"ServiceName": "internal-calls", span: attrs("db.system.name", "postgresql")},
		row{"ServiceName": "server-only", "SpanKind": "Server", "IsEntry": true},
		row{"ServiceName": "sender", "SpanKind": "Producer", span: attrs("messaging.system", "kafka", "messaging.destination.name", "orders")},
		row{"ServiceName": "probed", "SpanName": "GET /healthz", "IsEntry": true},
		row{"ServiceName": "anonymous", "SpanKind": "Client"},
		row{"ServiceName": "vague", "SpanKind": "Consumer", span: attrs("messaging.system", "kafka")}, row{"ServiceName": "vague"},
		row{"ServiceName": "caller", "SpanKind": "Client", span: attrs("peer.service", "payments", "server.address", "pay.local", "server.port",
			"80")},
		row{"ServiceName": "caller", "SpanKind": "Client", span: attrs("peer.service", "billing", "server.address", "pay.local", "server.port",
			"80")},
		row{"ServiceName": "caller", "SpanKind": "Client", span: attrs("peer.service", "Server_Only", "server.address", "so.local")},
		row{"ServiceName": "chatty", "SpanKind": "Client", span: attrs("server.address", "api.openai.com")},
		row{"ServiceName": "caller", "TraceId": "linked", "SpanId": "parent", "SpanKind": "Client", span: attrs("server.address", "x")},
		row{"ServiceName": "unkind", "TraceId": "linked", "SpanId": "child", "ParentSpanId": "parent"},
	)
	b.keys(bad, "resource env", "span svc_secret", "span http.method")
	b.metric(bad, "server-only", "process.cpu.time")
	b.metric(bad, "untraced", "http.server.request.duration", "db.client.operation.duration")
	b.counter(bad, "restarts", limits.SetupCounterStarts+2)
	b.log(bad, "logger", "user 7 paid 12 EUR", nil)

	b.spans(
		good,
		row{res: attrs("k8s.pod.name", "a")}, row{res: attrs("k8s.pod.name", "b", "service.instance.id", "2")},
		row{"StatusCode": "Error", "StatusMessage": "declined", span: attrs("error", "true")},
		row{"SpanKind": "Client", span: attrs("db.system.name", "postgresql", "db.query.text", "SELECT 1", "server.address", "db")},
		row{span: attrs("db.system.name", "sqlite", "db.query.text", "SELECT 1")}, // it runs in the process
		row{"SpanKind": "Server", "IsEntry": true, "SpanName": "GET /orders"},
		row{"SpanKind": "Producer", span: attrs("messaging.system", "kafka", "messaging.destination.name", "orders")},
		row{
			"ServiceName": "worker", "SpanKind": "Consumer", "IsEntry": true,
			span: attrs("messaging.system", "kafka", "messaging.destination.name", "orders"),
		},
		row{"ServiceName": "worker"},
		row{"SpanKind": "Client", span: attrs("peer.service", "worker", "server.address", "worker.local")},
		row{"SpanKind": "Client", span: attrs("rpc.system", "grpc", "rpc.service", "shop.Cart", "rpc.method", "Add")},
		row{"SpanKind": "Client", span: attrs("server.address", "api.openai.com")}, row{span: attrs("gen_ai.operation.name", "chat")},
		row{"TraceId": "linked", "SpanId": "parent", "SpanKind": "Client", span: attrs("server.address", "x")},
		row{"ServiceName": "worker", "TraceId": "linked", "SpanId": "child", "ParentSpanId": "parent", "SpanKind": "Server"},
		row{"ServiceName": "proxy", "SpanKind": "Server", res: attrs("telemetry.sdk.language", "", "process.runtime.name", "")},
	)
	b.keys(good, "resource deployment.environment.name", "span svc_ai.session.id")
	b.metric(good, "web", "http.server.request.duration", "shop.orders")
	b.metric(good, "worker", "messaging.process.duration", "shop.mails")
	b.counter(good, "steady", 1)
	b.log(good, "web", "paid", attrs("user.id", "7"))
	b.log(good, "worker", `{"message":"mailed"}`, nil)

	want := map[string]string{
		"RES-06": "env", "RES-07": "replicated", "RES-08": "bare", "NAME-03": "svc_secret", "STAT-01": "hides", "STAT-03": "internal-calls",
		"STAT-04": "unkind",
		"SPAN-01": "untraced", "SPAN-02": "server-only", "SPAN-03": "sender", "SPAN-05": "probed", "MAP-01": "anonymous",
		"MAP-03": "billing server-only",
		"MAP-04": "vague", "LLM-01": "chatty", "LOG-03": "logger", "MET-02": "server-only", "MET-03": "restarts",
	}
	_, failed := b.audit(bad)
	_, passed := b.audit(good)
	none, skipped := b.audit(idle)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		var names []string
		for _, a := range failed[id].GetAffected() {
			names = append(names, a.GetName())
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want[id] || failed[id].GetStatus() != "fail" {
			t.Errorf("%s: %s of %q, want %q: %v", id, failed[id].GetStatus(), got, want[id], failed[id])
		}
		if passed[id].GetStatus() != "pass" {
			t.Errorf("%s: %v", id, passed[id])
		}
		if skipped[id].GetStatus() != "skip" || none.GetDataStatus() != "no_data" {
			t.Errorf("%s without telemetry: %v", id, skipped[id])
		}
	}
	// LOG-01 affects every service but the one that logs.
	if c := failed["LOG-01"]; c.GetStatus() != "fail" || c.GetAffectedCount() < 10 {
		t.Errorf("%v", c)
	}
	if passed["LOG-01"].GetStatus() != "pass" || skipped["LOG-01"].GetStatus() != "skip" {
		t.Errorf("%v, %v", passed["LOG-01"], skipped["LOG-01"])
	}
}

// TestSetupChecks has each check of alerting, scraping and mappings skip, fail and pass.
func TestSetupChecks(t *testing.T) {
	b := newAuditBed(t, warehousetest.Shared(t), direct)
	org, other := b.org(), b.org()
	ctx := t.Context()
	status := func(want string) {
		t.Helper()
		_, checks := b.audit(org)
		got := ""
		for _, id := range []string{"CFG-ALERT-01", "CFG-ALERT-02", "CFG-ALERT-03", "CFG-ALERT-04", "CFG-ALERT-05", "CFG-SCR-01", "CFG-MAP-01"} {
			got += checks[id].GetStatus() + " "
			for _, a := range checks[id].GetAffected() {
				if a.GetId() == "" || a.GetName() == "" || a.GetNote() == "" {
					t.Errorf("%s: %v", id, a)
				}
			}
		}
		if diff := cmp.Diff(want, strings.TrimSpace(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	status("fail fail skip skip skip skip skip")

	created := func(org principal.OrgID) store.AlertDestination {
		t.Helper()
		d, _, err := b.store.CreateAlertDestination(ctx, org, store.NewAlertDestination{
			ID: uuid.Must(uuid.NewV7()), Name: "hook", Type: "webhook", Config: json.RawMessage("{}"), CreatedBy: "user_x",
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := created(org)
	theirs := created(other)
	enable := func(enabled bool) {
		t.Helper()
		if _, _, err := b.store.EditAlertDestination(ctx, org, d.ID, "user_x",
			func(d store.AlertDestination) (store.AlertDestinationChange, error) {
				return store.AlertDestinationChange{Name: d.Name, Enabled: enabled, Config: d.Config}, nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	rule, _, err := b.store.CreateAlertRule(ctx, org, "user_x", store.AlertRule{
		Name: "errors", Enabled: true, Severity: "warning", SignalType: "error_rate", Comparator: "gt", Threshold: 5, WindowMinutes: 5,
		ConsecutiveBreachesRequired: 1, ConsecutiveHealthyRequired: 1, RenotifyIntervalMinutes: 30, DestinationIds: []string{d.ID.String()},
	})
	if err != nil {
		t.Fatal(err)
	}
	target, err := b.store.CreateScrapeTarget(ctx, org, store.ScrapeTarget{
		Name: "node", URL: "http://node.example.com/metrics", TargetType: "prometheus", ScrapeIntervalSeconds: 15, AuthType: "none",
		Enabled:   true,
		CreatedBy: "user_x", UpdatedBy: "user_x",
	})
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := b.store.CreateAttributeMapping(ctx, org, store.NewAttributeMapping{
		Name: "old name", SourceContext: store.AttributeMappingSourceContextSpan, SourceKey: "old.name", TargetKey: "new.name",
		Operation: store.AttributeMappingOperationMove,
	})
	if err != nil {
		t.Fatal(err)
	}
	// No scrape, no evaluation and no spans until now.
	status("fail pass fail skip pass pass skip")

	enable(true)
	b.keys(org, "span other.name")
	problem := func(text string) {
		t.Helper()
		if err := b.store.RecordDestinationTest(ctx, org, d.ID, b.now, text); err != nil {
			t.Fatal(err)
		}
		if err := b.store.RecordScrapes(ctx, []store.ScrapeResult{{Org: org, ID: target.ID, At: b.now, Problem: text}}); err != nil {
			t.Fatal(err)
		}
	}
	problem("answered 503")
	status("pass pass pass fail pass pass fail")
	b.now = b.now.Add(limits.SetupAlertDelay + time.Second)
	status("pass pass pass fail fail pass fail")
	b.now = b.now.Add(limits.SetupScrapeFailure)
	status("pass pass pass fail fail fail fail")

	node := uuid.New()
	if err := b.store.JoinWork(ctx, store.WorkNode{ID: node, Kinds: []string{store.WorkAlerts}}); err != nil {
		t.Fatal(err)
	}
	held, err := b.store.BeatWork(ctx, store.WorkNode{ID: node, Kinds: []string{store.WorkAlerts}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range held {
		if f.Number == store.ShardOf(store.WorkAlerts, string(org)) {
			if _, err := b.store.CommitAlerts(ctx, f, org, store.AlertCommit{Through: b.now.Add(time.Second - limits.SetupAlertDelay)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	problem("")
	b.keys(org, "span new.name")
	status("pass pass pass pass pass pass pass")

	enable(false)
	if _, _, err := b.store.EditAlertRules(ctx, org, "user_x", []uuid.UUID{rule.ID}, "updated", func(r *store.AlertRule) error {
		r.DestinationIds = nil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	off := false
	if _, err := b.store.EditAttributeMapping(ctx, org, mapping.ID, store.AttributeMappingEdit{Enabled: store.Set(off)}); err != nil {
		t.Fatal(err)
	}
	status("fail pass fail skip pass pass skip")
	// The other organization has a destination, and nothing else.
	if _, checks := b.audit(other); checks["CFG-ALERT-02"].GetStatus() != "fail" || checks["CFG-SCR-01"].GetStatus() != "skip" ||
		checks["CFG-ALERT-01"].GetAffected()[0].GetName() != theirs.Name || checks["CFG-ALERT-01"].GetAffectedCount() != 1 {
		t.Errorf("the other organization: %v", checks)
	}
}

// TestAuditKeepsItsEvidence: telemetry is examined once in five minutes, and the stored setup each time.
func TestAuditKeepsItsEvidence(t *testing.T) {
	b := newAuditBed(t, warehousetest.Shared(t), func(b *auditBed) read.Warehouse {
		return read.NewReader(read.Config{Warehouse: b.w, Now: func() time.Time { return b.now }})
	})
	org, other := b.org(), b.org()
	begun := b.now
	look := func(org principal.OrgID, made time.Time, services, recommendations int32, mapped string) {
		t.Helper()
		got, checks := b.audit(org)
		if !got.GetGeneratedAt().AsTime().Equal(made) || checks["RES-02"].GetAffectedCount() != services ||
			got.GetOpenRecommendationCount() != recommendations || checks["CFG-MAP-01"].GetStatus() != mapped {
			t.Errorf("made at %v, want %v: %v, %d recommendations, %v", got.GetGeneratedAt().AsTime(), made, checks["RES-02"],
				got.GetOpenRecommendationCount(), checks["CFG-MAP-01"])
		}
	}
	look(org, begun, 0, 0, "skip") // nothing arrives: nothing is kept
	b.now = b.now.Add(time.Second)
	first := b.now
	b.spans(org, row{"ServiceVersion": "", "SpanAttributes": attrs("http.method", "GET")})
	b.keys(org, "span http.method")
	look(org, first, 1, 1, "skip")
	b.spans(org, row{"ServiceVersion": "", "ServiceName": "later"})
	if _, err := b.store.CreateAttributeMapping(t.Context(), org, store.NewAttributeMapping{
		Name: "m", SourceContext: store.AttributeMappingSourceContextSpan, SourceKey: "http.method", TargetKey: "http.request.method",
		Operation: store.AttributeMappingOperationMove,
	}); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(limits.SetupEvidence - time.Second)
	look(org, first, 1, 0, "pass")
	look(other, b.now, 0, 0, "skip")
	b.now = b.now.Add(2 * time.Second)
	look(org, b.now, 2, 0, "pass")
}
