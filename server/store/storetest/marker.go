package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

func testMarkers(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	now := f.now().UTC()
	create := func(in store.Marker) store.Marker {
		t.Helper()
		m, err := f.CreateMarker(ctx, org, "user_a", in)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	deploy := create(store.Marker{
		Kind: "deploy", Title: " checkout 1.4.2 ", Description: new(" "), ServiceName: new("checkout"), DeploymentEnvironment: new("production"),
		OccurredAt: now.Add(-time.Hour), EndedAt: new(now.Add(-50 * time.Minute)), URL: new("https://ci.example.com/7"),
	})
	want := store.Marker{
		ID: deploy.ID, Org: org, Kind: "deploy", Title: "checkout 1.4.2", ServiceName: new("checkout"), DeploymentEnvironment: new("production"),
		OccurredAt: now.Add(-time.Hour), EndedAt: new(now.Add(-50 * time.Minute)), URL: new("https://ci.example.com/7"),
		CreatedAt: now, CreatedBy: "user_a", UpdatedAt: now,
	}
	if diff := cmp.Diff(want, deploy); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	note := create(store.Marker{Kind: "note", Title: "sale begins"})
	if !note.OccurredAt.Equal(now) {
		t.Errorf("a marker without a time is of %s, want %s", note.OccurredAt, now)
	}
	flag := create(store.Marker{Kind: "flag", Title: "new-cart on", ServiceName: new("cart"), OccurredAt: now.Add(-30 * time.Minute)})

	list := func(filter store.MarkerFilter) (titles []string) {
		t.Helper()
		rows, err := f.ListMarkers(ctx, org, filter, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			titles = append(titles, r.Title)
		}
		return titles
	}
	for name, c := range map[string]struct {
		filter store.MarkerFilter
		want   []string
	}{
		"all":  {store.MarkerFilter{}, []string{note.Title, flag.Title, deploy.Title}},
		"kind": {store.MarkerFilter{Kind: "flag"}, []string{flag.Title}},
		"window": {
			store.MarkerFilter{Start: now.Add(-40 * time.Minute), End: now.Add(-20 * time.Minute)},
			[]string{flag.Title},
		},
		"one that ends in a window": {
			store.MarkerFilter{Start: now.Add(-55 * time.Minute), End: now.Add(-45 * time.Minute)},
			[]string{deploy.Title},
		},
		"service":     {store.MarkerFilter{Service: new("cart")}, []string{note.Title, flag.Title}},
		"environment": {store.MarkerFilter{Environment: new("staging")}, []string{note.Title, flag.Title}},
	} {
		if diff := cmp.Diff(c.want, list(c.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if rows, err := f.ListMarkers(ctx, org, store.MarkerFilter{}, 1, 1); err != nil || len(rows) != 1 || rows[0].ID != flag.ID {
		t.Errorf("second page: %v, %v", rows, err)
	}

	f.advance(time.Minute)
	want.Title, want.URL, want.EndedAt, want.UpdatedAt = "rolled back", nil, new(now), now.Add(time.Minute)
	for range 2 { // the second changes nothing
		got, err := f.EditMarker(ctx, org, deploy.ID, store.MarkerEdit{
			Title: store.Set("rolled back"), Address: store.Set[*string](nil), EndedAt: store.Set(new(now)),
		})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("edited: %v (-want +got):\n%s", err, diff)
		}
		f.advance(time.Minute)
	}
	for name, c := range map[string]struct {
		edit store.MarkerEdit
		want string
	}{
		"kind":  {store.MarkerEdit{Kind: store.Set("x")}, `kind "x" is not a kind of marker; use deploy, flag, configuration, note`},
		"title": {store.MarkerEdit{Title: store.Set(" ")}, "title must not be empty"},
		"long": {
			store.MarkerEdit{Title: store.Set(strings.Repeat("ä", limits.MarkerTitleLength+1))},
			"title has 201 characters; at most 200 are allowed",
		},
		"url":  {store.MarkerEdit{Address: store.Set(new("javascript:alert(1)"))}, "url must begin with https:// or http://"},
		"end":  {store.MarkerEdit{EndedAt: store.Set(new(now.Add(-2 * time.Hour)))}, "ended_at is before occurred_at"},
		"line": {store.MarkerEdit{ServiceName: store.Set(new("a\nb"))}, "service_name contains a control character"},
	} {
		_, err := f.EditMarker(ctx, org, deploy.ID, c.edit)
		wantInvalid(t, name, err, c.want)
	}

	_, err := f.GetMarker(ctx, other, deploy.ID)
	wantError(t, err, store.ErrNotFound)
	_, err = f.EditMarker(ctx, other, deploy.ID, store.MarkerEdit{Title: store.Set("mine")})
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.DeleteMarker(ctx, other, deploy.ID), store.ErrNotFound)
	if rows, err := f.ListMarkers(ctx, other, store.MarkerFilter{}, 0, 100); err != nil || len(rows) > 0 {
		t.Errorf("the markers of another organization: %v, %v", rows, err)
	}
	if err := f.DeleteMarker(ctx, org, deploy.ID); err != nil {
		t.Fatal(err)
	}
	if got := list(store.MarkerFilter{}); len(got) != 2 {
		t.Errorf("after a deletion: %v", got)
	}
	var actions []string
	for _, action := range []string{"marker.created", "marker.updated", "marker.deleted"} {
		entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: action}, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			actions = append(actions, e.Action)
		}
	}
	trail := []string{"marker.created", "marker.created", "marker.created", "marker.updated", "marker.deleted"}
	if diff := cmp.Diff(trail, actions); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}
