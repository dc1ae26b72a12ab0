package e2e

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/testkit"
)

var hiddenField = regexp.MustCompile(`name="(form_token|request)" value="([^"]*)"`)

// fields returns the hidden fields of a page.
func fields(page string) url.Values {
	out := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		out.Set(m[1], html.UnescapeString(m[2]))
	}
	return out
}

// TestConsentAttacks checks that only the person can decide, on our own page, in the session in which the page was shown.
func TestConsentAttacks(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "OAuth attacks")
	program := newWaitingProgram(t)
	client := program.register(t, s.BaseURL+"/register", "Attacked")
	verifier := oauth2.GenerateVerifier()
	cfg := oauth2.Config{
		ClientID: client, RedirectURL: program.callback,
		Endpoint: oauth2.Endpoint{
			AuthURL: s.BaseURL + "/oauth/authorize", TokenURL: s.BaseURL + "/oauth/token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	address := cfg.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier))

	// A person who is not signed in is redirected only to the sign-in, even if the request is invalid (open redirector).
	stranger := newVisitor(t, s.BaseURL)
	for _, to := range []string{address, address + "&scope=nonsense", strings.Replace(address, client, "unknown", 1)} {
		if res := stranger.get(strings.TrimPrefix(to, s.BaseURL)); res.StatusCode != 303 ||
			!strings.HasPrefix(res.Header.Get("Location"), "/login?next=") {
			t.Errorf("%s: %d %s", to, res.StatusCode, res.Header.Get("Location"))
		}
	}

	person := newVisitor(t, s.BaseURL)
	person.signIn(s.AdminEmail, s.AdminPassword)
	consent := strings.TrimPrefix(address, s.BaseURL)
	res := person.get(consent)
	if res.StatusCode != 200 || res.Header.Get("X-Frame-Options") != "DENY" ||
		!strings.Contains(res.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
		!strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") || res.Header.Get("Cache-Control") != "no-store" ||
		res.Header.Get("Referrer-Policy") != "same-origin" || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	good := fields(res.text)
	good.Set("decision", "approve")
	good.Set("organization", s.OrgID)
	with := func(name, value string) url.Values {
		out := url.Values{}
		for k, v := range good {
			out[k] = v
		}
		out.Set(name, value)
		return out
	}
	const endpoint = "/oauth/authorize"
	other := testkit.Shared(t).NewOrganization(t, "OAuth of others")
	intruder := newVisitor(t, s.BaseURL)
	intruder.signIn(other.AdminEmail, other.AdminPassword)
	theirs := intruder.get(consent).text
	for what, tc := range map[string]struct {
		visitor *visitor
		form    url.Values
		header  []string
		status  int
	}{
		"no token":                  {person, with("form_token", ""), nil, 403},
		"the token of another":      {person, with("form_token", fields(theirs).Get("form_token")), nil, 403},
		"another session":           {intruder, good, nil, 403},
		"foreign origin":            {person, good, []string{"Origin", "https://evil.example"}, 403},
		"cross-site":                {person, good, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"same-site":                 {person, good, []string{"Sec-Fetch-Site", "same-site"}, 403},
		"another's organization":    {person, with("organization", other.OrgID), nil, 403},
		"no organization":           {person, with("organization", ""), nil, 400},
		"no decision":               {person, with("decision", ""), nil, 400},
		"another redirect":          {person, with("request", strings.Replace(good.Get("request"), "127.0.0.1", "evil.example", 1)), nil, 400},
		"another client":            {person, with("request", strings.Replace(good.Get("request"), client, "mcpc_x", 1)), nil, 400},
		"a request of two clients":  {person, with("request", good.Get("request")+"&client_id=mcpc_x"), nil, 400},
		"a request that is no form": {person, with("request", "%zz"), nil, 400},
	} {
		tc.visitor.header = http.Header{}
		for i := 0; i < len(tc.header); i += 2 {
			tc.visitor.header.Set(tc.header[i], tc.header[i+1])
		}
		res := tc.visitor.send("POST", endpoint, tc.form)
		tc.visitor.header = http.Header{}
		if res.StatusCode != tc.status || strings.Contains(res.text, "http-equiv=\"refresh\"") || strings.Contains(res.text, "?code=") {
			t.Errorf("%s: %d %s", what, res.StatusCode, res.text)
		}
	}
	if res := person.send("PUT", endpoint, good); res.StatusCode != 405 {
		t.Errorf("PUT: %d", res.StatusCode)
	}

	// None of these attempts changed anything: the page that was shown still works, and refusing gives no code.
	body := person.send("POST", endpoint, with("decision", "deny")).text
	if !strings.Contains(body, "error=access_denied") || strings.Contains(body, "?code=") {
		t.Errorf("refused: %s", body)
	}
	token := func(form url.Values) *oauth2.Token {
		t.Helper()
		body := person.send("POST", endpoint, form).text
		found := regexp.MustCompile(`href="([^"]+code=[^"]+)"`).FindStringSubmatch(body)
		if found == nil {
			t.Fatalf("approved: %s", body)
		}
		u, err := url.Parse(html.UnescapeString(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		out, err := cfg.Exchange(t.Context(), u.Query().Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	call := func(token *oauth2.Token) int {
		t.Helper()
		res, _ := atMCP(t, s, "/mcp", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.AccessToken) })
		return res.StatusCode
	}
	mine := token(good)
	if status := call(mine); status != 200 {
		t.Errorf("%d", status)
	}
	// The token's audience is the MCP server, which accepts the token in the header only (RFC 9700 sections 4.9.2 and 4.3.2).
	restClient{t, s, mine.AccessToken}.call("GET", "/v2/environments?start_time=2026-01-01T00:00:00Z&end_time=2026-01-01T01:00:00Z", "", 401)
	if res, _ := atMCP(t, s, "/mcp?access_token="+mine.AccessToken, func(*http.Request) {}); res.StatusCode != 401 {
		t.Errorf("a token in the URL: %d", res.StatusCode)
	}

	// With fewer scopes, fewer tools are listed. A call of another tool is answered with the scope that it needs.
	less := token(with("request", good.Get("request")+"&scope=traces%3Aread"))
	if got := less.Extra("scope"); got != "traces:read" {
		t.Errorf("scope %v", got)
	}
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+less.AccessToken) }
	if _, list := atMCP(t, s, "/mcp", bearer); !strings.Contains(list, "search_traces") || strings.Contains(list, "search_logs") {
		t.Errorf("%s", list)
	}
	refused, text := atMCP(t, s, "/mcp", func(r *http.Request) {
		bearer(r)
		r.Body = io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_logs","arguments":{}}}`))
		r.ContentLength = -1
	})
	want := `Bearer error="insufficient_scope", scope="logs:read traces:read", resource_metadata="` + s.BaseURL +
		`/.well-known/oauth-protected-resource/mcp"`
	if refused.StatusCode != 403 || refused.Header.Get("WWW-Authenticate") != want {
		t.Errorf("%d %v %s", refused.StatusCode, refused.Header, text)
	}

	// Another person cannot revoke the grant, and a member who is removed loses all access.
	home := person.get("/programs").text
	grants := regexp.MustCompile(`name="grant" value="([^"]+)"`).FindAllStringSubmatch(home, -1)
	if len(grants) != 2 {
		t.Fatalf("%d connections on %s", len(grants), home)
	}
	for _, g := range grants {
		intruder.post("/programs", "/oauth/grants/revoke", "grant", g[1])
	}
	if status := call(mine); status != 200 {
		t.Errorf("after somebody else's disconnection: %d", status)
	}
	admin := restClient{t, s, s.APIKey}
	st := openStore(t, s)
	second, err := st.CreateUser(t.Context(), store.NewUser{Email: fmt.Sprintf("second.%s@example.com", strings.ToLower(s.OrgID))})
	if err == nil {
		err = st.CreateMembership(t.Context(), principal.OrgID(s.OrgID), second.ID, principal.RoleAdmin)
	}
	if err != nil {
		t.Fatal(err)
	}
	me, err := st.UserByEmail(t.Context(), s.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	admin.call("DELETE", "/v2/organization/members/"+string(me.ID), "", 200)
	if status := call(mine); status != 401 {
		t.Errorf("after the user was removed: %d", status)
	}
}

// TestConsentAgainstOthers checks that a page of another site can neither frame the consent page nor send its form with the
// person's session.
func TestConsentAgainstOthers(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "OAuth framed")
	program := newWaitingProgram(t)
	client := program.register(t, s.BaseURL+"/register", "Framed")
	cfg := oauth2.Config{ClientID: client, RedirectURL: program.callback, Endpoint: oauth2.Endpoint{AuthURL: s.BaseURL + "/oauth/authorize"}}
	address := cfg.AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))
	_, query, _ := strings.Cut(address, "?")
	elsewhere := strings.Replace(s.BaseURL, "127.0.0.1", "localhost", 1)
	steps := append([]step{open(s.BaseURL + "/login")}, signInSteps(s.AdminEmail, s.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/"),
		step{"evil": []string{"frame", `<iframe src="` + html.EscapeString(address) + `"></iframe>`}},
		step{"evil": []string{"form", `<form method="post" action="` + s.BaseURL + `/oauth/authorize"><input name="request" value="` +
			html.EscapeString(query) +
			`"><input name="organization" value="` + s.OrgID + `"><input name="decision" value="approve"><button id="go">x</button></form>`}},
		click("#go"), read("answer", ".alert"))
	got := browse(t, []string{s.BaseURL, elsewhere}, steps...)
	if got.Seen["frame"] != "refused" || !strings.Contains(fmt.Sprint(got.Seen["answer"]), "was not accepted") {
		t.Errorf("%v", got.Seen)
	}
	if len(program.answers) != 0 {
		t.Error("the program was given something")
	}
}

// TestConsentLooks shows the page with the most content: long names, many scopes, several organizations. It also shows a program
// whose request is invalid.
func TestConsentLooks(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Research and Development of the Northern Region")
	st := openStore(t, s)
	me, err := st.UserByEmail(t.Context(), s.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Acme", strings.Repeat("Averylongname", 8)} {
		other := s.NewOrganization(t, name)
		if err := st.CreateMembership(t.Context(), principal.OrgID(other.OrgID), me.ID, principal.RoleMember); err != nil {
			t.Fatal(err)
		}
	}
	program := newWaitingProgram(t)
	client := program.register(t, s.BaseURL+"/register", strings.Repeat("Anassistantwithalongname", 4))
	scopes := getJSON(t, s.BaseURL+"/.well-known/oauth-authorization-server")["scopes_supported"].([]any)
	var asked []string
	for _, one := range scopes {
		if text := fmt.Sprint(one); text != "*" && !(strings.HasSuffix(text, ":write") && strings.ContainsAny(text[:1], "lmst")) {
			asked = append(asked, text)
		}
	}
	cfg := oauth2.Config{
		ClientID: client, RedirectURL: program.callback, Scopes: asked,
		Endpoint: oauth2.Endpoint{AuthURL: s.BaseURL + "/oauth/authorize"},
	}
	address := cfg.AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))
	steps := append([]step{open(address)}, signInSteps(s.AdminEmail, s.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/oauth/authorize?"), look("consent-full"), read("full", ".card"),
		open(strings.Replace(address, "redirect_uri=http%3A%2F%2F127.0.0.1", "redirect_uri=http%3A%2F%2Fevil.example", 1)),
		look("consent-refused"), read("refused", ".alert"))
	got := walk(t, []string{s.BaseURL}, steps...)
	if full := fmt.Sprint(got.Seen["full"]); !strings.Contains(full, ", logs, ") || !strings.Contains(full, "Read and change ") ||
		!strings.Contains(full, "Acme") {
		t.Errorf("%s", full)
	}
	if !strings.Contains(fmt.Sprint(got.Seen["refused"]), "has not registered") {
		t.Errorf("%v", got.Seen["refused"])
	}
}
