package storetest

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func newDashboard(name string) store.DashboardChange {
	return store.DashboardChange{
		Name: name, Definition: json.RawMessage(`{"n":1}`), Kind: "created", Action: "created", After: map[string]any{"name": name},
	}
}

// decoded makes definitions comparable, because PostgreSQL formats JSON differently.
func decoded(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func testDashboards(t *testing.T, f *fixture) {
	org, user := f.org(t)
	other, _ := f.org(t)
	ctx := t.Context()
	made, txid, err := f.CreateDashboard(ctx, org, user, newDashboard("one"))
	if err != nil || txid == "" {
		t.Fatal(err, txid)
	}
	want := store.Dashboard{
		ID: made.ID, Org: org, Name: "one", Definition: made.Definition, Version: 1, CreatedAt: f.now().UTC(), CreatedBy: user,
		UpdatedAt: f.now().UTC(), UpdatedBy: user,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	got, err := f.GetDashboard(ctx, org, made.ID)
	if err != nil || got.Name != "one" || !cmp.Equal(decoded(t, got.Definition), any(map[string]any{"n": 1.0})) {
		t.Errorf("get: %v %+v", err, got)
	}

	// The clock stands still, but each change gets a later time.
	edited, txid2, err := f.EditDashboard(ctx, org, made.ID, "user_other", func(newest store.Dashboard) (*store.DashboardChange, error) {
		if newest.Version != 1 {
			t.Errorf("the newest version is %d", newest.Version)
		}
		return &store.DashboardChange{
			Name: "two", Definition: json.RawMessage(`{"n":2}`), Kind: "renamed", Summary: new("Renamed to two"), Action: "updated",
			Before: map[string]any{"name": "one"}, After: map[string]any{"name": "two"},
		}, nil
	})
	if err != nil || txid2 == "" || txid2 == txid || edited.Version != 2 || edited.Name != "two" || !edited.UpdatedAt.After(made.UpdatedAt) ||
		edited.UpdatedBy != "user_other" || edited.CreatedBy != user {
		t.Errorf("edit: %v %q %+v", err, txid2, edited)
	}
	same, none, err := f.EditDashboard(ctx, org, made.ID, user, func(store.Dashboard) (*store.DashboardChange, error) { return nil, nil })
	if err != nil || none != "" || same.Version != 2 || !same.UpdatedAt.Equal(edited.UpdatedAt) {
		t.Errorf("an edit of nothing: %v %q %+v", err, none, same)
	}
	refusal := errors.New("no")
	if _, _, err := f.EditDashboard(ctx, org, made.ID, user, func(store.Dashboard) (*store.DashboardChange, error) {
		return nil,
			refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("a refused edit: %v", err)
	}

	versions, err := f.ListDashboardVersions(ctx, org, made.ID, 0, 10)
	if err != nil || len(versions) != 2 || versions[0].Number != 2 || versions[0].Kind != "renamed" ||
		*versions[0].Summary != "Renamed to two" ||
		versions[0].Snapshot != nil || versions[1].Number != 1 || !versions[0].CreatedAt.Equal(edited.UpdatedAt) ||
		versions[0].CreatedBy != "user_other" {
		t.Fatalf("versions: %v %+v", err, versions)
	}
	if below, err := f.ListDashboardVersions(ctx, org, made.ID, 2, 10); err != nil || len(below) != 1 || below[0].Number != 1 {
		t.Errorf("versions below 2: %v %+v", err, below)
	}
	v, err := f.GetDashboardVersion(ctx, org, made.ID, versions[1].ID)
	if err != nil || v.Name != "one" || !cmp.Equal(decoded(t, v.Snapshot), any(map[string]any{"n": 1.0})) {
		t.Errorf("version: %v %+v", err, v)
	}

	// Another organization, another dashboard and an unknown id all give the same error.
	second, _, err := f.CreateDashboard(ctx, org, user, newDashboard("second"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		org principal.OrgID
		id  uuid.UUID
	}{{other, made.ID}, {org, uuid.New()}} {
		_, err = f.GetDashboard(ctx, at.org, at.id)
		wantError(t, err, store.ErrNotFound)
		_, _, err = f.EditDashboard(ctx, at.org, at.id, user, func(store.Dashboard) (*store.DashboardChange, error) {
			t.Error("a change of a dashboard that is not there")
			return nil, nil
		})
		wantError(t, err, store.ErrNotFound)
		_, err = f.DeleteDashboard(ctx, at.org, at.id)
		wantError(t, err, store.ErrNotFound)
		_, err = f.ListDashboardVersions(ctx, at.org, at.id, 0, 10)
		wantError(t, err, store.ErrNotFound)
		_, err = f.GetDashboardVersion(ctx, at.org, at.id, versions[0].ID)
		wantError(t, err, store.ErrNotFound)
	}
	_, err = f.GetDashboardVersion(ctx, org, second.ID, versions[0].ID)
	wantError(t, err, store.ErrNotFound)
	if list, err := f.ListDashboards(ctx, other, 0, 10); err != nil || len(list) != 0 {
		t.Errorf("another organization's list: %v %+v", err, list)
	}

	if _, err := f.DeleteDashboard(ctx, org, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.GetDashboard(ctx, org, made.ID)
	wantError(t, err, store.ErrNotFound)
	var actions []string
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceType: "dashboard"}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		actions = append(actions, e.Action)
	}
	if diff := cmp.Diff([]string{"dashboard.deleted", "dashboard.created", "dashboard.updated", "dashboard.created"}, actions); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func testDashboardOrder(t *testing.T, f *fixture) {
	org, user := f.org(t)
	var ids []uuid.UUID
	for i := range 5 {
		d, _, err := f.CreateDashboard(t.Context(), org, user, newDashboard(strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
		f.advance(time.Second)
	}
	touch := func(store.Dashboard) (*store.DashboardChange, error) {
		return new(newDashboard("touched")), nil
	}
	if _, _, err := f.EditDashboard(t.Context(), org, ids[1], user, touch); err != nil {
		t.Fatal(err)
	}
	var got []uuid.UUID
	for offset := 0; offset < 6; offset += 2 {
		page, err := f.ListDashboards(t.Context(), org, offset, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page {
			got = append(got, d.ID)
		}
	}
	if diff := cmp.Diff([]uuid.UUID{ids[1], ids[4], ids[3], ids[2], ids[0]}, got); diff != "" {
		t.Errorf("newest change first (-want +got):\n%s", diff)
	}
}

// testDashboardRace: no concurrent change is lost, and each has its version.
func testDashboardRace(t *testing.T, f *fixture) {
	org, user := f.org(t)
	d, _, err := f.CreateDashboard(t.Context(), org, user, newDashboard("counter"))
	if err != nil {
		t.Fatal(err)
	}
	const writers, rounds = 4, 5
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range rounds {
				_, _, err := f.EditDashboard(t.Context(), org, d.ID, user, func(newest store.Dashboard) (*store.DashboardChange, error) {
					var count struct{ N int }
					if err := json.Unmarshal(newest.Definition, &count); err != nil {
						return nil, err
					}
					in := newDashboard("counter")
					in.Definition = json.RawMessage(`{"n":` + strconv.Itoa(count.N+1) + `}`)
					return &in, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := f.GetDashboard(t.Context(), org, d.ID)
	if err != nil || got.Version != 1+writers*rounds || !cmp.Equal(decoded(t, got.Definition),
		any(map[string]any{"n": float64(1 + writers*rounds)})) {
		t.Errorf("after %d changes: %v version %d, %s", writers*rounds, err, got.Version, got.Definition)
	}
	versions, err := f.ListDashboardVersions(t.Context(), org, d.ID, 0, 100)
	if err != nil || len(versions) != 1+writers*rounds {
		t.Errorf("%v: %d versions", err, len(versions))
	}
}

// testDashboardHistory: a dashboard keeps its newest versions, and another dashboard loses no version.
func testDashboardHistory(t *testing.T, f *fixture) {
	org, user := f.org(t)
	ctx := t.Context()
	create := func() store.Dashboard {
		t.Helper()
		d, _, err := f.CreateDashboard(ctx, org, user, newDashboard("d"))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	busy, quiet := create(), create()
	for n := 2; n <= store.MaxDashboardVersions+3; n++ {
		_, _, err := f.EditDashboard(ctx, org, busy.ID, user, func(store.Dashboard) (*store.DashboardChange, error) {
			c := newDashboard(strconv.Itoa(n))
			c.Kind, c.Action = "renamed", "updated"
			return &c, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.ListDashboardVersions(ctx, org, busy.ID, 0, 1000)
	if err != nil || len(list) != store.MaxDashboardVersions || list[0].Number != store.MaxDashboardVersions+3 ||
		list[len(list)-1].Number != 4 {
		t.Errorf("%d versions, %v, want the newest %d", len(list), err, store.MaxDashboardVersions)
	}
	if list, err := f.ListDashboardVersions(ctx, org, quiet.ID, 0, 1000); err != nil || len(list) != 1 {
		t.Errorf("the other dashboard has %d versions, %v", len(list), err)
	}
}
