package storetest

import (
	"testing"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
)

func testRecommendations(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	canonical := "http.request.method"
	method := store.Finding{Key: "rename:http.method", Kind: "rename", SourceKey: "http.method", CanonicalKey: &canonical, Usage: 100}
	naming := store.Finding{Key: "naming:plain", Kind: "naming", SourceKey: "plain", Usage: 5}
	// look brings the list up to date and returns it as "number status usage".
	look := func(mapped map[string]bool, found ...store.Finding) []store.Recommendation {
		t.Helper()
		list, err := f.ReconcileRecommendations(ctx, org, found, mapped)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	is := func(r store.Recommendation, number int, status store.RecommendationStatus, usage int64, ended bool) {
		t.Helper()
		if r.Number != number || r.Status != status || r.Usage != usage || (r.ResolvedAt != nil) != ended {
			t.Errorf("%+v, want number %d, %s, %d uses, ended %v", r, number, status, usage, ended)
		}
	}
	if list := look(nil); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	list := look(nil, method, naming)
	is(list[0], 1, store.RecommendationOpen, 100, false)
	is(list[1], 2, store.RecommendationOpen, 5, false)
	method.Usage = 105 // no reason to write
	is(look(nil, method, naming)[0], 1, store.RecommendationOpen, 100, false)
	method.Usage = 200
	is(look(nil, method, naming)[0], 1, store.RecommendationOpen, 200, false)

	list = look(map[string]bool{"http.method": true})
	is(list[0], 1, store.RecommendationApplied, 200, true)
	is(list[1], 2, store.RecommendationResolved, 5, true)
	list = look(nil, method, naming)
	is(list[0], 1, store.RecommendationApplied, 200, true)
	is(list[1], 2, store.RecommendationOpen, 5, false)

	for range 2 { // the second changes nothing
		dismissed, err := f.DismissRecommendation(ctx, org, list[1].ID)
		if err != nil {
			t.Fatal(err)
		}
		is(dismissed, 2, store.RecommendationDismissed, 5, false)
	}
	is(look(nil, naming)[1], 2, store.RecommendationDismissed, 5, false)
	is(look(nil)[1], 2, store.RecommendationDismissed, 5, false)
	for range 2 {
		reopened, err := f.ReopenRecommendation(ctx, org, list[1].ID)
		if err != nil {
			t.Fatal(err)
		}
		is(reopened, 2, store.RecommendationOpen, 5, false)
	}
	for _, action := range []string{"recommendation.dismissed", "recommendation.reopened"} {
		entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: action}, 0, 10)
		if err != nil || len(entries) != 2 {
			t.Errorf("audit of %s: %+v, %v", action, entries, err)
		}
	}

	for _, id := range []uuid.UUID{list[1].ID, uuid.New()} {
		_, err := f.DismissRecommendation(ctx, other, id)
		wantError(t, err, store.ErrNotFound)
		_, err = f.ReopenRecommendation(ctx, other, id)
		wantError(t, err, store.ErrNotFound)
	}
	if foreign, err := f.ListRecommendations(ctx, other); err != nil || len(foreign) != 0 {
		t.Errorf("another organization has %+v, %v", foreign, err)
	}
	first, err := f.ReconcileRecommendations(ctx, other, []store.Finding{naming}, nil)
	if err != nil || len(first) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	is(first[0], 1, store.RecommendationOpen, 5, false)
}
