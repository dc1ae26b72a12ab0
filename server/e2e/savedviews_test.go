package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// TestSavedViews keeps views as people and keys, and tries to reach those of others.
func TestSavedViews(t *testing.T) {
	shared := testkit.Shared(t)
	s, elsewhere := shared.NewOrganization(t, "Saved views"), shared.NewOrganization(t, "Other saved views")
	ada := join(t, s)
	owner, admin := signIn(t, s, ada.email, ada.password, ""), signIn(t, s, s.AdminEmail, s.AdminPassword, "")
	bob := join(t, s)
	member := signIn(t, s, bob.email, bob.password, "")
	stranger := signIn(t, elsewhere, elsewhere.AdminEmail, elsewhere.AdminPassword, "")
	create := func(token, name, visibility string) (int, map[string]any) {
		return as(t, s, token, "", "POST", "/v2/saved_views", fmt.Sprintf(
			`{"page":"traces","name":%q,"description":"of the shop","state":"q=service+%%3D+checkout&view=heat","visibility":%q}`, name, visibility))
	}
	must := func(token, name, visibility string) string {
		t.Helper()
		status, made := create(token, name, visibility)
		id, _ := made["id"].(string)
		if status != 200 || !strings.HasPrefix(id, "view_") || made["object"] != "saved_view" ||
			made["state"] != "q=service+%3D+checkout&view=heat" {
			t.Fatalf("create: %d %v", status, made)
		}
		return id
	}
	ids := map[string]string{
		"private": must(owner, "Private", "private"), "shared": must(owner, "Shared", "shared"), "of a key": must(s.APIKey, "Of a key", "shared"),
	}
	if status, got := create(owner, "Private", "private"); status != 409 || at(got, "error", "code") != "saved_view_name_taken" ||
		at(got, "error", "param") != "name" {
		t.Errorf("the same name again: %d %v", status, got)
	}
	if status, got := create(s.APIKey, "Mine", "private"); status != 400 || at(got, "error", "param") != "visibility" {
		t.Errorf("a private view of a key: %d %v", status, got)
	}
	// The shared name is not taken for the private views of another.
	must(member, "Shared", "private")
	for _, c := range []struct {
		who, token, view string
		read, change     int
	}{
		{"the owner", owner, "private", 200, 200},
		{"the owner", owner, "shared", 200, 200},
		{"the owner", owner, "of a key", 200, 403},
		{"a member", member, "private", 404, 404},
		{"a member", member, "shared", 200, 403},
		{"an administrator", admin, "private", 404, 404},
		{"an administrator", admin, "shared", 200, 200},
		{"an administrator", admin, "of a key", 200, 200},
		{"a key", s.APIKey, "private", 404, 404},
		{"a key", s.APIKey, "shared", 200, 200},
		{"a stranger", stranger, "private", 404, 404},
		{"a stranger", stranger, "shared", 404, 404},
		{"a key of a stranger", elsewhere.APIKey, "of a key", 404, 404},
	} {
		path := "/v2/saved_views/" + ids[c.view]
		if status, got := as(t, s, c.token, "", "GET", path, ""); status != c.read {
			t.Errorf("%s reads %s: %d %v", c.who, c.view, status, got)
		}
		if status, got := as(t, s, c.token, "", "PATCH", path, `{"description":null}`); status != c.change || status == 200 &&
			got["description"] != nil {
			t.Errorf("%s changes %s: %d %v", c.who, c.view, status, got)
		}
		if c.change != 200 {
			if status, got := as(t, s, c.token, "", "DELETE", path, ""); status != c.change {
				t.Errorf("%s deletes %s: %d %v", c.who, c.view, status, got)
			}
		}
	}
	if status, got := as(t, s, admin, "", "PATCH", "/v2/saved_views/"+ids["shared"], `{"visibility":"private"}`); status != 403 {
		t.Errorf("an administrator takes a shared view away: %d %v", status, got)
	}
	names := func(token, query string) (out []string) {
		t.Helper()
		status, got := as(t, s, token, "", "GET", "/v2/saved_views"+query, "")
		if status != 200 {
			t.Fatalf("list: %d %v", status, got)
		}
		data, _ := got["data"].([]any)
		for _, v := range data {
			out = append(out, fmt.Sprint(at(v, "name"), " ", at(v, "visibility")))
		}
		return out
	}
	lists := []struct{ token, query, want string }{
		{owner, "", "[Of a key shared Private private Shared shared]"},
		{member, "", "[Of a key shared Shared shared Shared private]"},
		{s.APIKey, "", "[Of a key shared Shared shared]"},
		{stranger, "", "[]"},
		{owner, "?page=logs", "[]"},
		{owner, "?visibility=private&page=traces", "[Private private]"},
		{owner, "?limit=1", "[Of a key shared]"},
	}
	for _, c := range lists {
		if got := fmt.Sprint(names(c.token, c.query)); got != c.want {
			t.Errorf("list%s: %s, want %s", c.query, got, c.want)
		}
	}
	_, page := as(t, s, owner, "", "GET", "/v2/saved_views?limit=2", "")
	if got := fmt.Sprint(names(owner, fmt.Sprint("?limit=2&cursor=", page["next_cursor"]))); got != "[Shared shared]" {
		t.Errorf("second page: %s", got)
	}
	keys := restClient{t, s, s.APIKey}
	// Administrators read the audit log, but not private views.
	if log := keys.call("GET", "/v2/audit_log?resource_type=saved_view", "", 200); strings.Contains(fmt.Sprint(log), "Private") {
		t.Errorf("the audit log has the name of a private view: %v", log)
	}
	members, _ := keys.call("GET", "/v2/organization/members", "", 200)["data"].([]any)
	for _, m := range members {
		if at(m, "email") == ada.email {
			keys.call("DELETE", fmt.Sprint("/v2/organization/members/", at(m, "id")), "", 200)
		}
	}
	if got := fmt.Sprint(names(s.APIKey, "")); got != "[Of a key shared Shared shared]" {
		t.Errorf("after the owner left: %s", got)
	}
}

// TestPreferences sets the preferences of a person in one session and reads them in another.
func TestPreferences(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Preferences")
	const path = "/v2/session/preferences"
	first, second := signIn(t, s, s.AdminEmail, s.AdminPassword, ""), signIn(t, s, s.AdminEmail, s.AdminPassword, "")
	guest := join(t, s)
	other := signIn(t, s, guest.email, guest.password, "")
	want := func(token, theme, trace string) {
		t.Helper()
		status, got := as(t, s, token, "", "GET", path, "")
		if status != 200 || got["object"] != "preferences" || got["theme"] != theme || got["stack_trace"] != trace ||
			(got["updated_at"] == nil) != (theme == "system") {
			t.Errorf("%d %v, want %s and %s", status, got, theme, trace)
		}
	}
	want(first, "system", "pretty")
	if status, got := as(t, s, first, "", "PATCH", path, `{"theme":"dark"}`); status != 200 || got["theme"] != "dark" ||
		got["stack_trace"] != "pretty" {
		t.Errorf("%d %v", status, got)
	}
	if status, got := as(t, s, second, "", "PATCH", path, `{"stack_trace":"raw"}`); status != 200 || got["theme"] != "dark" {
		t.Errorf("%d %v", status, got)
	}
	want(first, "dark", "raw")
	if status, got := as(t, s, second, "", "PATCH", path, `{"time_zone":"Europe/Berlin"}`); status != 200 ||
		got["time_zone"] != "Europe/Berlin" {
		t.Errorf("%d %v", status, got)
	}
	if status, got := as(t, s, other, "", "GET", path, ""); status != 200 || got["time_zone"] != "browser" {
		t.Errorf("%d %v", status, got)
	}
	want(other, "system", "pretty")
	for body, param := range map[string]string{
		`{"theme":"pink"}`: "theme", `{"theme":null}`: "theme",
		`{"time_zone":"Mars/Olympus"}`: "time_zone", `{"colour":"red"}`: "colour",
	} {
		if status, got := as(t, s, first, "", "PATCH", path, body); status != 400 || at(got, "error", "param") != param {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
	for _, token := range []string{s.APIKey, ""} {
		if status, got := as(t, s, token, "", "GET", path, ""); status != map[string]int{s.APIKey: 403, "": 401}[token] {
			t.Errorf("%q: %d %v", token, status, got)
		}
	}
}
