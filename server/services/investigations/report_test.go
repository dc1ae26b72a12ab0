package investigations

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func TestReport(t *testing.T) {
	at := time.Date(2026, 11, 24, 13, 5, 0, 0, time.UTC)
	id := uuid.MustParse("0193f000-0000-7000-8000-000000000001")
	r := store.Investigation{
		ID: id, Title: "checkout\nis slow", Question: new("Since the sale?"), Status: "diagnosed", IssueID: new("iss_1"),
		Conclusion: new("Release 4.2."),
		Assignee:   new("night shift"), CreatedAt: at, UpdatedAt: at.Add(time.Hour),
		Findings: []store.InvestigationFinding{
			{
				Text: "p95 rose", Value: new(612.0), Unit: new("ms"), Call: new("find_slow_traces"),
				Request: json.RawMessage("{\"where\": \"a = `b`\"}"), CreatedAt: at,
			},
			{Text: "no deploy\n# of others", CreatedAt: at},
			{Text: "failed", Value: new(0.5), Call: new("find_errors"), CreatedAt: at},
		},
	}
	want := "# checkout is slow\n\n" + publicid.Encode(publicid.Investigation, id) + ", diagnosed, started 2026-11-24T13:05:00Z, " +
		"last change 2026-11-24T14:05:00Z, with night shift, about the error issue iss_1\n\nSince the sale?\n\n## Findings\n\n" +
		"1. p95 rose: **612 ms** (2026-11-24T13:05:00Z)\n   `find_slow_traces` `{\"where\":\"a = \\u0060b\\u0060\"}`\n" +
		"2. no deploy # of others (2026-11-24T13:05:00Z)\n3. failed: **0.5** (2026-11-24T13:05:00Z)\n   `find_errors` `{}`\n\n" +
		"## Conclusion\n\nRelease 4.2.\n"
	if diff := cmp.Diff(want, report(r)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
