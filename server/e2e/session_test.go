package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/testkit"
)

// as sends a request with a credential and, if given, x-svc-org-id.
func as(t *testing.T, s *testkit.Server, token, org, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if org != "" {
		req.Header.Set("X-Svc-Org-Id", org)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	status, text := roundTrip(t, req)
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return status, out
}

func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func signInBody(email, password, org string) string {
	in := map[string]string{"email": email, "password": password}
	if org != "" {
		in["org_id"] = org
	}
	b, _ := json.Marshal(in)
	return string(b)
}

// signIn returns the token of a new session.
func signIn(t *testing.T, s *testkit.Server, email, password, org string) string {
	t.Helper()
	status, in := as(t, s, "", "", "POST", "/v2/session", signInBody(email, password, org))
	token, _ := in["token"].(string)
	if status != 200 || !strings.HasPrefix(token, "svc_st_") {
		t.Fatalf("sign-in: %d %v", status, in)
	}
	return token
}

// openStore opens the database of a running server.
func openStore(t *testing.T, s *testkit.Server) *store.Store {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir = s.DataDir
	st, err := installation.OpenDatabase(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// TestSessionLife covers sign in, who am I, and sign out. A token that signed out stops working at once.
func TestSessionLife(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Sessions")
	status, in := as(t, s, "", "", "POST", "/v2/session", signInBody(strings.ToUpper(s.AdminEmail), s.AdminPassword, ""))
	if status != 200 || at(in, "organization", "id") != s.OrgID || at(in, "organization", "role") != "org:admin" ||
		at(in, "user", "email") != s.AdminEmail {
		t.Fatalf("sign-in: %d %v", status, in)
	}
	token := fmt.Sprint(in["token"])
	status, me := as(t, s, token, "", "GET", "/v2/session", "")
	if status != 200 || me["credential"] != "session" || me["scopes"] != nil || me["key_id"] != nil || me["expires_at"] != in["expires_at"] ||
		at(me, "user", "id") != at(in, "user", "id") || at(me, "organization", "id") != s.OrgID {
		t.Errorf("who am I: %d %v", status, me)
	}
	if _, has := me["token"]; has {
		t.Errorf("the token is shown again: %v", me)
	}
	if status, key := as(t, s, s.APIKey, "", "GET", "/v2/session", ""); status != 200 || key["credential"] != "api_key" ||
		key["expires_at"] != nil ||
		!strings.HasPrefix(fmt.Sprint(key["key_id"]), "key_") || at(key, "organization", "role") != "root" || key["organizations"] != nil {
		t.Errorf("who is the key: %d %v", status, key)
	}
	if status, got := as(t, s, s.APIKey, "", "DELETE", "/v2/session", ""); status != 403 ||
		tagOf(got) != "@svc/http/errors/ApiKeyNotAcceptedError" {
		t.Errorf("a key signs out: %d %v", status, got)
	}
	if status, got := as(t, s, token, "", "GET", "/v2/api_keys", ""); status != 200 {
		t.Errorf("keys by session: %d %v", status, got)
	}
	if status, got := as(t, s, token, "", "DELETE", "/v2/session", ""); status != 200 || got["deleted"] != true {
		t.Errorf("sign-out: %d %v", status, got)
	}
	if status, got := as(t, s, token, "", "GET", "/v2/session", ""); status != 401 || tagOf(got) != "@svc/http/v2/InvalidCredentialsError" {
		t.Errorf("after the sign-out: %d %v", status, got)
	}
	var failures []string
	for _, email := range []string{s.AdminEmail, "nobody@example.com"} {
		status, got := as(t, s, "", "", "POST", "/v2/session", signInBody(email, "wrong", ""))
		e, _ := got["error"].(map[string]any)
		delete(e, "request_id")
		failures = append(failures, fmt.Sprint(status, got))
		if status != 401 || tagOf(got) != "@svc/http/errors/SignInFailedError" {
			t.Errorf("%s: %d %v", email, status, got)
		}
	}
	if failures[0] != failures[1] {
		t.Errorf("a wrong password and an unknown address can be told apart:\n%s\n%s", failures[0], failures[1])
	}
}

// TestChosenOrganization checks that x-svc-org-id decides where a session acts, with the role in that organization, and that a
// bad value never falls back to another organization.
func TestChosenOrganization(t *testing.T) {
	one, two, three := testkit.Shared(t).NewOrganization(t, "Chosen 1"), testkit.Shared(t).NewOrganization(t, "Chosen 2"),
		testkit.Shared(t).NewOrganization(t, "Chosen 3")
	st := openStore(t, one)
	user, err := st.UserByEmail(t.Context(), one.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.CreateMembership(t.Context(), principal.OrgID(two.OrgID), user.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	own, free := signIn(t, one, one.AdminEmail, one.AdminPassword, one.OrgID), signIn(t, one, one.AdminEmail, one.AdminPassword, "")
	denied := "@svc/http/v2/OrganizationAccessDeniedError"
	for _, tc := range []struct {
		name, token, header string
		org, role, tag      any
	}{
		{"its own", own, "", one.OrgID, "org:admin", nil},
		{"another of the user", own, two.OrgID, two.OrgID, "org:member", nil},
		{"a foreign one", own, three.OrgID, nil, nil, denied},
		{"one that is not there", own, "org_none", nil, nil, denied},
		{"none chosen", free, "", nil, nil, nil},
		{"chosen by the request", free, two.OrgID, two.OrgID, "org:member", nil},
		{"key, its own", one.APIKey, one.OrgID, one.OrgID, "root", nil},
		{"key, another", one.APIKey, two.OrgID, nil, nil, denied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, me := as(t, one, tc.token, tc.header, "GET", "/v2/session", "")
			if at(me, "organization", "id") != tc.org || at(me, "organization", "role") != tc.role || tagOf(me) != tc.tag {
				t.Errorf("%v", me)
			}
		})
	}
	// Without an organization, the person learns who they are, and nothing else.
	if status, got := as(t, one, free, "", "GET", "/v2/api_keys", ""); status != 403 || tagOf(got) != denied {
		t.Errorf("a person without an organization lists keys: %d %v", status, got)
	}
	if _, me := as(t, one, free, "", "GET", "/v2/session", ""); len(me["organizations"].([]any)) != 2 {
		t.Errorf("a person without an organization finds the organizations %v", me["organizations"])
	}
	// The role belongs to the organization: an administrator of one may be only a member of the other.
	if status, got := as(t, one, own, two.OrgID, "POST", "/v2/api_keys", `{"name":"k"}`); status != 403 ||
		tagOf(got) != "@svc/http/v2/InsufficientPermissionsError" {
		t.Errorf("a member creates a key: %d %v", status, got)
	}
	if status, got := as(t, one, own, one.OrgID, "POST", "/v2/api_keys", `{"name":"k"}`); status != 200 {
		t.Errorf("an administrator creates a key: %d %v", status, got)
	}
	if status, got := as(t, one, "", "", "POST", "/v2/session", signInBody(one.AdminEmail, one.AdminPassword, three.OrgID)); status != 403 ||
		tagOf(got) != denied {
		t.Errorf("sign-in to a foreign organization: %d %v", status, got)
	}
}

// TestSessionRate checks that a person who is signed in may make more than the 600 requests a minute of a key.
func TestSessionRate(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Session rate")
	token := signIn(t, s, s.AdminEmail, s.AdminPassword, "")
	var mu sync.Mutex
	counts := map[int]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 80 {
				req, _ := http.NewRequestWithContext(t.Context(), "GET", s.BaseURL+"/v2/session", nil)
				req.Header.Set("Authorization", "Bearer "+token)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_ = res.Body.Close()
				mu.Lock()
				counts[res.StatusCode]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if counts[200] != 640 {
		t.Errorf("answers: %v, want 640 of 200", counts)
	}
}
