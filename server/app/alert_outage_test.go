package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/services/alerts"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// The outage of each scenario, in minutes after the start.
const (
	outageBegins = 10
	outageEnds   = 20
	outageTest   = 45
)

// breaches are the minutes, from one to before another, in which each rule is breached.
var breaches = map[string][][2]int{
	"never":  nil,
	"around": {{8, 23}},                    // opens before the outage and resolves after it
	"often":  {{3, 5}, {12, 14}, {30, 32}}, // the second time is within the first half of the outage
	"late":   {{17, 25}},                   // opens in the outage, when its minutes can still be judged afterwards
	"within": {{18, 19}},                   // opens and resolves in the second half of the outage
}

// outageWorld is everything around the work of alerts: real rules, states and messages in a real database; telemetry, destination and
// marks of ingest are played.
type outageWorld struct {
	*store.Store
	start time.Time
	// The parts that fail from outageBegins to outageEnds.
	source, database, marks, destination bool

	mu       sync.Mutex
	arrived  []string
	attempts int
	checks   []alerting.Check
	tokens   map[string]bool
}

func (w *outageWorld) minute(t time.Time) int { return int(t.Sub(w.start) / time.Minute) }

func (w *outageWorld) failing(part bool) bool {
	m := time.Since(w.start)
	return part && m >= outageBegins*time.Minute && m < outageEnds*time.Minute
}

var errAway = errors.New("it does not answer")

// Figures plays the telemetry.
func (w *outageWorld) Figures(_ context.Context, _ principal.OrgID, asks []alerting.Ask) ([]alerting.Figures, error) {
	if w.failing(w.source) {
		return nil, apierr.New(apierr.WarehouseUpstream, "The warehouse does not answer.")
	}
	out := make([]alerting.Figures, len(asks))
	for i, ask := range asks {
		for _, at := range ask.Minutes {
			value := 0.0
			for _, b := range breaches[ask.Rule.Name] {
				if m := w.minute(at); m >= b[0] && m < b[1] {
					value = 1
				}
			}
			out[i].Groups = append(out[i].Groups, map[string]alerting.Input{
				alerting.TotalGroup: {Present: true, Value: &value, Samples: 100, Weight: 1},
			})
		}
	}
	return out, nil
}

func (w *outageWorld) storedThrough(context.Context) (store.IngestMark, bool, error) {
	now := time.Now()
	if w.failing(w.marks) {
		now = w.start.Add(outageBegins*time.Minute - time.Second)
	}
	return store.IngestMark{Through: now}, true, nil
}

func (w *outageWorld) away() error {
	if w.failing(w.database) {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errAway)
	}
	return nil
}

// The methods of the store that the work uses.

func (w *outageWorld) BeatWork(ctx context.Context, node store.WorkNode) ([]store.Fence, error) {
	if err := w.away(); err != nil {
		return nil, err
	}
	return w.Store.BeatWork(ctx, node)
}

func (w *outageWorld) AlertCursors(ctx context.Context, shard int) ([]store.AlertCursor, error) {
	if err := w.away(); err != nil {
		return nil, err
	}
	return w.Store.AlertCursors(ctx, shard)
}

func (w *outageWorld) CommitAlerts(ctx context.Context, f store.Fence, org principal.OrgID, c store.AlertCommit) ([]uuid.UUID, error) {
	if err := w.away(); err != nil {
		return nil, err
	}
	return w.Store.CommitAlerts(ctx, f, org, c)
}

func (w *outageWorld) NextAlertChecks(ctx context.Context, f store.Fence, limit int) (store.AlertCheckGroup, error) {
	if err := w.away(); err != nil {
		return store.AlertCheckGroup{}, err
	}
	return w.Store.NextAlertChecks(ctx, f, limit)
}

func (w *outageWorld) DueDeliveryShards(ctx context.Context, now time.Time) (map[int]bool, error) {
	if err := w.away(); err != nil {
		return nil, err
	}
	return w.Store.DueDeliveryShards(ctx, now)
}

func (w *outageWorld) DueDeliveries(
	ctx context.Context, shard int, now time.Time, busy store.OutboxBusy, limit int,
) ([]store.Delivery, error) {
	if err := w.away(); err != nil {
		return nil, err
	}
	return w.Store.DueDeliveries(ctx, shard, now, busy, limit)
}

// InsertRows fails while the source does: both stand for the warehouse.
func (w *outageWorld) InsertRows(_ context.Context, _ string, columns []string, rows [][]any, token string) error {
	if w.failing(w.source) {
		return errAway
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tokens[token] {
		return nil
	}
	w.tokens[token] = true
	for _, row := range rows {
		field := func(name string) any { return row[slices.Index(columns, name)] }
		w.checks = append(w.checks, alerting.Check{
			RuleID: fmt.Sprint(field("RuleId")), At: field("Timestamp").(time.Time), Status: alerting.Status(fmt.Sprint(field("Status"))),
			Transition: alerting.Transition(fmt.Sprint(field("IncidentTransition"))), ErrorCategory: fmt.Sprint(field("ErrorCategory")),
		})
	}
	return nil
}

// Send is the destination.
func (w *outageWorld) Send(_ context.Context, _ *notify.Destination, key string, _ notify.Payload) notify.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts++
	if w.failing(w.destination) {
		return notify.Result{Outcome: notify.Failed, Problem: "It does not answer."}
	}
	w.arrived = append(w.arrived, key)
	return notify.Result{Code: 200}
}

// TestAlertOutages lets the warehouse, the database, ingest and the destination fail for ten minutes each. Nothing fires or resolves
// because of that, everything that is due arrives in the end and once, and each minute has one check.
func TestAlertOutages(t *testing.T) {
	for name, c := range map[string]struct {
		set      func(w *outageWorld)
		category string
		// incidents are "rule opened-resolved", told those whose messages are sent.
		incidents, told []string
	}{
		"nothing": {
			func(*outageWorld) {}, "",
			[]string{"around 8-23", "late 17-25", "often 12-14", "often 3-5", "often 30-32", "within 18-19"},
			[]string{"around", "late", "often", "often", "often", "within"},
		},
		"warehouse": {
			func(w *outageWorld) { w.source = true }, "warehouse",
			[]string{"around 8-23", "late 17-25", "often 3-5", "often 30-32", "within 18-19"}, // 12 to 14 was given up
			[]string{"around", "late", "often", "often"},                                      // that within the gap is over when it is known
		},
		"ingest": {
			func(w *outageWorld) { w.marks = true }, "ingest_delay",
			[]string{"around 8-23", "late 17-25", "often 3-5", "often 30-32", "within 18-19"},
			[]string{"around", "late", "often", "often"},
		},
		"database": {
			func(w *outageWorld) { w.database = true }, "",
			[]string{"around 8-23", "late 17-25", "often 12-14", "often 3-5", "often 30-32", "within 18-19"},
			[]string{"around", "late", "often", "often"},
		},
		"destination": {
			func(w *outageWorld) { w.destination = true }, "",
			[]string{"around 8-23", "late 17-25", "often 12-14", "often 3-5", "often 30-32", "within 18-19"},
			[]string{"around", "late", "often", "often", "often", "within"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newOutageWorld(t)
				c.set(w)
				org, rules := w.rules(t)
				w.run(t, org)
				w.compare(t, org, rules, c.incidents, c.told)
				w.compareChecks(t, rules, c.category)
			})
		})
	}
}

func newOutageWorld(t *testing.T) *outageWorld {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &outageWorld{Store: s, start: time.Now().UTC().Truncate(time.Minute), tokens: map[string]bool{}}
}

// rules creates an organization with a destination and the rules.
func (w *outageWorld) rules(t *testing.T) (principal.OrgID, map[uuid.UUID]string) {
	t.Helper()
	created, err := w.CreateOrganization(t.Context(), store.NewOrganization{Name: "Org", Admin: &store.NewUser{Email: "admin@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	org := created.Organization.ID
	to, _, err := w.CreateAlertDestination(t.Context(), org, store.NewAlertDestination{
		ID: uuid.Must(uuid.NewV7()), Name: "hook", Type: notify.Webhook, Enabled: true, Config: json.RawMessage(`{"url":"https://example.com/"}`),
		CreatedBy: "user_x",
	})
	if err != nil {
		t.Fatal(err)
	}
	names := map[uuid.UUID]string{}
	for _, name := range slices.Sorted(maps.Keys(breaches)) {
		r, _, err := w.CreateAlertRule(t.Context(), org, "user_x", store.AlertRule{
			Name: name, Enabled: true, Severity: "warning", SignalType: "error_rate", Comparator: "gt", Threshold: 0.5, WindowMinutes: 5,
			ConsecutiveBreachesRequired: 1, ConsecutiveHealthyRequired: 1, RenotifyIntervalMinutes: 600, DestinationIds: []string{to.ID.String()},
		})
		if err != nil {
			t.Fatal(err)
		}
		names[r.ID] = name
	}
	return org, names
}

// run does the background work of the shards of the organization until the end of the test.
func (w *outageWorld) run(t *testing.T, org principal.OrgID) {
	t.Helper()
	a := &App{store: w.Store, log: slog.New(slog.DiscardHandler), registry: prometheus.NewRegistry()}
	worker := alerting.NewWorker(alerting.Config{
		Store: w, Source: w, StoredThrough: w.storedThrough, Messages: a.alertMessages, Summary: alerts.Summary, Logger: a.log,
	})
	recorder := alerting.Recorder{Waiting: w, Into: w, Unreadable: a.unreadableChecks()}
	outbox := notify.NewOutbox(notify.OutboxConfig{Deliveries: w, Sender: w, Logger: a.log})
	only := func(kind string, run func(context.Context, *work.Shard)) work.Kind {
		return work.Kind{Name: kind, Run: func(ctx context.Context, shard *work.Shard) {
			if shard.Number == store.ShardOf(kind, string(org)) {
				run(ctx, shard)
				return
			}
			<-shard.Stopping()
		}}
	}
	running, err := work.Start(t.Context(), work.Config{
		Leases: w, Host: "test", Version: "v0", Logger: a.log, Metrics: a.registry,
		Kinds: []work.Kind{
			only(store.WorkAlerts, func(ctx context.Context, shard *work.Shard) {
				a.runAlerts(ctx, shard, worker.Shard(shard.Fence), recorder)
			}),
			only(store.WorkOutbox, func(ctx context.Context, shard *work.Shard) {
				s := outbox.Shard(shard.Fence)
				defer s.Wait()
				work.Due(ctx, shard, s.Wake(), time.Second, s.Step)
			}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(w.start.Add(outageTest * time.Minute)))
	if err := running.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// compare compares the incidents and what arrived.
func (w *outageWorld) compare(t *testing.T, org principal.OrgID, rules map[uuid.UUID]string, incidents, told []string) {
	t.Helper()
	rows, err := w.ListAlertIncidents(t.Context(), org, store.IncidentFilter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	var got []string
	for _, i := range rows {
		names[i.ID.String()] = rules[i.RuleID]
		if i.ResolvedAt == nil {
			t.Errorf("%s is open", rules[i.RuleID])
			continue
		}
		got = append(got, fmt.Sprintf("%s %d-%d", rules[i.RuleID], w.minute(i.FirstTriggeredAt), w.minute(*i.ResolvedAt)))
	}
	slices.Sort(got)
	if !slices.Equal(got, incidents) {
		t.Errorf("incidents %q, want %q", got, incidents)
	}
	events := map[string][]string{}
	for _, key := range w.arrived {
		incident, rest, _ := strings.Cut(key, ":")
		_, event, _ := strings.Cut(rest, ":")
		event, _, _ = strings.Cut(event, ":")
		events[incident] = append(events[incident], event)
	}
	got = nil
	for incident, list := range events {
		got = append(got, names[incident])
		if !slices.Equal(list, []string{"trigger", "resolve"}) {
			t.Errorf("%s was told as %v", names[incident], list)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, told) {
		t.Errorf("told were %q, want %q", got, told)
	}
	if w.destination && w.attempts <= len(w.arrived) {
		t.Error("the destination never failed, so nothing was tested")
	}
}

// compareChecks: each rule has one check for each minute. Those that could not be judged for too long have the category.
func (w *outageWorld) compareChecks(t *testing.T, rules map[uuid.UUID]string, category string) {
	t.Helper()
	seen, failed := map[string]int{}, map[int]int{}
	for _, c := range w.checks {
		seen[fmt.Sprint(c.RuleID, w.minute(c.At))]++
		if c.Status == alerting.Failed {
			failed[w.minute(c.At)]++
			if c.ErrorCategory != category || c.Transition == alerting.Opened || c.Transition == alerting.Resolved {
				t.Errorf("minute %d: %+v", w.minute(c.At), c)
			}
		}
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("%s has %d checks", key, n)
		}
	}
	if want := len(rules) * (outageTest - 2); len(seen) < want {
		t.Errorf("%d checks, want at least %d", len(seen), want)
	}
	patience := int(limits.AlertPatience / time.Minute)
	for m := range outageTest {
		want := 0
		if category != "" && m >= outageBegins && m < outageEnds-patience {
			want = len(rules)
		}
		if failed[m] != want {
			t.Errorf("minute %d: %d failed checks, want %d", m, failed[m], want)
		}
	}
}
