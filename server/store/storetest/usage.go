package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/store"
)

func testIngestUsage(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	day := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	east := time.FixedZone("east", 5*3600)
	one := store.Usage{Requests: 1, Items: 10, Bytes: 1000}
	add := func(deltas ...store.UsageDelta) {
		t.Helper()
		if err := f.AddIngestUsage(ctx, deltas); err != nil {
			t.Fatal(err)
		}
	}
	add()
	add(
		store.UsageDelta{Org: org, Day: day(10, 31, 23), Signal: "logs", KeyID: "ingk_a", Usage: one},
		store.UsageDelta{Org: org, Day: day(11, 1, 0), Signal: "logs", KeyID: "ingk_a", Usage: one},
		store.UsageDelta{Org: org, Day: day(11, 1, 23), Signal: "logs", KeyID: "ingk_a", Usage: one},
		// November 1st in UTC
		store.UsageDelta{Org: org, Day: time.Date(2026, 11, 2, 4, 0, 0, 0, east), Signal: "logs", KeyID: "ingk_a", Usage: one},
		store.UsageDelta{
			Org: org, Day: day(11, 30, 23), Signal: "traces", KeyID: "ingk_b",
			Usage: store.Usage{Requests: 1, Items: 1 << 40, Bytes: 1 << 60},
		},
		store.UsageDelta{Org: org, Day: day(12, 1, 0), Signal: "traces", KeyID: "ingk_b", Usage: one},
		store.UsageDelta{Org: other, Day: day(11, 1, 0), Signal: "logs", KeyID: "ingk_c", Usage: one},
		store.UsageDelta{Org: "org_none", Day: day(11, 1, 0), Signal: "logs", KeyID: "ingk_d", Usage: one},
	)
	add(store.UsageDelta{Org: org, Day: day(11, 1, 1), Signal: "logs", KeyID: "ingk_b", Usage: one})
	november := time.Date(2026, 11, 15, 3, 0, 0, 0, east)
	for _, tc := range []struct {
		by   []store.UsageGroup
		want []store.UsageRow
	}{
		{[]store.UsageGroup{store.UsageByDay}, []store.UsageRow{
			{Day: day(11, 1, 0), Usage: store.Usage{Requests: 4, Items: 40, Bytes: 4000}},
			{Day: day(11, 30, 0), Usage: store.Usage{Requests: 1, Items: 1 << 40, Bytes: 1 << 60}},
		}},
		{[]store.UsageGroup{store.UsageByKey, store.UsageBySignal}, []store.UsageRow{
			{KeyID: "ingk_a", Signal: "logs", Usage: store.Usage{Requests: 3, Items: 30, Bytes: 3000}},
			{KeyID: "ingk_b", Signal: "logs", Usage: one},
			{KeyID: "ingk_b", Signal: "traces", Usage: store.Usage{Requests: 1, Items: 1 << 40, Bytes: 1 << 60}},
		}},
	} {
		got, err := f.ListIngestUsage(ctx, org, november, tc.by...)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("by %v: %v (-want +got):\n%s", tc.by, err, diff)
		}
	}
	sums, err := f.IngestUsageOfMonth(ctx, other, november)
	if diff := cmp.Diff(map[string]store.Usage{"logs": one}, sums); err != nil || diff != "" {
		t.Errorf("the other organization: %v (-want +got):\n%s", err, diff)
	}
}

// testIngestUsageOfNodes: nodes that add to the same rows concurrently lose nothing and do not deadlock.
func testIngestUsageOfNodes(t *testing.T, f *fixture) {
	org, _ := f.org(t)
	other, _ := f.org(t)
	const nodes, rounds, keys = 6, 5, 40
	var wg sync.WaitGroup
	for node := range nodes {
		wg.Go(func() {
			for range rounds {
				var deltas []store.UsageDelta
				for k := range keys {
					if node%2 == 1 {
						k = keys - 1 - k // in reverse order
					}
					for _, o := range []store.UsageDelta{{Org: org}, {Org: other}} {
						o.Day, o.Signal, o.KeyID, o.Usage = f.now(), "traces", fmt.Sprint("ingk_", k), store.Usage{Requests: 1, Items: 2, Bytes: 3}
						deltas = append(deltas, o)
					}
				}
				if err := f.AddIngestUsage(t.Context(), deltas); err != nil {
					t.Errorf("add: %v", err)
				}
			}
		})
	}
	wg.Wait()
	n := int64(nodes * rounds * keys)
	got, err := f.IngestUsageOfMonth(t.Context(), org, f.now())
	want := map[string]store.Usage{"traces": {Requests: n, Items: 2 * n, Bytes: 3 * n}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
