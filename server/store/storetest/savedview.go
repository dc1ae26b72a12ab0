package storetest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func view(owner principal.UserID, visibility, name string) store.SavedView {
	return store.SavedView{Page: "traces", Name: name, State: "q=has_error+%3D+true", Visibility: visibility, Owner: owner}
}

// viewers are the people of a test: the owner, another member, and an administrator.
func viewers(t *testing.T, f *fixture, org principal.OrgID) (owner, other, admin store.Viewer) {
	t.Helper()
	for _, v := range []*store.Viewer{&owner, &other, &admin} {
		v.User = f.user(t).ID
		if err := f.CreateMembership(t.Context(), org, v.User, principal.RoleMember); err != nil {
			t.Fatal(err)
		}
	}
	admin.Admin = true
	return owner, other, admin
}

func testSavedViews(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	owner, other, admin := viewers(t, f, org)
	now := f.now().UTC()
	in := view(owner.User, store.ViewPrivate, " slow ")
	in.Description = new(" of the shop\nand the cart ")
	got, err := f.CreateSavedView(ctx, org, in)
	if err != nil {
		t.Fatal(err)
	}
	want := store.SavedView{
		ID: got.ID, Org: org, Page: "traces", Name: "slow", Description: new("of the shop\nand the cart"), State: "q=has_error+%3D+true",
		Visibility: store.ViewPrivate, Owner: owner.User, CreatedAt: now, UpdatedAt: now,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	f.advance(time.Minute)
	want.Name, want.State, want.Visibility, want.Description, want.UpdatedAt = "slower", "", store.ViewShared, nil, now.Add(time.Minute)
	for range 2 { // the second changes nothing
		got, err := f.EditSavedView(ctx, org, owner, want.ID, store.SavedViewEdit{
			Name: store.Set("slower "), State: store.Set(""), Visibility: store.Set(store.ViewShared), Description: store.Set(new(" ")),
		})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("edited: %v (-want +got):\n%s", err, diff)
		}
		f.advance(time.Minute)
	}
	for name, c := range map[string]struct {
		edit store.SavedViewEdit
		want string
	}{
		"name": {store.SavedViewEdit{Name: store.Set(" ")}, "name must not be empty"},
		"long name": {
			store.SavedViewEdit{Name: store.Set(strings.Repeat("ä", limits.SavedViewName+1))},
			"name has 81 characters; at most 80 are allowed",
		},
		"visibility": {store.SavedViewEdit{Visibility: store.Set("secret")}, `visibility must be one of private, shared, not "secret"`},
		"long state": {
			store.SavedViewEdit{State: store.Set(strings.Repeat("x", limits.SavedViewState+1))},
			"state has 8193 characters; at most 8192 are allowed",
		},
		"escape":  {store.SavedViewEdit{State: store.Set("q=%zz")}, `state is not the query of an address: invalid URL escape "%zz"`},
		"address": {store.SavedViewEdit{State: store.Set("?q=1")}, "state must be the text between ? and # of an address, without them"},
		"letters": {store.SavedViewEdit{State: store.Set("q=größe")}, "state has a character that an address encodes with %"},
		"control": {store.SavedViewEdit{State: store.Set("q=\x00")}, "state has a character that an address encodes with %"},
	} {
		_, err := f.EditSavedView(ctx, org, admin, want.ID, c.edit)
		wantInvalid(t, name, err, c.want)
	}
	_, err = f.CreateSavedView(ctx, org, view("", store.ViewPrivate, "of a key"))
	wantInvalid(t, "private view of a key", err, "visibility must be shared: the view has no owner")
	_, err = f.CreateSavedView(ctx, org, store.SavedView{Page: "party", Name: "x", Visibility: store.ViewShared})
	wantInvalid(t, "page", err, `page must be one of services, map, traces, logs, errors, metrics, incidents, replays, events, agents, sql, not "party"`)

	// A name is free for others as long as the view is private.
	mine, err := f.CreateSavedView(ctx, org, view(other.User, store.ViewPrivate, "slower"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.CreateSavedView(ctx, org, view(other.User, store.ViewPrivate, "slower"))
	wantError(t, err, store.ErrConflict)
	_, err = f.CreateSavedView(ctx, org, view("", store.ViewShared, "slower"))
	wantError(t, err, store.ErrConflict)
	_, err = f.EditSavedView(ctx, org, other, mine.ID, store.SavedViewEdit{Visibility: store.Set(store.ViewShared)})
	wantError(t, err, store.ErrConflict)
	logs := view(owner.User, store.ViewShared, "slower")
	logs.Page = "logs"
	if _, err := f.CreateSavedView(ctx, org, logs); err != nil {
		t.Errorf("the name on another page: %v", err)
	}
	if err := f.DeleteSavedView(ctx, org, owner, want.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.GetSavedView(ctx, org, owner, want.ID)
	wantError(t, err, store.ErrNotFound)

	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceType: "saved_view"}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var trail []string
	for _, e := range entries {
		name, _ := e.Changes.After["name"].(string)
		trail = append(trail, strings.TrimSpace(e.Action+" "+name))
		if e.Action == "saved_view.created" && e.Changes.After["visibility"] == store.ViewPrivate &&
			(name != "" || e.Changes.After["state"] != nil) {
			t.Errorf("the audit log has the texts of a private view: %v", e.Changes.After)
		}
	}
	if diff := cmp.Diff([]string{
		"saved_view.deleted", "saved_view.created slower", "saved_view.created", "saved_view.updated slower", "saved_view.created",
	}, trail); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// testSavedViewIsolation tries to reach views of others: as another member, as a key, as an administrator, and from another organization.
func testSavedViewIsolation(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	elsewhere, _ := f.org(t)
	owner, other, admin := viewers(t, f, org)
	key := store.Viewer{Admin: true}
	if err := f.CreateMembership(ctx, elsewhere, owner.User, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	ids := map[string]uuid.UUID{}
	for name, in := range map[string]store.SavedView{
		"private": view(owner.User, store.ViewPrivate, "private"), "shared": view(owner.User, store.ViewShared, "shared"),
		"of a key": view("", store.ViewShared, "of a key"),
	} {
		r, err := f.CreateSavedView(ctx, org, in)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = r.ID
	}
	rename := store.SavedViewEdit{Description: store.Set(new("changed"))}
	for _, c := range []struct {
		who           string
		org           principal.OrgID
		by            store.Viewer
		view          string
		reads, change error
	}{
		{"the owner", org, owner, "private", nil, nil},
		{"the owner", org, owner, "shared", nil, nil},
		{"the owner", org, owner, "of a key", nil, store.ErrForbidden},
		{"the owner elsewhere", elsewhere, store.Viewer{User: owner.User, Admin: true}, "private", store.ErrNotFound, store.ErrNotFound},
		{"the owner elsewhere", elsewhere, store.Viewer{User: owner.User, Admin: true}, "shared", store.ErrNotFound, store.ErrNotFound},
		{"a member", org, other, "private", store.ErrNotFound, store.ErrNotFound},
		{"a member", org, other, "shared", nil, store.ErrForbidden},
		{"an administrator", org, admin, "private", store.ErrNotFound, store.ErrNotFound},
		{"an administrator", org, admin, "shared", nil, nil},
		{"an administrator", org, admin, "of a key", nil, nil},
		{"a key", org, key, "private", store.ErrNotFound, store.ErrNotFound},
		{"a key", org, key, "shared", nil, nil},
		{"a key", org, key, "of a key", nil, nil},
		{"a key elsewhere", elsewhere, key, "of a key", store.ErrNotFound, store.ErrNotFound},
	} {
		t.Run(c.who+", "+c.view, func(t *testing.T) {
			_, err := f.GetSavedView(ctx, c.org, c.by, ids[c.view])
			wantError(t, err, c.reads)
			_, err = f.EditSavedView(ctx, c.org, c.by, ids[c.view], rename)
			wantError(t, err, c.change)
			if c.change != nil {
				wantError(t, f.DeleteSavedView(ctx, c.org, c.by, ids[c.view]), c.change)
			}
			rows, err := f.ListSavedViews(ctx, c.org, c.by, store.SavedViewFilter{Visibility: map[bool]string{
				true:  "private",
				false: "shared",
			}[c.view == "private"]}, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			listed := false
			for _, r := range rows {
				listed = listed || r.ID == ids[c.view]
			}
			if listed != (c.reads == nil) {
				t.Errorf("listed: %v", listed)
			}
		})
	}
	private := store.SavedViewEdit{Visibility: store.Set(store.ViewPrivate)}
	_, err := f.EditSavedView(ctx, org, admin, ids["shared"], private)
	wantError(t, err, store.ErrForbidden)
	_, err = f.EditSavedView(ctx, org, key, ids["of a key"], private)
	wantInvalid(t, "private view without an owner", err, "visibility must be shared: the view has no owner")

	// A member who leaves takes the private views along. Shared ones stay.
	if err := f.DeleteMembership(ctx, org, owner.User); err != nil {
		t.Fatal(err)
	}
	rows, err := f.ListSavedViews(ctx, org, owner, store.SavedViewFilter{Page: "traces"}, 0, 100)
	if err != nil || len(rows) != 2 || rows[0].Name != "of a key" || rows[1].Name != "shared" {
		t.Errorf("after the owner left: %v, %v", rows, err)
	}
	second, err := f.ListSavedViews(ctx, org, owner, store.SavedViewFilter{}, 1, 1)
	if err != nil || len(second) != 1 || second[0].Name != "shared" {
		t.Errorf("second page: %v, %v", second, err)
	}
}

func testSavedViewBounds(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	owner, other, _ := viewers(t, f, org)
	for i := range limits.UserViews - 1 {
		if _, err := f.CreateSavedView(ctx, org, view(owner.User, store.ViewPrivate, fmt.Sprint("view ", i))); err != nil {
			t.Fatal(err)
		}
	}
	// Two browsers want the last place.
	var refused atomic.Int64
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() {
			_, err := f.CreateSavedView(ctx, org, view(owner.User, store.ViewShared, fmt.Sprint("last ", i)))
			if err != nil {
				refused.Add(1)
				wantInvalid(t, "one too many", err, "page cannot have another saved view: you own 200, which is the most; delete one first")
			}
		})
	}
	both.Wait()
	if n := refused.Load(); n != 1 {
		t.Errorf("%d of two creations were refused, want 1", n)
	}
	if _, err := f.CreateSavedView(ctx, org, view(other.User, store.ViewPrivate, "mine")); err != nil {
		t.Errorf("the bound of one owner holds for another: %v", err)
	}
}

func testPreferences(t *testing.T, f *fixture) {
	ctx := t.Context()
	user, other := f.user(t).ID, f.user(t).ID
	defaults := store.Preferences{Theme: "system", StackTrace: "pretty", TimeZone: "browser"}
	read := func(of principal.UserID) store.Preferences {
		t.Helper()
		r, err := f.UserPreferences(ctx, of)
		if err != nil {
			t.Fatal(err)
		}
		if set := r.Theme != "system"; set != (r.UpdatedAt != nil) || set && !r.UpdatedAt.Equal(f.now()) {
			t.Errorf("updated at %v", r.UpdatedAt)
		}
		r.UpdatedAt = nil
		return r
	}
	if r := read(user); r != defaults {
		t.Errorf("defaults %+v", r)
	}
	// Two browsers set the first preference at once.
	var both sync.WaitGroup
	both.Go(func() {
		if _, err := f.EditPreferences(ctx, user, store.PreferencesEdit{Theme: store.Set("dark")}); err != nil {
			t.Error(err)
		}
	})
	both.Go(func() {
		if _, err := f.EditPreferences(ctx, user, store.PreferencesEdit{StackTrace: store.Set("raw")}); err != nil {
			t.Error(err)
		}
	})
	both.Wait()
	if r := read(user); r != (store.Preferences{Theme: "dark", StackTrace: "raw", TimeZone: "browser"}) {
		t.Errorf("set %+v", r)
	}
	if r, err := f.EditPreferences(ctx, user, store.PreferencesEdit{Theme: store.Set("light")}); err != nil || r.Theme != "light" ||
		r.StackTrace != "raw" {
		t.Errorf("changed %+v, %v", r, err)
	}
	if r := read(other); r != defaults {
		t.Errorf("another user has %+v", r)
	}
	_, err := f.EditPreferences(ctx, user, store.PreferencesEdit{Theme: store.Set("pink")})
	wantInvalid(t, "theme", err, `theme must be one of system, light, dark, not "pink"`)
	for _, zone := range []string{"America/Argentina/Buenos_Aires", "Etc/GMT+3", "UTC", "browser"} {
		if r, err := f.EditPreferences(ctx, user, store.PreferencesEdit{TimeZone: store.Set(zone)}); err != nil || r.TimeZone != zone {
			t.Errorf("zone %s: %+v, %v", zone, r, err)
		}
	}
	for _, zone := range []string{"", "Local", "Mars/Olympus", "posix/UTC", "../UTC", "Europe/Berlin\x00"} {
		_, err = f.EditPreferences(ctx, user, store.PreferencesEdit{TimeZone: store.Set(zone)})
		wantInvalid(t, "zone", err, fmt.Sprintf("time_zone must be \"browser\" or a name of the tz database, such as Europe/Berlin, not %q",
			zone))
	}
	_, err = f.EditPreferences(ctx, "user_nobody", store.PreferencesEdit{Theme: store.Set("dark")})
	wantError(t, err, store.ErrNotFound)
}
