package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const formType = "application/x-www-form-urlencoded"

// TestMetadata checks the documents exactly, since clients are strict about them: no field is null, and every endpoint that they
// name exists.
func TestMetadata(t *testing.T) {
	f := newFixture(t)
	scopes := []any{"*", "logs:read", "traces:read"}
	resource := map[string]any{
		"resource": issuer + "/mcp", "resource_name": "svc", "authorization_servers": []any{issuer}, "bearer_methods_supported": []any{"header"},
		"scopes_supported": scopes, "resource_documentation": issuer + "/v2/docs",
	}
	server := map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/oauth/authorize", "token_endpoint": issuer + "/oauth/token",
		"registration_endpoint": issuer + "/register",
		"revocation_endpoint":   issuer + "/oauth/revoke", "scopes_supported": scopes, "response_types_supported": []any{"code"},
		"response_modes_supported": []any{"query"},
		"grant_types_supported":    []any{"authorization_code", "refresh_token"}, "code_challenge_methods_supported": []any{"S256"},
		"token_endpoint_auth_methods_supported": []any{"none"}, "revocation_endpoint_auth_methods_supported": []any{"none"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": true,
		"service_documentation": issuer + "/v2/docs",
	}
	for path, want := range map[string]map[string]any{
		"/.well-known/oauth-protected-resource": resource, "/.well-known/oauth-protected-resource/mcp": resource,
		"/.well-known/oauth-authorization-server": server, "/.well-known/oauth-authorization-server/mcp": server,
	} {
		a := f.do(t, http.MethodGet, path, "", "")
		if diff := cmp.Diff(want, a.body); diff != "" || a.status != 200 || a.header.Get("Cache-Control") != "public, max-age=300" ||
			a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v %s", path, a.status, a.header, diff)
		}
		a = f.do(t, http.MethodPost, path, "", "")
		if a.refused(t, path, 405, "invalid_request"); a.header.Get("Allow") != "GET, OPTIONS" {
			t.Errorf("%s: Allow %q", path, a.header.Get("Allow"))
		}
	}
}

// TestPreflight checks that web pages of any origin may be clients. They send no cookies.
func TestPreflight(t *testing.T) {
	f := newFixture(t)
	for path, method := range map[string]string{
		"/.well-known/oauth-protected-resource/mcp": "GET", "/.well-known/oauth-authorization-server": "GET", "/register": "POST",
		"/oauth/token": "POST", "/oauth/revoke": "POST",
	} {
		a := f.do(t, http.MethodOptions, path, "", "")
		h := a.header
		if a.status != 204 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != method ||
			!strings.Contains(h.Get("Access-Control-Allow-Headers"), "MCP-Protocol-Version") || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", path, a.status, h)
		}
		if method == "POST" {
			if a := f.do(t, http.MethodGet, path, "", ""); a.status != 405 || a.header.Get("Allow") != "POST, OPTIONS" {
				t.Errorf("GET %s: %d", path, a.status)
			}
		}
	}
}

func TestRegister(t *testing.T) {
	f := newFixture(t)
	a := f.do(t, http.MethodPost, "/register", "application/json; charset=utf-8", `{"client_name":" Editor ","client_uri":"https://editor.test","redirect_uris":["http://localhost/cb"],
		"token_endpoint_auth_method":"client_secret_basic","grant_types":["authorization_code"],"scope":"x","unknown":1}`)
	id := a.text("client_id")
	want := map[string]any{
		"client_id": id, "client_id_issued_at": float64(f.now().Unix()), "client_name": "Editor", "client_uri": "https://editor.test",
		"redirect_uris": []any{"http://localhost/cb"},
		"grant_types":   []any{"authorization_code", "refresh_token"}, "response_types": []any{"code"}, "token_endpoint_auth_method": "none",
	}
	if diff := cmp.Diff(want, a.body); diff != "" || a.status != 201 || !strings.HasPrefix(id, "mcpc_") ||
		a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", a.status, diff)
	}
	if a := f.do(t, http.MethodPost, "/register", "application/json", `{"redirect_uris":["http://localhost/cb"]}`); a.status != 201 ||
		a.body["client_name"] != nil || a.body["client_uri"] != nil {
		t.Errorf("what was not said is echoed: %d %v", a.status, a.body)
	}
	redirects := func(n int) string {
		return `"` + strings.Repeat(`http://localhost/cb","`, n-1) + `http://localhost/cb"`
	}
	named := func(name string) string {
		return fmt.Sprintf(`{"client_name":%q,"redirect_uris":["http://localhost/cb"]}`, name)
	}
	for what, tc := range map[string]struct{ contentType, body, code string }{
		"form":            {formType, `redirect_uris=x`, "invalid_client_metadata"},
		"no type":         {"", `{}`, "invalid_client_metadata"},
		"no JSON":         {"application/json", `{`, "invalid_client_metadata"},
		"two documents":   {"application/json", `{"redirect_uris":["http://localhost/cb"]} {}`, "invalid_client_metadata"},
		"a list":          {"application/json", `[]`, "invalid_client_metadata"},
		"null":            {"application/json", `null`, "invalid_redirect_uri"},
		"number":          {"application/json", `{"client_name":1}`, "invalid_client_metadata"},
		"one redirect":    {"application/json", `{"redirect_uris":"http://localhost/cb"}`, "invalid_client_metadata"},
		"no redirect":     {"application/json", `{"client_name":"x"}`, "invalid_redirect_uri"},
		"empty redirects": {"application/json", `{"redirect_uris":[]}`, "invalid_redirect_uri"},
		"many redirects":  {"application/json", `{"redirect_uris":[` + redirects(21) + `]}`, "invalid_redirect_uri"},
		"bad redirect":    {"application/json", `{"redirect_uris":["http://localhost/cb","http://evil.test/cb"]}`, "invalid_redirect_uri"},
		"too large": {
			"application/json", `{"redirect_uris":["http://localhost/cb"],"x":"` + strings.Repeat("x", 5<<10) + `"}`,
			"invalid_client_metadata",
		},
		"long name":       {"application/json", named(strings.Repeat("ä", 101)), "invalid_client_metadata"},
		"line break":      {"application/json", named("Claude\nPublished by claude.ai"), "invalid_client_metadata"},
		"right to left":   {"application/json", named("edoC \u202eedualC"), "invalid_client_metadata"},
		"isolate":         {"application/json", named("a\u2066b"), "invalid_client_metadata"},
		"zero width":      {"application/json", named("Cla\u200bude"), "invalid_client_metadata"},
		"byte order mark": {"application/json", named("\ufeffClaude"), "invalid_client_metadata"},
		"soft hyphen":     {"application/json", named("Cla\u00adude"), "invalid_client_metadata"},
		"line separator":  {"application/json", named("a\u2028b"), "invalid_client_metadata"},
		"client_uri": {
			"application/json", `{"client_uri":"javascript:alert(1)","redirect_uris":["http://localhost/cb"]}`,
			"invalid_client_metadata",
		},
	} {
		f.do(t, http.MethodPost, "/register", tc.contentType, tc.body).refused(t, what, 400, tc.code)
	}
	// A name of the allowed length, in any script, is kept unchanged.
	if a := f.do(t, http.MethodPost, "/register", "application/json", named(strings.Repeat("ä", 100))); a.status != 201 {
		t.Errorf("%d %v", a.status, a.body)
	}
}

// TestForms checks requests that the endpoints for programs refuse before they read any parameter.
func TestForms(t *testing.T) {
	f := newFixture(t)
	for _, path := range []string{"/oauth/token", "/oauth/revoke"} {
		good := "grant_type=refresh_token&client_id=c&refresh_token=x&token=x"
		f.do(t, http.MethodPost, path, "application/json", `{"grant_type":"refresh_token"}`).refused(t, "JSON", 400, "invalid_request")
		f.do(t, http.MethodPost, path, "", good).refused(t, "no type", 400, "invalid_request")
		f.do(t, http.MethodPost, path+"?client_id=c", formType, good).refused(t, "in the URL", 400, "invalid_request")
		f.do(t, http.MethodPost, path, formType, good+"&client_id=d").refused(t, "twice", 400, "invalid_request")
		f.do(t, http.MethodPost, path, formType, "a=%zz").refused(t, "escape", 400, "invalid_request")
		f.do(t, http.MethodPost, path, formType, good+"&x="+strings.Repeat("x", 33<<10)).refused(t, "too large", 400, "invalid_request")
		f.do(t, http.MethodPost, path, formType, strings.Replace(good, "client_id=c", "client_id=", 1)).refused(t, "no client",
			400, "invalid_request")
	}
	f.post(t, "/oauth/token", "client_id", "c").refused(t, "no grant type", 400, "invalid_request")
	for _, grant := range []string{"password", "client_credentials", "implicit", "urn:ietf:params:oauth:grant-type:device_code"} {
		f.post(t, "/oauth/token", "client_id", "c", "grant_type", grant).refused(t, grant, 400, "unsupported_grant_type")
	}
	f.post(t, "/oauth/revoke", "client_id", "c").refused(t, "no token", 400, "invalid_request")
	f.redeem(t, "c", "").refused(t, "no code", 400, "invalid_request")
	f.refresh(t, "c", "").refused(t, "no refresh token", 400, "invalid_request")
	f.redeem(t, "c", "unknown").refused(t, "unknown code", 400, "invalid_grant")
	f.refresh(t, "c", "unknown").refused(t, "unknown refresh token", 400, "invalid_grant")
	if a := f.post(t, "/oauth/revoke", "client_id", "c", "token", "unknown"); a.status != 200 {
		t.Errorf("an unknown token is revoked with %d", a.status)
	}
}

// TestLimiter checks that registrations, token requests, and documents that callers make us fetch are counted by address.
func TestLimiter(t *testing.T) {
	f := newFixture(t)
	f.limit.Store(0)
	for _, path := range []string{"/register", "/oauth/token", "/oauth/revoke"} {
		a := f.do(t, http.MethodPost, path, formType, "")
		if a.refused(t, path, 429, "slow_down"); a.header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
		}
	}
	if a := f.do(t, http.MethodGet, "/.well-known/oauth-authorization-server", "", ""); a.status != 200 {
		t.Errorf("metadata: %d", a.status)
	}
	_, err := f.server.Authorization(t.Context(), request("https://93.184.215.14/client.json"))
	if err == nil || !strings.Contains(err.Error(), "Too many requests") {
		t.Error(err)
	}
}

// TestToken checks the answer of the token endpoint, and the lifetimes of its tokens.
func TestToken(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback)
	a := f.redeem(t, client, f.code(t, client, "scope", "traces:read logs:read traces:read"))
	access, refresh := a.text("access_token"), a.text("refresh_token")
	want := map[string]any{
		"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600.0, "scope": "logs:read traces:read",
	}
	if diff := cmp.Diff(want, a.body); diff != "" || a.status != 200 || a.header.Get("Cache-Control") != "no-store" ||
		a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v %s", a.status, a.header, diff)
	}
	if len(access) != 43 || strings.HasPrefix(access, "svc_") || access == refresh {
		t.Errorf("tokens %q, %q", access, refresh)
	}
	f.works(t, access)
	p, _ := f.who(access)
	if diff := cmp.Diff([]string{"logs:read", "traces:read"}, p.Scopes); diff != "" || p.Name != "Editor" {
		t.Errorf("%+v", p)
	}
	f.void(t, refresh) // it is not an access token
	f.refresh(t, client, access).refused(t, "an access token", 400, "invalid_grant")

	f.refresh(t, client, refresh, "scope", "*").refused(t, "more", 400, "invalid_scope")
	if a := f.refresh(t, client, refresh, "scope", "logs:read"); a.status != 200 || a.text("scope") != "logs:read traces:read" {
		t.Errorf("%d %v", a.status, a.body)
	}
	// Access ends after exactly one hour.
	access, _ = f.tokens(t, client)
	f.advance(time.Hour - time.Second)
	f.works(t, access)
	f.advance(time.Second)
	f.void(t, access)
	f.advance(time.Nanosecond)
	f.void(t, access)
}

// TestLifetimes checks that a grant ends after 30 days without use, and after 90 days in all, and that a code lives for ten
// minutes.
func TestLifetimes(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback)
	code := f.code(t, client)
	f.advance(10 * time.Minute)
	f.redeem(t, client, code).refused(t, "an old code", 400, "invalid_grant")

	hour, refresh := f.tokens(t, client)
	f.advance(time.Hour - time.Second)
	f.works(t, hour)
	f.advance(time.Second)
	f.void(t, hour)
	f.advance(30*24*time.Hour - time.Hour - time.Second)
	a := f.refresh(t, client, refresh)
	if a.status != 200 {
		t.Fatalf("before 30 days: %d %v", a.status, a.body)
	}
	f.advance(30 * 24 * time.Hour)
	f.refresh(t, client, a.text("refresh_token")).refused(t, "after 30 days", 400, "invalid_grant")

	_, refresh = f.tokens(t, client)
	for range 4 {
		f.advance(20 * 24 * time.Hour)
		a := f.refresh(t, client, refresh)
		if a.status != 200 {
			t.Fatalf("%d %v", a.status, a.body)
		}
		refresh = a.text("refresh_token")
	}
	f.advance(10*24*time.Hour - 10*time.Minute)
	a = f.refresh(t, client, refresh)
	if a.status != 200 || a.body["expires_in"] != 600.0 {
		t.Fatalf("at the end: %d %v", a.status, a.body)
	}
	access := a.text("access_token")
	refresh = a.text("refresh_token")
	f.works(t, access)
	f.advance(10 * time.Minute)
	f.void(t, access)
	f.refresh(t, client, refresh).refused(t, "after 90 days", 400, "invalid_grant")
}

// TestRevoke checks that either token ends the whole grant, and that a client can end only its own grants.
func TestRevoke(t *testing.T) {
	f := newFixture(t)
	client, other := f.register(t, callback), f.register(t, callback)
	for i := range 2 {
		access, refresh := f.tokens(t, client)
		token := []string{access, refresh}[i]
		if a := f.post(t, "/oauth/revoke", "client_id", other, "token", token); a.status != 200 {
			t.Errorf("another client: %d", a.status)
		}
		f.works(t, access)
		a := f.post(t, "/oauth/revoke", "client_id", client, "token", token, "token_type_hint", "nonsense")
		if a.status != 200 || len(a.body) != 0 || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v", a.status, a.body)
		}
		f.void(t, access)
		f.refresh(t, client, refresh).refused(t, "revoked", 400, "invalid_grant")
	}
}

// TestStoreAway checks that an outage is reported as one and says nothing about a token.
func TestStoreAway(t *testing.T) {
	f := newFixture(t)
	client := f.register(t, callback)
	code := f.code(t, client)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for what, a := range map[string]answer{
		"redeem": f.redeem(t, client, code), "refresh": f.refresh(t, client, "x"),
		"revoke":   f.post(t, "/oauth/revoke", "client_id", client, "token", "x"),
		"register": f.do(t, http.MethodPost, "/register", "application/json", `{"redirect_uris":["http://localhost/cb"]}`),
	} {
		if a.status < 500 || a.text("error") != "server_error" && a.text("error") != "temporarily_unavailable" ||
			strings.Contains(fmt.Sprint(a.body), "sql") {
			t.Errorf("%s: %d %v", what, a.status, a.body)
		}
	}
	if _, err := f.server.Authorization(t.Context(), request(client)); err == nil {
		t.Error("authorized")
	}
}

func TestHead(t *testing.T) {
	f := newFixture(t)
	w := httptest.NewRecorder()
	f.mux.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/.well-known/oauth-protected-resource/mcp", nil))
	if w.Code != 200 {
		t.Error(w.Code)
	}
}
