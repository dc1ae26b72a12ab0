package oauth_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// TestCodeReplay checks that a code that is used again revokes its tokens (RFC 9700 section 2.1.1, RFC 6749 section 4.1.2). A
// caller who has the code without the verifier gets nothing and cannot disturb the rightful program.
func TestCodeReplay(t *testing.T) {
	f := newFixture(t)
	client, other := f.register(t, callback), f.register(t, callback)
	code := f.code(t, client)
	const wrong = "another-verifier-that-is-at-least-forty-three-characters"
	for what, changes := range map[string][]string{
		"another client":     {"client_id", other},
		"wrong verifier":     {"code_verifier", wrong},
		"another redirect":   {"redirect_uri", "http://localhost:3001/callback"},
		"challenge as proof": {"code_verifier", challenge(verifier)}, // the method "plain" would accept this
	} {
		f.redeem(t, client, code, changes...).refused(t, what, 400, "invalid_grant")
	}
	for what, changes := range map[string][]string{
		"no verifier": {"code_verifier", ""}, "short verifier": {"code_verifier", "short"},
		"long verifier": {"code_verifier", strings.Repeat("x", 129)},
		"odd verifier":  {"code_verifier", verifier + " "},
	} {
		f.redeem(t, client, code, changes...).refused(t, what, 400, "invalid_request")
	}
	f.redeem(t, client, code, "resource", "https://elsewhere.test/mcp").refused(t, "another resource", 400, "invalid_target")

	a := f.redeem(t, client, code)
	access, refresh := a.text("access_token"), a.text("refresh_token")
	f.works(t, access)
	f.redeem(t, client, code, "code_verifier", wrong).refused(t, "a used code with a wrong verifier", 400, "invalid_grant")
	f.works(t, access)
	f.redeem(t, client, code).refused(t, "a used code", 400, "invalid_grant")
	f.void(t, access)
	f.refresh(t, client, refresh).refused(t, "its refresh token", 400, "invalid_grant")
}

// TestRefreshReuse checks that a refresh token that is used again voids the whole family, including the newest tokens (RFC 9700
// section 4.14.2).
func TestRefreshReuse(t *testing.T) {
	f := newFixture(t)
	client, other := f.register(t, callback), f.register(t, callback)
	_, first := f.tokens(t, client)
	unrelated, _ := f.tokens(t, client)
	f.refresh(t, other, first).refused(t, "another client", 400, "invalid_grant")
	a := f.refresh(t, client, first)
	b := f.refresh(t, client, a.text("refresh_token"))
	f.works(t, b.text("access_token"))
	f.refresh(t, other, first).refused(t, "an old one by another client", 400, "invalid_grant")
	f.works(t, b.text("access_token"))
	f.refresh(t, client, first).refused(t, "an old one", 400, "invalid_grant")
	f.void(t, a.text("access_token"))
	f.void(t, b.text("access_token"))
	f.refresh(t, client, b.text("refresh_token")).refused(t, "the newest", 400, "invalid_grant")
	f.works(t, unrelated)
}

// TestAuthorizationRefusals lists requests that no person is asked about. If the address is not proven to belong to the program,
// the browser is not redirected.
func TestAuthorizationRefusals(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback, "https://app.test/cb?keep=1", "http://127.0.0.1/cb")
	f.register(t, "https://other.test/cb")
	for what, tc := range map[string]struct{ code, name, value string }{
		"no client":          {"", "client_id", ""},
		"unknown client":     {"", "client_id", "mcpc_unknown"},
		"no redirect":        {"", "redirect_uri", ""},
		"another program's":  {"", "redirect_uri", "https://other.test/cb"},
		"path below":         {"", "redirect_uri", callback + "/more"},
		"slash":              {"", "redirect_uri", "https://app.test/cb/?keep=1"},
		"query":              {"", "redirect_uri", "https://app.test/cb?keep=1&more=2"},
		"no query":           {"", "redirect_uri", "https://app.test/cb"},
		"host case":          {"", "redirect_uri", "https://APP.test/cb?keep=1"},
		"port of https":      {"", "redirect_uri", "https://app.test:8443/cb?keep=1"},
		"dot segments":       {"", "redirect_uri", "https://app.test/x/../cb?keep=1"},
		"escaped":            {"", "redirect_uri", "https://app.test/%63b?keep=1"},
		"fragment":           {"", "redirect_uri", callback + "#x"},
		"user":               {"", "redirect_uri", "http://evil@localhost:3000/callback"},
		"user that is host":  {"", "redirect_uri", "https://app.test@evil.test/cb?keep=1"},
		"backslash":          {"", "redirect_uri", `https://evil.test\@app.test/cb?keep=1`},
		"subdomain":          {"", "redirect_uri", "http://localhost.evil.test:3000/callback"},
		"other loopback":     {"", "redirect_uri", "http://127.0.0.1:3000/callback"},
		"script":             {"", "redirect_uri", "javascript:alert(1)"},
		"relative":           {"", "redirect_uri", "/cb"},
		"response type":      {"unsupported_response_type", "response_type", "token"},
		"hybrid":             {"unsupported_response_type", "response_type", "code token"},
		"no response type":   {"unsupported_response_type", "response_type", ""},
		"response mode":      {"invalid_request", "response_mode", "fragment"},
		"request object":     {"invalid_request", "request", "eyJ"},
		"request uri":        {"invalid_request", "request_uri", "https://x.test"},
		"no challenge":       {"invalid_request", "code_challenge", ""},
		"plain":              {"invalid_request", "code_challenge_method", "plain"},
		"no method":          {"invalid_request", "code_challenge_method", ""},
		"short challenge":    {"invalid_request", "code_challenge", "short"},
		"padded challenge":   {"invalid_request", "code_challenge", challenge(verifier) + "="},
		"another resource":   {"invalid_target", "resource", "https://elsewhere.test/mcp"},
		"resource of prefix": {"invalid_target", "resource", issuer + "/mcpx"},
		"the whole server":   {"invalid_target", "resource", issuer},
		"unknown scope":      {"invalid_scope", "scope", "traces:read admin"},
	} {
		_, err := f.server.Authorization(t.Context(), request(client, tc.name, tc.value))
		var refusal *oauth.Refusal
		if !errors.As(err, &refusal) || refusal.Message == "" {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if tc.code == "" {
			if refusal.Redirect != nil {
				t.Errorf("%s: the browser is sent to %s", what, refusal.Redirect)
			}
			continue
		}
		if refusal.Redirect == nil {
			t.Errorf("%s: the program does not hear of it", what)
			continue
		}
		q := refusal.Redirect.Query()
		if q.Get("error") != tc.code || q.Get("error_description") == "" || q.Get("iss") != issuer || q.Get("state") != "xyz" || q.Has("code") ||
			!strings.HasPrefix(refusal.Redirect.String(), callback+"?") {
			t.Errorf("%s: %s, want %s", what, refusal.Redirect, tc.code)
		}
	}
	for _, name := range []string{"client_id", "redirect_uri", "state", "code_challenge", "scope"} {
		q := request(client, "scope", "*")
		q.Add(name, q.Get(name))
		var refusal *oauth.Refusal
		if _, err := f.server.Authorization(t.Context(), q); !errors.As(err, &refusal) || refusal.Redirect != nil ||
			!strings.Contains(refusal.Message, name) {
			t.Errorf("%s twice: %v", name, err)
		}
	}
	q := request(client)
	q["resource"] = []string{issuer + "/mcp", "https://elsewhere.test"}
	if _, err := f.server.Authorization(t.Context(), q); err == nil {
		t.Error("a second resource elsewhere is taken")
	}
}

// TestAuthorization checks that different spellings of one request give the same result. The answer names this server, so that
// the answer of another server cannot be taken for ours (mix-up attack, RFC 9207).
func TestAuthorization(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback, "https://app.test/cb?keep=1&state=theirs", "cursor://anysphere.cursor-mcp/oauth/callback")
	for scope, want := range map[string]string{
		"": "*", "*": "*", "traces:read *": "*",
		"traces:read logs:read traces:read": "logs:read traces:read",
	} {
		a, err := f.server.Authorization(t.Context(), request(client, "scope", scope, "resource", issuer+"/mcp/"))
		if err != nil || strings.Join(a.Scopes, " ") != want || a.Client.Name != "Editor" || a.Client.Host != "" {
			t.Errorf("%q: %+v %v", scope, a, err)
		}
	}
	for _, to := range []string{
		"https://app.test/cb?keep=1&state=theirs", "cursor://anysphere.cursor-mcp/oauth/callback",
		"http://localhost:49152/callback",
	} {
		a, err := f.server.Authorization(t.Context(), request(client, "redirect_uri", to, "resource", ""))
		if err != nil {
			t.Fatalf("%s: %v", to, err)
		}
		u, err := f.server.Approve(t.Context(), a, f.org, f.user)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if q.Get("iss") != issuer || len(q["state"]) != 1 || q.Get("state") != "xyz" || len(q.Get("code")) != 43 ||
			strings.Contains(to, "keep") && q.Get("keep") != "1" {
			t.Errorf("%s", u)
		}
		denied := f.server.Deny(a).Query()
		if denied.Get("error") != "access_denied" || denied.Get("iss") != issuer || denied.Get("state") != "xyz" || denied.Has("code") {
			t.Errorf("%v", denied)
		}
		// The code is bound to that address.
		f.redeem(t, client, q.Get("code"), "redirect_uri", callback).refused(t, "another address", 400, "invalid_grant")
		if a := f.redeem(t, client, q.Get("code"), "redirect_uri", to); a.status != 200 {
			t.Errorf("%d %v", a.status, a.body)
		}
	}
}

// TestMembership checks that a token allows only what its user may do at the moment.
func TestMembership(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback)
	boss, err := f.CreateUser(t.Context(), store.NewUser{Email: "boss@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CreateMembership(t.Context(), f.org, boss.ID, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	access, refresh := f.tokens(t, client)
	if p, err := f.who(access); err != nil || !p.IsAdmin() {
		t.Fatalf("%+v %v", p, err)
	}
	if _, err := f.SetRole(t.Context(), f.org, f.user, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	if p, err := f.who(access); err != nil || p.IsAdmin() {
		t.Errorf("after the role was lowered: %+v %v", p, err)
	}
	r := f.auth.Authenticate(t.Context(), http.Header{"Authorization": {"Bearer " + access}, "X-Svc-Org-Id": {"org_other"}})
	if r.Err == nil || r.Principal != nil {
		t.Errorf("another organization: %+v", r)
	}
	code := f.code(t, client)
	if err := f.DeleteMembership(t.Context(), f.org, f.user); err != nil {
		t.Fatal(err)
	}
	f.void(t, access)
	f.refresh(t, client, refresh).refused(t, "a refresh token of who is no member", 400, "invalid_grant")
	f.redeem(t, client, code).refused(t, "a code of who is no member", 400, "invalid_grant")
	// Revoked access stays revoked when the user becomes a member again.
	if err := f.CreateMembership(t.Context(), f.org, f.user, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	f.void(t, access)
	f.refresh(t, client, refresh).refused(t, "a refresh token of before", 400, "invalid_grant")
	f.redeem(t, client, code).refused(t, "a code of before", 400, "invalid_grant")
	again, _ := f.tokens(t, client)
	f.works(t, again)
	if err := f.DeleteMembership(t.Context(), f.org, f.user); err != nil {
		t.Fatal(err)
	}
	a, err := f.server.Authorization(t.Context(), request(client))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.server.Approve(t.Context(), a, f.org, f.user); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("who is no member approved: %v", err)
	}
}

// TestOrganizationDeleted checks that deleting an organization revokes its grants at once.
func TestOrganizationDeleted(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback)
	access, refresh := f.tokens(t, client)
	code := f.code(t, client)
	f.works(t, access)
	if err := f.DeleteOrganization(t.Context(), f.org); err != nil {
		t.Fatal(err)
	}
	f.void(t, access)
	f.refresh(t, client, refresh).refused(t, "refresh", 400, "invalid_grant")
	f.redeem(t, client, code).refused(t, "code", 400, "invalid_grant")
}

// TestSecretsAreHashed checks that a copy of the database contains no usable secret.
func TestSecretsAreHashed(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback)
	code := f.code(t, client)
	a := f.redeem(t, client, code)
	for _, secret := range []string{code, a.text("access_token"), a.text("refresh_token")} {
		if _, err := f.OAuthIdentityByHash(t.Context(), secret); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := f.OAuthRefreshByHash(t.Context(), secret); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if _, err := f.OAuthGrantByCode(t.Context(), secret); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
}

// FuzzRedirect checks that, whatever is registered and given, the browser is sent to a registered host, to this machine, or
// nowhere.
func FuzzRedirect(f *testing.F) {
	for _, s := range []string{
		callback, "https://app.test/cb", "http://localhost:1/callback", "https://app.test\\@evil/cb",
		"http://[::1]:5/callback", "//evil", "HTTPS://app.test/cb",
	} {
		f.Add(s)
	}
	var fix *fixture
	var client string
	f.Fuzz(func(t *testing.T, to string) {
		if fix == nil {
			fix = newFixture(t)
			client = fix.register(t, callback, "https://app.test/cb")
			t.Cleanup(func() { fix = nil })
		}
		a, err := fix.server.Authorization(t.Context(), request(client, "redirect_uri", to))
		if err != nil {
			return
		}
		u, err := url.Parse(a.RedirectURI)
		if err != nil || u.User != nil || a.RedirectURI != "https://app.test/cb" &&
			(u.Scheme != "http" || u.Hostname() != "localhost" || u.Path != "/callback") {
			t.Errorf("%q leads to %q", to, a.RedirectURI)
		}
	})
}
