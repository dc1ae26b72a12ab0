package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/store"
)

func testIngestOutcomes(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	start := f.now().UTC()
	outcome := func(key string, after time.Duration) store.IngestOutcome {
		return store.IngestOutcome{KeyID: key, Node: "n1", At: start.Add(after), Signal: "logs", Door: "http", Status: 200, Accepted: 3, Bytes: 9}
	}
	refused := store.IngestOutcome{
		KeyID: "ingk_a", Node: "n2", At: start.Add(2 * time.Second), Signal: "traces", Door: "grpc", Status: 401, Tag: "@svc/ingest/Unauthorized",
		Rejected: 1, Sampled: 2, Cut: 3, Bytes: 4, Reason: "it is disabled", Agent: "otel/1",
	}
	put := func(batch ...store.NodeOutcomes) {
		t.Helper()
		if err := f.PutIngestOutcomes(ctx, batch); err != nil {
			t.Fatal(err)
		}
	}
	put()
	first := outcome("ingk_a", 0)
	first.Reason, first.Agent = "bad \x00\xff", strings.Repeat("a", 300)
	put(store.NodeOutcomes{Org: org, KeyID: "ingk_a", Node: "n1", Outcomes: []store.IngestOutcome{first}})
	if got, err := f.ListIngestOutcomes(ctx, org, "ingk_a"); err != nil || len(got) != 1 || got[0].Reason != "bad  \uFFFD" ||
		len(got[0].Agent) != 200 {
		t.Errorf("text of senders: %+v, %v", got, err)
	}
	f.advance(time.Hour)
	second, third := outcome("ingk_a", time.Second), outcome("ingk_a", 3*time.Second)
	put(
		store.NodeOutcomes{Org: org, KeyID: "ingk_a", Node: "n1", Outcomes: []store.IngestOutcome{second, third}}, // replaces
		store.NodeOutcomes{Org: org, KeyID: "ingk_a", Node: "n2", Outcomes: []store.IngestOutcome{refused}},
		store.NodeOutcomes{Org: "org_none", KeyID: "ingk_a", Node: "n2", Outcomes: []store.IngestOutcome{refused}},
	)
	f.advance(time.Hour)
	fourth := outcome("ingk_b", 2*time.Second)
	put(store.NodeOutcomes{Org: org, KeyID: "ingk_b", Node: "n1", Outcomes: []store.IngestOutcome{fourth}})
	check := func(key string, want ...store.IngestOutcome) {
		t.Helper()
		got, err := f.ListIngestOutcomes(ctx, org, key)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", key, err, diff)
		}
	}
	check("ingk_a", third, refused, second)
	check("", third, refused, fourth, second)
	if got, err := f.ListIngestOutcomes(ctx, other, "ingk_a"); err != nil || len(got) != 0 {
		t.Errorf("the other organization sees %d, %v", len(got), err)
	}
	if n, err := f.DeleteIngestOutcomes(ctx, f.now()); err != nil || n != 2 {
		t.Errorf("deleted %d, %v", n, err)
	}
	check("", fourth)
}
