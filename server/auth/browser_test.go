package auth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// behindBrowser serves the outcome of authentication as the API does: a status and the message.
func (f *fixture) behindBrowser(t *testing.T, base string) http.Handler {
	t.Helper()
	public, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBrowser(public, func(path string) bool { return strings.HasPrefix(path, "/svc.v2.") })
	return b.Middleware(f.auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result, _ := principal.ResultFrom(r.Context())
		if result.Err != nil {
			w.WriteHeader(int(apierr.Spec(apierr.From(result.Err).Tag).GetStatus()))
			_ = json.NewEncoder(w).Encode(map[string]string{"message": result.Err.Error()})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"org": string(result.Principal.Org), "kind": string(result.Principal.Kind)})
	})))
}

// attempt is a request of a browser. Empty fields are left out.
type attempt struct {
	method, path, contentType, mark, origin, site, cookie, authorization, org, host string
}

func (a attempt) request() *http.Request {
	r := httptest.NewRequest(a.method, "http://svc.example:8080"+a.path, strings.NewReader("{}"))
	if a.host != "" {
		r.Host = a.host
	}
	for name, value := range map[string]string{
		"Content-Type": a.contentType, HeaderUI: a.mark, "Origin": a.origin, "Sec-Fetch-Site": a.site, "Cookie": a.cookie,
		"Authorization": a.authorization, "X-Svc-Org-Id": a.org,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

// TestBrowserAttacks tries every combination of method, content type, mark, origin, site and cookie. The session is taken only if all of
// them are those of our own script.
func TestBrowserAttacks(t *testing.T) {
	f := newFixture(t)
	token, _ := f.session(t, f.admin.ID, f.org)
	h := f.behindBrowser(t, "http://svc.example:8080")
	tried, taken := 0, 0
	for _, method := range []string{"POST", "GET", "PUT"} {
		for _, contentType := range []string{
			"application/json", "text/plain", "application/x-www-form-urlencoded", "application/proto",
			"application/json; x", "",
		} {
			for _, mark := range []string{"1", "0", ""} {
				for _, origin := range []string{
					"http://svc.example:8080", "http://svc.example:9090", "http://svc.example", "https://svc.example:8080", "http://evil.example:8080",
					"http://a.svc.example:8080", "null", "",
				} {
					for _, site := range []string{"same-origin", "same-site", "cross-site", "none", ""} {
						for _, cookie := range []string{"svc_session=" + token, ""} {
							a := attempt{
								method: method, path: "/svc.v2.LogsService/SearchLogs", contentType: contentType, mark: mark, origin: origin, site: site,
								cookie: cookie,
							}
							w := httptest.NewRecorder()
							h.ServeHTTP(w, a.request())
							want := method == "POST" && contentType == "application/json" && mark == "1" && origin == "http://svc.example:8080" &&
								(site == "same-origin" || site == "") && cookie != ""
							tried++
							if want {
								taken++
							}
							if (w.Code == http.StatusOK) != want {
								t.Errorf("%+v: %d %s", a, w.Code, w.Body)
							}
							if cookie != "" && w.Header().Get("Cache-Control") != "no-store" {
								t.Errorf("%+v: an answer to a cookie may be stored", a)
							}
						}
					}
				}
			}
		}
	}
	if taken != 2 {
		t.Errorf("%d of %d were to be taken, want 2: with and without Sec-Fetch-Site", taken, tried)
	}
}

// TestBrowserRefusals holds the cases that the table of attacks does not vary: other doors, other credentials, several values, other
// names of the server, and sessions that ended.
func TestBrowserRefusals(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	token, session := f.session(t, f.admin.ID, f.org)
	other := f.newOrg(t, "other")
	http80, https := f.behindBrowser(t, "http://svc.example:8080"), f.behindBrowser(t, "https://svc.example")
	good := attempt{
		method: "POST", path: "/svc.v2.LogsService/SearchLogs", contentType: "application/json", mark: "1", origin: "http://svc.example:8080",
		site: "same-origin", cookie: "svc_session=" + token,
	}
	with := func(change func(*attempt)) attempt { a := good; change(&a); return a }
	secure := func(change func(*attempt)) attempt {
		return with(func(a *attempt) { a.origin, a.cookie = "https://svc.example", "__Host-svc_session="+token; change(a) })
	}
	for name, tc := range map[string]struct {
		server  http.Handler
		attempt attempt
		status  int
		says    string
	}{
		"our own script":        {http80, good, 200, string(f.org)},
		"JSON with its charset": {http80, with(func(a *attempt) { a.contentType = "application/json; charset=utf-8" }), 200, ""},
		"another name of the server": {
			http80, with(func(a *attempt) { a.host, a.origin = "localhost:8080", "http://localhost:8080" }), 200,
			"",
		},
		"another name, the public origin": {http80, with(func(a *attempt) { a.host = "localhost:8080" }), 200, ""},
		"its organization is named":       {http80, with(func(a *attempt) { a.org = string(f.org) }), 200, ""},
		"a foreign organization":          {http80, with(func(a *attempt) { a.org = string(other) }), 403, "not a member"},
		"a missing mark is named":         {http80, with(func(a *attempt) { a.mark = "" }), 401, HeaderUI},
		"a foreign origin is named":       {http80, with(func(a *attempt) { a.origin = "http://evil.example" }), 401, "Origin"},
		"REST":                            {http80, with(func(a *attempt) { a.path = "/v2/session" }), 401, "No credential"},
		"MCP":                             {http80, with(func(a *attempt) { a.path = "/mcp" }), 401, "No credential"},
		"gRPC-Web": {
			http80, with(func(a *attempt) { a.contentType = "application/grpc-web+proto" }), 401,
			"content type",
		},
		"gRPC":                        {http80, with(func(a *attempt) { a.contentType = "application/grpc" }), 401, "content type"},
		"a bad key beside the cookie": {http80, with(func(a *attempt) { a.authorization = "Bearer svc_ak_x" }), 401, "does not know"},
		"a token in the wrong place":  {http80, with(func(a *attempt) { a.cookie = "session=" + token }), 401, "No credential"},
		"two cookies":                 {http80, with(func(a *attempt) { a.cookie += "; svc_session=x" }), 401, "several session cookies"},
		"an API key as the cookie": {
			http80, with(func(a *attempt) { a.cookie = "svc_session=" + NewSecret(PrefixAPIKey) }), 401,
			"does not hold a session",
		},
		"an unknown session": {
			http80, with(func(a *attempt) { a.cookie = "svc_session=" + NewSecret(PrefixSession) }), 401,
			"does not know",
		},
		"https behind a proxy":            {https, secure(func(*attempt) {}), 200, string(f.org)},
		"https, upper case in the origin": {https, secure(func(a *attempt) { a.origin = "https://SVC.example" }), 200, ""},
		"https, a page over http": {
			https, secure(func(a *attempt) { a.origin, a.host = "http://svc.example", "svc.example" }), 401,
			"Origin",
		},
		"https, the cookie without prefix": {https, secure(func(a *attempt) { a.cookie = good.cookie }), 401, "No credential"},
		"https, another port":              {https, secure(func(a *attempt) { a.origin = "https://svc.example:8443" }), 401, "Origin"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			tc.server.ServeHTTP(w, tc.attempt.request())
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	status := func() int {
		w := httptest.NewRecorder()
		http80.ServeHTTP(w, good.request())
		return w.Code
	}
	if err := f.RevokeSession(ctx, f.admin.ID, session.ID); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("a revoked session is answered with %d", got)
	}
	token, _ = f.session(t, f.admin.ID, f.org)
	good.cookie = "svc_session=" + token
	if got := status(); got != http.StatusOK {
		t.Errorf("a new session is answered with %d", got)
	}
	f.advance(SessionLifetime)
	if got := status(); got != http.StatusUnauthorized {
		t.Errorf("an expired session is answered with %d", got)
	}
}

// TestPersonWithoutOrganization checks that a person with several organizations is known before one is chosen, and only then.
func TestPersonWithoutOrganization(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	u, err := f.CreateUser(ctx, store.NewUser{Email: "both@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	two := f.newOrg(t, "two")
	for _, org := range []principal.OrgID{f.org, two} {
		if err := f.CreateMembership(ctx, org, u.ID, principal.RoleMember); err != nil {
			t.Fatal(err)
		}
	}
	token, _ := f.session(t, u.ID, "")
	h := bearerHeader(token)
	r := f.auth.Authenticate(ctx, h)
	wantTag(t, r, apierr.OrganizationAccessDenied)
	if r.Person == nil || r.Person.User != u.ID || r.Person.Org != "" || r.Person.Role != "" || r.Refused != nil {
		t.Errorf("person %+v, refused %+v", r.Person, r.Refused)
	}
	h.Set("X-Svc-Org-Id", "org_none")
	if r := f.auth.Authenticate(ctx, h); r.Person != nil || r.Err == nil {
		t.Errorf("a foreign organization leaves the person %+v", r.Person)
	}
}
