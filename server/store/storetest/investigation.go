package storetest

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

func testInvestigations(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	start := func(title string) store.Investigation {
		t.Helper()
		r, err := f.CreateInvestigation(ctx, org, "user_a", store.Investigation{Title: title, Question: new(" why? "), IssueID: new("iss_1")})
		if err != nil {
			t.Fatal(err)
		}
		f.advance(time.Minute)
		return r
	}
	now := f.now().UTC()
	first := start(" slow checkout ")
	want := store.Investigation{
		ID: first.ID, Org: org, Title: "slow checkout", Question: new("why?"), Status: "investigating", IssueID: new("iss_1"),
		Findings: []store.InvestigationFinding{}, CreatedAt: now, CreatedBy: "user_a", UpdatedAt: now,
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	second := start("full disk")

	added, err := f.AddFinding(ctx, org, first.ID, "user_b", store.InvestigationFinding{
		Text: " p95 rose ", Value: new(612.5), Unit: new("ms"), Call: new("find_slow_traces"),
		Request: json.RawMessage(`{"service": "checkout"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(added.Findings) != 1 || added.Findings[0].Text != "p95 rose" || added.Findings[0].CreatedBy != "user_b" ||
		*added.Findings[0].Value != 612.5 ||
		!added.Findings[0].CreatedAt.Equal(f.now()) || !added.UpdatedAt.Equal(f.now()) {
		t.Errorf("with a finding: %+v", added)
	}
	f.advance(time.Minute)
	edit := store.InvestigationEdit{
		Status: store.Set("diagnosed"), Conclusion: store.Set(new("the new release")),
		Assignee: store.Set(new("night shift")),
	}
	for range 2 { // the second changes nothing
		r, err := f.EditInvestigation(ctx, org, first.ID, edit)
		if err != nil || r.Status != "diagnosed" || *r.Conclusion != "the new release" || *r.Assignee != "night shift" || len(r.Findings) != 1 {
			t.Errorf("edited: %+v, %v", r, err)
		}
	}
	if r, err := f.EditInvestigation(ctx, org, first.ID, store.InvestigationEdit{Assignee: store.Set[*string](nil)}); err != nil ||
		r.Assignee != nil || r.Conclusion == nil {
		t.Errorf("without an assignee: %+v, %v", r, err)
	}

	ids := func(status string) (out []string) {
		rows, err := f.ListInvestigations(ctx, org, status, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			out = append(out, r.Title)
		}
		return out
	}
	if diff := cmp.Diff([]string{"slow checkout", "full disk"}, ids("")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"full disk"}, ids("investigating")); diff != "" {
		t.Errorf("list of a state (-want +got):\n%s", diff)
	}

	// Findings that are added at the same time are all kept.
	const together = 8
	var group sync.WaitGroup
	for range together {
		group.Go(func() {
			if _, err := f.AddFinding(ctx, org, second.ID, "", store.InvestigationFinding{Text: "one of many"}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if r, err := f.GetInvestigation(ctx, org, second.ID); err != nil || len(r.Findings) != together {
		t.Errorf("%d findings, want %d: %v", len(r.Findings), together, err)
	}

	for name, c := range map[string]struct {
		finding store.InvestigationFinding
		want    string
	}{
		"empty": {store.InvestigationFinding{Text: " "}, "text must not be empty"},
		"long": {
			store.InvestigationFinding{Text: strings.Repeat("ä", limits.DescriptionLength+1)},
			"text has 2001 characters; at most 2000 are allowed",
		},
		"request": {
			store.InvestigationFinding{Text: "x", Request: json.RawMessage(`"` + strings.Repeat("x", limits.FindingRequest) + `"`)},
			"request has 8194 bytes as JSON; at most 8 KiB are allowed",
		},
	} {
		_, err := f.AddFinding(ctx, org, first.ID, "", c.finding)
		wantInvalid(t, name, err, c.want)
	}
	_, err = f.EditInvestigation(ctx, org, first.ID, store.InvestigationEdit{Status: store.Set("lost")})
	wantInvalid(t, "status", err, `status "lost" is not a state of an investigation; use investigating, diagnosed, resolved, failed`)

	_, err = f.GetInvestigation(ctx, other, first.ID)
	wantError(t, err, store.ErrNotFound)
	_, err = f.AddFinding(ctx, other, first.ID, "", store.InvestigationFinding{Text: "mine"})
	wantError(t, err, store.ErrNotFound)
	_, err = f.EditInvestigation(ctx, other, first.ID, edit)
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.DeleteInvestigation(ctx, other, first.ID), store.ErrNotFound)
	if rows, err := f.ListInvestigations(ctx, other, "", 0, 10); err != nil || len(rows) > 0 {
		t.Errorf("the investigations of another organization: %v, %v", rows, err)
	}
	if err := f.DeleteInvestigation(ctx, org, first.ID); err != nil {
		t.Error(err)
	}
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceType: "investigation"}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, e := range entries {
		counts[e.Action]++
	}
	trail := map[string]int{
		"investigation.created": 2, "investigation.finding_added": 1 + together, "investigation.updated": 2, "investigation.deleted": 1,
	}
	if diff := cmp.Diff(trail, counts); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}
