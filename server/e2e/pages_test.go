package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/testport"
)

// visitor is a browser without display: it keeps cookies and sends forms, but follows no redirect by itself.
type visitor struct {
	t    *testing.T
	base string
	http http.Client
	// header is sent with every request.
	header http.Header
}

func newVisitor(t *testing.T, base string) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, base: base, header: http.Header{}, http: http.Client{
		Jar: jar, Transport: http.DefaultClient.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is the answer to a request of a visitor.
type page struct {
	*http.Response
	text string
}

func (v *visitor) send(method, path string, form url.Values) page {
	v.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	ctx, cancel := context.WithTimeout(v.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, v.base+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	for name, values := range v.header {
		req.Header[name] = values
	}
	res, err := v.http.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return page{res, string(text)}
}

func (v *visitor) get(path string) page {
	v.t.Helper()
	return v.send(http.MethodGet, path, nil)
}

var formToken = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// post sends a form of the page at path, as that page would.
func (v *visitor) post(from, to string, fields ...string) page {
	v.t.Helper()
	found := formToken.FindStringSubmatch(v.get(from).text)
	if found == nil {
		v.t.Fatalf("%s has no form", from)
	}
	form := url.Values{"form_token": {found[1]}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.send(http.MethodPost, to, form)
}

func (v *visitor) signIn(email, password string) {
	v.t.Helper()
	if got := v.post("/login", "/login", "email", email, "password", password); got.StatusCode != 303 || got.Header.Get("Location") != "/" {
		v.t.Fatalf("sign-in: %d %s\n%s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
}

// cookie is the last value that the server set.
func (p page) cookie(name string) *http.Cookie {
	for _, c := range p.Cookies() {
		if strings.HasSuffix(c.Name, name) {
			return c
		}
	}
	return nil
}

// TestPageHeaders checks that no page can be framed, cached or sniffed, and that no page loads or sends anything elsewhere.
func TestPageHeaders(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Page headers")
	out, in := newVisitor(t, s.BaseURL), newVisitor(t, s.BaseURL)
	in.signIn(s.AdminEmail, s.AdminPassword)
	for _, v := range []*visitor{out, in} {
		for _, path := range []string{
			"/programs", "/login", "/logout", "/login/oidc", "/login/oidc/callback", "/invite/svc_iv_x", "/cli",
			"/cli?code=BBBB-BBBB", "/account",
		} {
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE"} {
				got := v.send(method, path, nil)
				h := got.Header
				for name, want := range map[string]string{
					"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
					"Cross-Origin-Opener-Policy": "same-origin",
				} {
					if h.Get(name) != want {
						t.Errorf("%s %s: %s is %q", method, path, name, h.Get(name))
					}
				}
				policy := h.Get("Content-Security-Policy")
				for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
					if !strings.Contains(policy, want) {
						t.Errorf("%s %s: the policy %q lacks %s", method, path, policy, want)
					}
				}
				if strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") || strings.Contains(got.text, "<script") ||
					strings.Contains(got.text, " style=") {
					t.Errorf("%s %s: a script or an inline style: %s", method, path, policy)
				}
				if got.StatusCode == 405 && h.Get("Allow") == "" {
					t.Errorf("%s %s: 405 without Allow", method, path)
				}
				if got.StatusCode >= 500 || method == "PUT" && got.StatusCode != 405 {
					t.Errorf("%s %s: %d", method, path, got.StatusCode)
				}
			}
		}
	}
	css := regexp.MustCompile(`href="(/assets/[^"]+)"`).FindStringSubmatch(out.get("/login").text)
	if css == nil {
		t.Fatal("no style sheet")
	}
	if got := out.get(css[1]); got.StatusCode != 200 || !strings.Contains(got.Header.Get("Cache-Control"), "immutable") ||
		strings.Contains(got.text, "url(") || strings.Contains(got.text, "@import") {
		t.Errorf("style sheet: %d %v", got.StatusCode, got.Header)
	}
	if got := out.send(http.MethodPatch, "/", nil); got.StatusCode != 405 || !strings.Contains(got.Header.Get("Vary"), "Accept") {
		t.Errorf("PATCH of the first page: %d %v", got.StatusCode, got.Header)
	}
	// A path without a page is still answered by REST.
	if got := out.get("/pages"); got.StatusCode != 404 || !strings.Contains(got.text, "RouteNotFoundError") {
		t.Errorf("an unknown path: %d %s", got.StatusCode, got.text)
	}
}

// TestPageSession checks that the cookie is a separate session of the browser, that the sign-out ends it, and that it opens pages
// but not the API.
func TestPageSession(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Page session")
	v := newVisitor(t, s.BaseURL)
	if got := v.get("/"); got.StatusCode != 303 || got.Header.Get("Location") != "/login" {
		t.Errorf("the first page without a session: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	wrong := v.post("/login", "/login", "email", s.AdminEmail, "password", "wrong <b>")
	if wrong.StatusCode != 401 || !strings.Contains(wrong.text, "is wrong") || strings.Contains(wrong.text, "wrong <b>") ||
		wrong.cookie("session") != nil {
		t.Errorf("a wrong password: %d %s", wrong.StatusCode, wrong.text)
	}
	unknown := v.post("/login", "/login", "email", "nobody@example.com", "password", "wrong <b>")
	if strings.ReplaceAll(unknown.text, "nobody@example.com", s.AdminEmail) != wrong.text {
		t.Error("an unknown address and a wrong password can be told apart")
	}
	in := v.post("/login", "/login", "email", s.AdminEmail, "password", s.AdminPassword)
	c := in.cookie("session")
	if in.StatusCode != 303 || c == nil || c.Name != "svc_session" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" ||
		c.Domain != "" || c.Secure || c.MaxAge < 29*24*3600 {
		t.Fatalf("signed in: %d %+v", in.StatusCode, c)
	}
	home := v.get("/programs")
	for _, want := range []string{s.AdminEmail, "Page session", s.OrgID, s.IngestURL, s.BaseURL + "/mcp", "/v2/docs"} {
		if !strings.Contains(home.text, want) {
			t.Errorf("the first page lacks %q", want)
		}
	}
	if got := v.get("/login?next=/cli"); got.StatusCode != 303 || got.Header.Get("Location") != "/cli" {
		t.Errorf("the sign-in of who is signed in: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	// The API ignores cookies, so a page of another site cannot make calls with them.
	if got := v.get("/v2/session"); got.StatusCode != 401 {
		t.Errorf("the API with a cookie: %d", got.StatusCode)
	}
	if status, _ := as(t, s, c.Value, "", "GET", "/v2/session", ""); status != 200 {
		t.Errorf("the same session as a bearer token: %d", status)
	}
	// A second sign-in starts another session and ends this one.
	again := newVisitor(t, s.BaseURL)
	again.http.Jar = v.http.Jar
	again.signInAgain(s)
	if status, _ := as(t, s, c.Value, "", "GET", "/v2/session", ""); status != 401 {
		t.Errorf("the session before: %d", status)
	}
	second := sessionOf(t, v)
	outPage := v.post("/programs", "/logout")
	if outPage.StatusCode != 303 || outPage.Header.Get("Location") != "/login" || outPage.cookie("session") == nil ||
		outPage.cookie("session").MaxAge >= 0 {
		t.Errorf("sign-out: %d %v", outPage.StatusCode, outPage.Header)
	}
	if status, _ := as(t, s, second, "", "GET", "/v2/session", ""); status != 401 {
		t.Errorf("the session after the sign-out: %d", status)
	}
	log := restClient{t, s, s.APIKey}
	for action, want := range map[string]int{"session.created": 2, "session.ended": 2} {
		list := log.call("GET", "/v2/audit_log?action="+action, "", 200)
		entries, _ := list["data"].([]any)
		if len(entries) != want {
			t.Errorf("%s: %d entries, want %d", action, len(entries), want)
		}
		for _, e := range entries {
			if at(e, "actor_type") != "user" || at(e, "source") != "dashboard" {
				t.Errorf("%s: %v", action, e)
			}
		}
	}
}

// signInAgain signs in although somebody is signed in. The sign-in page would redirect, so the form token of another page is
// used.
func (v *visitor) signInAgain(s *testkit.Server) {
	v.t.Helper()
	if got := v.post("/programs", "/login", "email", s.AdminEmail, "password", s.AdminPassword); got.StatusCode != 303 {
		v.t.Fatalf("a second sign-in: %d %s", got.StatusCode, got.text)
	}
}

func sessionOf(t *testing.T, v *visitor) string {
	t.Helper()
	u, err := url.Parse(v.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.http.Jar.Cookies(u) {
		if c.Name == "svc_session" {
			return c.Value
		}
	}
	t.Fatal("no session")
	return ""
}

// TestPageForms checks that a form is accepted only from our own pages, in the same browser and session.
func TestPageForms(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Page forms")
	v := newVisitor(t, s.BaseURL)
	v.signIn(s.AdminEmail, s.AdminPassword)
	token := formToken.FindStringSubmatch(v.get("/programs").text)[1]
	other := newVisitor(t, s.BaseURL)
	foreign := formToken.FindStringSubmatch(other.get("/login").text)[1]
	for _, tc := range []struct {
		name   string
		token  string
		header http.Header
		want   int
	}{
		{"no token", "", nil, 403},
		{"the token of another browser", foreign, nil, 403},
		{"a changed token", token[:len(token)-1] + "_", nil, 403},
		{"another site", token, http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"another host of the site", token, http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{"another origin, of an old browser", token, http.Header{"Origin": {"https://evil.example"}}, 403},
		{"a hidden origin", token, http.Header{"Origin": {"null"}}, 403},
		{"our own", token, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {s.BaseURL}}, 303},
	} {
		for _, path := range []string{"/cli", "/login", "/login/oidc", "/invite/svc_iv_x", "/logout"} {
			if tc.want == 303 && path != "/logout" {
				continue
			}
			v.header = tc.header
			got := v.send(http.MethodPost, path, url.Values{"form_token": {tc.token}, "email": {s.AdminEmail}, "password": {s.AdminPassword}})
			if got.StatusCode != tc.want {
				t.Errorf("%s to %s: %d", tc.name, path, got.StatusCode)
			}
		}
	}
	v.header = nil
	if got := v.get("/"); got.StatusCode != 303 {
		t.Errorf("after the sign-out: %d", got.StatusCode)
	}
	if got := v.send(http.MethodPost, "/login", url.Values{
		"form_token": {token}, "email": {s.AdminEmail},
		"password": {s.AdminPassword},
	}); got.StatusCode != 403 {
		t.Errorf("a form of before the sign-out: %d", got.StatusCode)
	}
	big := url.Values{"email": {strings.Repeat("x", 100<<10)}}
	if got := v.send(http.MethodPost, "/login", big); got.StatusCode != 413 {
		t.Errorf("a large form: %d", got.StatusCode)
	}
}

// TestPageNext checks that, for every value of `next`, the sign-in leads to a page of this server.
func TestPageNext(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Page next")
	for next, want := range map[string]string{
		"/cli?code=BCDF-GHJK": "/cli?code=BCDF-GHJK", "/v2/docs": "/v2/docs", "/a%20b": "/a%20b", "/x#y": "/x",
		"": "/", "https://evil.example": "/", "//evil.example": "/", "///evil.example": "/", "/\\evil.example": "/", "\\\\evil.example": "/",
		"/%09/evil.example": "/", "/\t/evil.example": "/", "/..//evil.example": "/evil.example", "/.//evil.example/%2e%2e": "/",
		"javascript:alert(1)": "/", "http:/evil.example": "/", "evil.example": "/", "/%5cevil.example": "/",
		"/%2f%2fevil.example": "/evil.example",
		"/login":              "/", "/login/oidc/callback?code=1": "/", "/logout": "/", "/./login": "/", "@evil.example": "/",
		"/\r\nSet-Cookie: a=b": "/",
	} {
		v := newVisitor(t, s.BaseURL)
		form := v.get("/login?" + url.Values{"next": {next}}.Encode())
		field := regexp.MustCompile(`name="next" value="([^"]*)"`).FindStringSubmatch(form.text)
		if field == nil {
			t.Fatalf("%q: no field", next)
		}
		got := v.post("/login", "/login", "email", s.AdminEmail, "password", s.AdminPassword, "next", next)
		if got.StatusCode != 303 || got.Header.Get("Location") != want {
			t.Errorf("next %q leads to %q (%d), want %q", next, got.Header.Get("Location"), got.StatusCode, want)
		}
		if in := v.get("/login?" + url.Values{"next": {next}}.Encode()); in.Header.Get("Location") != want {
			t.Errorf("next %q leads who is signed in to %q, want %q", next, in.Header.Get("Location"), want)
		}
	}
	v := newVisitor(t, s.BaseURL)
	if got := v.get("/cli?code=BCDF-GHJK"); got.StatusCode != 303 || got.Header.Get("Location") != "/login?next=%2Fcli%3Fcode%3DBCDF-GHJK" {
		t.Errorf("a page that needs a session: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
}

// TestPageHTTPS checks that behind https the cookies are bound to the host and never sent in clear text, and that forms from the
// public address are accepted.
func TestPageHTTPS(t *testing.T) {
	t.Parallel()
	address := fmt.Sprint("127.0.0.1:", testport.Free(t))
	s := testkit.Start(t, func(c *config.Config) { c.PublicURL, c.APIAddr = "https://svc.example.test", address })
	v := newVisitor(t, "http://"+address)
	shown := v.get("/login")
	c := shown.cookie("form")
	if c == nil || c.Name != "__Host-svc_form" || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" {
		t.Fatalf("cookie: %+v", c)
	}
	v.header = http.Header{"Cookie": {c.Name + "=" + c.Value}, "Origin": {"https://svc.example.test"}}
	got := v.send(http.MethodPost, "/login", url.Values{
		"form_token": {formToken.FindStringSubmatch(shown.text)[1]}, "email": {s.AdminEmail},
		"password": {s.AdminPassword},
	})
	if c := got.cookie("session"); got.StatusCode != 303 || c == nil || c.Name != "__Host-svc_session" || !c.Secure {
		t.Errorf("sign-in behind a proxy: %d %+v", got.StatusCode, c)
	}
}

// TestPageThrottle checks that password guesses on the page are bounded as at the API, and that the page names the wait.
func TestPageThrottle(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	v := newVisitor(t, s.BaseURL)
	// On a busy machine, checks are slow, and the account gets an attempt back every 10 seconds.
	for i := range 60 {
		got := v.post("/login", "/login", "email", s.AdminEmail, "password", fmt.Sprint("wrong", i))
		if got.StatusCode == 429 {
			if got.Header.Get("Retry-After") == "" || !strings.Contains(got.text, "Too many") {
				t.Errorf("throttled: %v %s", got.Header, got.text)
			}
			return
		}
		if got.StatusCode != 401 {
			t.Fatalf("attempt %d: %d", i, got.StatusCode)
		}
	}
	t.Error("60 wrong passwords were taken")
}

// TestInvitationPage checks that the link shows its offer, and that a new person, a person with an account and a signed-in person
// can join.
func TestInvitationPage(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Invitation <page>")
	admin := restClient{t, s, s.APIKey}
	invite := func(body string) string {
		t.Helper()
		link := fmt.Sprint(admin.call("POST", "/v2/organization/invitations", body, 200)["link"])
		return strings.TrimPrefix(link, s.BaseURL)
	}
	email := fmt.Sprintf("ada%d@example.com", time.Now().UnixNano())

	path := invite(`{"email":"` + email + `","role":"org:admin"}`)
	status, preview := as(t, s, "", "", "POST", "/v2/organization/invitations/preview", `{"token":"`+strings.TrimPrefix(path, "/invite/")+`"}`)
	if status != 200 || preview["organization_name"] != "Invitation <page>" || preview["role"] != "org:admin" || preview["email"] != email {
		t.Errorf("preview: %d %v", status, preview)
	}
	if status, got := as(t, s, "", "", "POST", "/v2/organization/invitations/preview", `{"token":"svc_iv_none"}`); status != 404 ||
		tagOf(got) != "@svc/http/errors/InvitationNotFoundError" {
		t.Errorf("preview of nothing: %d %v", status, got)
	}
	v := newVisitor(t, s.BaseURL)
	shown := v.get(path)
	for _, want := range []string{"Join Invitation &lt;page&gt;", "an administrator", email, "readonly"} {
		if shown.StatusCode != 200 || !strings.Contains(shown.text, want) {
			t.Errorf("the page lacks %q: %d", want, shown.StatusCode)
		}
	}
	if got := v.post(path, path, "email", email, "password", "short"); got.StatusCode != 400 || !strings.Contains(got.text, "at least 10") {
		t.Errorf("a short password: %d", got.StatusCode)
	}
	if got := v.post(path, path, "email", "eve@example.com", "password", "a long enough one"); got.StatusCode != 403 ||
		!strings.Contains(got.text, "another email address") {
		t.Errorf("another address: %d", got.StatusCode)
	}
	joined := v.post(path, path, "email", email, "password", "a long enough one", "name", "Ada")
	if joined.StatusCode != 303 || joined.Header.Get("Location") != "/" {
		t.Fatalf("joining: %d %s", joined.StatusCode, joined.text)
	}
	if home := v.get("/programs"); !strings.Contains(home.text, "Hello, Ada") || !strings.Contains(home.text, "Invitation &lt;page&gt;") {
		t.Errorf("the first page: %s", home.text)
	}
	if got := v.get(path); got.StatusCode != 404 || !strings.Contains(got.text, "does not exist") {
		t.Errorf("a used link: %d", got.StatusCode)
	}

	// A person who is signed in joins with one click. The page tells any other signed-in person why it cannot be used.
	other := s.NewOrganization(t, "Invitation other")
	admin = restClient{t, other, other.APIKey}
	second := invite(`{"email":"` + email + `"}`)
	stranger := newVisitor(t, s.BaseURL)
	stranger.signIn(s.AdminEmail, s.AdminPassword)
	if got := stranger.get(second); !strings.Contains(got.text, "is for another address") || strings.Contains(got.text, "Join as") {
		t.Errorf("the page for somebody else: %s", got.text)
	}
	if got := stranger.post(second, second); got.StatusCode != 403 {
		t.Errorf("somebody else joins: %d", got.StatusCode)
	}
	if got := v.post(second, second); got.StatusCode != 303 {
		t.Errorf("joining as the signed-in user: %d %s", got.StatusCode, got.text)
	}
	if home := v.get("/programs"); !strings.Contains(home.text, "Invitation other") {
		t.Error("the second organization is not on the first page")
	}
	// A link for anybody who has it, and a person who has an account and is not signed in.
	third := invite(`{}`)
	if got := newVisitor(t, s.BaseURL).post(third, third, "email", s.AdminEmail, "password", "not the password"); got.StatusCode != 401 ||
		!strings.Contains(got.text, "the password is wrong") {
		t.Errorf("a wrong password: %d", got.StatusCode)
	}
	known := newVisitor(t, s.BaseURL)
	if got := known.post(third, third, "email", s.AdminEmail, "password", s.AdminPassword); got.StatusCode != 303 {
		t.Errorf("joining with an account: %d %s", got.StatusCode, got.text)
	}
	if home := known.get("/programs"); !strings.Contains(home.text, "Invitation other") || !strings.Contains(home.text, s.OrgID) {
		t.Error("both organizations are not on the first page")
	}
}
