package ingest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/usage"
	"github.com/svc-observability/svc/server/principal"
)

// plan says which limits a request meets: the rate of its key, or the month's items of its organization.
type plan struct{ paced, spent bool }

// use returns a key that meets the limits, in place of the given good key.
func (p plan) use(f *fixture, key string) string {
	if key != goodKey || p == (plan{}) {
		return key
	}
	key = map[plan]string{{paced: true}: slowKey, {spent: true}: spentKey, {paced: true, spent: true}: slowSpentKey}[p]
	if p.paced { // takes the only request of this second, and stores nothing
		f.frozen.Store(time.Now().UnixNano())
		f.do("POST", "/v1/logs", []byte("{}"), append(bearer(key), "Content-Type", "application/json")...)
	}
	return key
}

// otherKey returns a key that may send log records for the same organization.
func (p plan) otherKey() string {
	if p.spent {
		return spentKey
	}
	return goodKey
}

// ledger keeps usage and outcomes as a database would, by organization, signal and key.
type ledger struct {
	mu       sync.Mutex
	used     map[string]usage.Counts
	outcomes map[string][]outcome.Outcome
}

func newLedger() *ledger {
	return &ledger{used: map[string]usage.Counts{}, outcomes: map[string][]outcome.Outcome{}}
}

func (l *ledger) AddUsage(_ context.Context, _ string, _ int64, deltas []usage.Delta) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range deltas {
		id := string(d.Org) + " " + d.Signal + " " + d.Key
		n := l.used[id]
		l.used[id] = usage.Counts{Requests: n.Requests + d.Requests, Items: n.Items + d.Items, Bytes: n.Bytes + d.Bytes}
	}
	return nil
}

func (l *ledger) Accounts(context.Context, []principal.OrgID, time.Time) (map[principal.OrgID]usage.Account, error) {
	none := int64(0)
	return map[principal.OrgID]usage.Account{
		"org_spent": {Plan: &usage.Plan{
			Name: "Starter", Active: true,
			Limits: map[string]usage.Limit{"traces": {Items: &none}, "events": {Bytes: &none}},
		}},
		"org_inactive": {Plan: &usage.Plan{Name: "Trial"}},
	}, nil
}

func (l *ledger) PutOutcomes(_ context.Context, _ string, all []outcome.History) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range all {
		l.outcomes[string(h.Org)+" "+h.ID] = h.Outcomes
	}
	return nil
}

func (*ledger) Outcomes(context.Context, string, outcome.Key) ([]outcome.Outcome, error) {
	return nil, nil
}

func (*ledger) DeleteOutcomes(context.Context, time.Time) error { return nil }

// keep adds a meter and a recorder to a gateway's configuration. The returned function flushes both into the ledger and ends
// them.
func (l *ledger) keep(t testing.TB, cfg *ingest.Config) (end func()) {
	t.Helper()
	m, err := usage.Start(usage.Config{Store: l, Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := outcome.Start(outcome.Config{Store: l, Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Usage, cfg.Outcomes = m, r
	return sync.OnceFunc(func() {
		if err := errors.Join(m.Close(context.Background()), r.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
}
