package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// testFlushIngestUsage repeats flushes, like a node that does not know whether they arrived.
func testFlushIngestUsage(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	november := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	delta := func(org principal.OrgID, signal string, items int64) store.UsageDelta {
		return store.UsageDelta{
			Org: org, Day: november, Signal: signal, KeyID: "ingk_a",
			Usage: store.Usage{Requests: 1, Items: items, Bytes: 10 * items},
		}
	}
	for _, flush := range []struct {
		node   string
		number int64
		items  int64
	}{
		{"a", 100, 1},
		{"a", 100, 1},
		{"a", 100, 1}, // repeated, but counted once
		{"b", 100, 10},
		{"b", 100, 10}, // each node has its own numbers
		{"a", 101, 100},
		{"a", 101, 100},
		{"a", 50, 1000}, // the clock was set back, but it is a different flush
	} {
		if err := f.FlushIngestUsage(ctx, flush.node, flush.number,
			[]store.UsageDelta{delta(org, "traces", flush.items), delta("org_none", "logs", 1)}); err != nil {
			t.Fatal(err)
		}
	}
	// Concurrent nodes, each repeating: they do not deadlock, and nothing is lost.
	var wg sync.WaitGroup
	for _, node := range []string{"c", "d", "e"} {
		wg.Go(func() {
			for number := range int64(20) {
				for range 2 {
					if err := f.FlushIngestUsage(ctx, node, number+1, []store.UsageDelta{delta(other, "logs", 1), delta(org, "logs", 1)}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	limit := int64(5)
	for org, in := range map[principal.OrgID]store.PlanParams{
		org:   {Name: "pro", Active: true, Limits: []store.PlanLimit{{Signal: "traces", Items: &limit}}},
		other: {Name: "ended"},
	} {
		if _, err := f.PutPlan(ctx, org, in); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.IngestAccounts(ctx, []principal.OrgID{org, other, "org_none"}, november)
	if err != nil {
		t.Fatal(err)
	}
	want := map[principal.OrgID]store.IngestAccount{
		org: {
			Plan: store.Plan{Name: "pro", Active: true, Limits: []store.PlanLimit{{Signal: "traces", Items: &limit}}, UpdatedAt: f.now().UTC()},
			Used: map[string]store.Usage{"traces": {Requests: 4, Items: 1111, Bytes: 11110}, "logs": {Requests: 60, Items: 60, Bytes: 600}},
		},
		other: {Plan: store.Plan{Name: "ended", Limits: []store.PlanLimit{}, UpdatedAt: f.now().UTC()}},
	}
	for org, account := range got { // a plan without limits has nil limits, however it was stored
		if len(account.Plan.Limits) == 0 {
			account.Plan.Limits = []store.PlanLimit{}
			got[org] = account
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = f.IngestAccounts(ctx, []principal.OrgID{org}, november.AddDate(0, 1, 0))
	if err != nil || len(got) != 1 || len(got[org].Used) != 0 {
		t.Errorf("December: %v %v", got, err)
	}
}
