package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/testkit"
)

// TestChangePassword changes the password with the present one, over the API and on the page. Other sessions end; the session
// that makes the change stays.
func TestChangePassword(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Change of a password")
	const path = "/v2/session/password"
	change := func(token, present, next string) (int, map[string]any) {
		return as(t, s, token, "", "POST", path, fmt.Sprintf(`{"current_password":%q,"new_password":%q}`, present, next))
	}
	mine, other := signIn(t, s, s.AdminEmail, s.AdminPassword, ""), signIn(t, s, s.AdminEmail, s.AdminPassword, "")
	for name, tc := range map[string]struct {
		token, present, next, param string
		status                      int
	}{
		"a wrong password": {mine, "not the password", "a long enough one", "current_password", 400},
		"a short one":      {mine, s.AdminPassword, "short", "new_password", 400},
		"the same one":     {mine, s.AdminPassword, s.AdminPassword, "new_password", 400},
		"a key":            {s.APIKey, s.AdminPassword, "a long enough one", "", 403},
		"nobody":           {"", s.AdminPassword, "a long enough one", "", 401},
	} {
		status, got := change(tc.token, tc.present, tc.next)
		if param, _ := at(got, "error", "param").(string); status != tc.status || param != tc.param {
			t.Errorf("%s: %d %v", name, status, got)
		}
	}
	status, got := change(mine, s.AdminPassword, "a long enough one")
	if ended, _ := got["sessions_ended"].(float64); status != 200 || ended != 1 || at(got, "user", "email") != s.AdminEmail {
		t.Fatalf("%d %v", status, got)
	}
	if status, got := as(t, s, mine, "", "GET", "/v2/session", ""); status != 200 {
		t.Errorf("the session that asked: %d %v", status, got)
	}
	if status, got := as(t, s, other, "", "GET", "/v2/session", ""); status != 401 {
		t.Errorf("another session: %d %v", status, got)
	}
	if status, got := as(t, s, "", "", "POST", "/v2/session", signInBody(s.AdminEmail, s.AdminPassword, "")); status != 401 {
		t.Errorf("the password of before: %d %v", status, got)
	}
	entries := restClient{t, s, s.APIKey}.call("GET", "/v2/audit_log?action=user.password_changed", "", 200)
	if list, _ := entries["data"].([]any); len(list) != 1 || at(list[0], "actor_type") != "user" ||
		strings.Contains(fmt.Sprint(entries), "long enough") {
		t.Errorf("audit log: %v", entries)
	}

	v := newVisitor(t, s.BaseURL)
	if got := v.get("/account"); got.StatusCode != 303 || !strings.HasPrefix(got.Header.Get("Location"), "/login?next=") {
		t.Errorf("without a session: %d", got.StatusCode)
	}
	v.signIn(s.AdminEmail, "a long enough one")
	for _, tc := range []struct {
		present, next, says string
		status              int
	}{
		{"not it", "the third one of all", "That is not your password", 400},
		{"a long enough one", "short", "The new password", 400},
		{"a long enough one", "", "Enter your current password", 400},
		{"a long enough one", "the third one of all", "Your password was changed. You are signed out of one other session.", 200},
	} {
		if got := v.post("/account", "/account", "current_password", tc.present, "new_password", tc.next); got.StatusCode != tc.status ||
			!strings.Contains(got.text, tc.says) {
			t.Errorf("%v: %d %s", tc, got.StatusCode, got.text)
		}
	}
	if got := v.get("/programs"); !strings.Contains(got.text, "Hello") {
		t.Errorf("after the change: %d", got.StatusCode)
	}
	signIn(t, s, s.AdminEmail, "the third one of all", "")
}

// TestEveryScopeCanBeGiven checks that a key can be made for each family that a method names, and for no other.
func TestEveryScopeCanBeGiven(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Scopes")
	c := restClient{t, s, s.APIKey}
	for _, scope := range theContract(t).Scopes() {
		c.call("POST", "/v2/api_keys", fmt.Sprintf(`{"name":"one scope","scopes":[%q]}`, scope), 200)
	}
	sql := fmt.Sprint(c.call("POST", "/v2/api_keys", `{"name":"sql","scopes":["sql:read"]}`, 200)["secret"])
	restClient{t, s, sql}.call("POST", "/v2/sql/search", `{"sql":"SELECT 1"}`, 200)
	c.call("POST", "/v2/api_keys", `{"name":"none","scopes":["session:write"]}`, 400)
}

// TestDeletionIsKept checks that it stays known who deleted an organization, although its audit log was deleted with it. The
// creation of the organization began that log.
func TestDeletionIsKept(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Deleted "+time.Now().Format(time.RFC3339Nano))
	c := restClient{t, s, s.APIKey}
	began := c.call("GET", "/v2/audit_log?action=organization.created", "", 200)
	if list, _ := began["data"].([]any); len(list) != 1 || at(list[0], "resource_id") != s.OrgID || at(list[0], "actor_type") != "system" {
		t.Errorf("the creation: %v", began)
	}
	c.call("DELETE", "/v2/organization?confirm="+s.OrgID, "", 200)
	st, err := installation.OpenDatabase(t.Context(), config.Config{DataDir: s.DataDir})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := st.ListTombstones(t.Context())
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if string(r.Org) == s.OrgID {
			if r.By == nil || r.By.Type != "api_key" || !strings.HasPrefix(r.By.ID, "key_") || r.By.RequestID == "" || r.By.OriginIP == "" ||
				!strings.HasPrefix(r.Name, "Deleted ") {
				t.Errorf("%+v by %+v", r, r.By)
			}
			return
		}
	}
	t.Error("no tombstone")
}
