package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/testkit"
)

// getJSON reads a public document.
func getJSON(t *testing.T, address string) (out map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, body := roundTrip(t, req)
	if err := json.Unmarshal(body, &out); err != nil || status != 200 {
		t.Fatalf("%s: %d %v %s", address, status, err, body)
	}
	return out
}

// atMCP sends tools/list; change adds a credential to the request.
func atMCP(t *testing.T, s *testkit.Server, path string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+path,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	change(req)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res, body.String()
}

// waitingProgram is a program with a listener to which browsers return.
type waitingProgram struct {
	callback string
	answers  chan url.Values
}

func newWaitingProgram(t *testing.T) *waitingProgram {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &waitingProgram{callback: "http://" + l.Addr().String() + "/callback", answers: make(chan url.Values, 10)}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>Back</title><link rel="icon" href="data:,"><h1>Back in the program</h1>`))
		if r.URL.Path == "/callback" {
			p.answers <- r.URL.Query()
		}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return p
}

// register registers the program, as clients do by themselves.
func (p *waitingProgram) register(t *testing.T, endpoint, name string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{"http://127.0.0.1/callback"}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	status, text := roundTrip(t, req)
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil || status != 201 {
		t.Fatalf("register: %d %s", status, text)
	}
	return fmt.Sprint(out["client_id"])
}

var challengeForm = regexp.MustCompile(`^Bearer resource_metadata="([^"]+)", scope="\*"$`)

// TestOAuthGoClient starts at the 401 of the MCP server. It goes by golang.org/x/oauth2 and the Go SDK, through a browser, to a
// tool call, a refresh, and the person who revokes the grant. The person has two organizations and chooses the second one.
func TestOAuthGoClient(t *testing.T) {
	t.Parallel()
	first := testkit.Shared(t).NewOrganization(t, "OAuth first")
	s := testkit.Shared(t).NewOrganization(t, "OAuth second")
	st := openStore(t, s)
	person, err := st.UserByEmail(t.Context(), first.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.CreateMembership(t.Context(), principal.OrgID(s.OrgID), person.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}

	res, body := atMCP(t, s, "/mcp", func(*http.Request) {})
	found := challengeForm.FindStringSubmatch(res.Header.Get("WWW-Authenticate"))
	if res.StatusCode != 401 || found == nil {
		t.Fatalf("%d %v %s", res.StatusCode, res.Header, body)
	}
	resource := getJSON(t, found[1])
	if resource["resource"] != s.BaseURL+"/mcp" {
		t.Fatalf("%v", resource)
	}
	issuer := fmt.Sprint(resource["authorization_servers"].([]any)[0])
	server := getJSON(t, issuer+"/.well-known/oauth-authorization-server")
	if server["issuer"] != issuer {
		t.Fatalf("%v", server)
	}
	program := newWaitingProgram(t)
	const name = `Go <script>alert(1)</script> "client"`
	client := program.register(t, fmt.Sprint(server["registration_endpoint"]), name)
	cfg := oauth2.Config{ClientID: client, RedirectURL: program.callback, Endpoint: oauth2.Endpoint{
		AuthURL: fmt.Sprint(server["authorization_endpoint"]), TokenURL: fmt.Sprint(server["token_endpoint"]),
		AuthStyle: oauth2.AuthStyleInParams,
	}}
	verifier := oauth2.GenerateVerifier()
	address := cfg.AuthCodeURL("the state", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", s.BaseURL+"/mcp"))

	steps := append([]step{open(address), awaitPage(s.BaseURL + "/login?next=")}, signInSteps(first.AdminEmail, first.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/oauth/authorize?"), look("consent-two"), read("page", ".card"),
		click("button[value=approve]"), read("chosen", "h1"), // nothing is chosen yet, so the browser keeps the page
		click("input[name=organization][value='"+s.OrgID+"']"), click("button[value=approve]"), awaitPage(program.callback), read("back", "h1"))
	got := walk(t, []string{s.BaseURL, strings.TrimSuffix(program.callback, "/callback")}, steps...)
	for _, want := range []string{
		name, "127.0.0.1", "OAuth first", "OAuth second", "The program chose this name itself",
		"Everything that you",
	} {
		if !strings.Contains(fmt.Sprint(got.Seen["page"]), want) {
			t.Errorf("the page does not show %q: %v", want, got.Seen["page"])
		}
	}
	if !strings.Contains(fmt.Sprint(got.Seen["chosen"]), "Connect") || got.Seen["back"] != "Back in the program" {
		t.Errorf("%v", got.Seen)
	}
	answer := <-program.answers
	if answer.Get("iss") != issuer || answer.Get("state") != "the state" {
		t.Errorf("%v", answer)
	}
	token, err := cfg.Exchange(t.Context(), answer.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil || !token.Valid() || token.RefreshToken == "" || time.Until(token.Expiry) > time.Hour ||
		time.Until(token.Expiry) < 50*time.Minute {
		t.Fatalf("%+v %v", token, err)
	}

	tools := func(token *oauth2.Token) []string {
		t.Helper()
		mcp := sdk.NewClient(&sdk.Implementation{Name: "e2e", Version: "1"}, nil)
		session, err := mcp.Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: s.BaseURL + "/mcp", HTTPClient: oauth2.NewClient(t.Context(), oauth2.StaticTokenSource(token)), DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = session.Close() }()
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_services", Arguments: map[string]any{}})
		if err != nil || result.IsError {
			t.Fatalf("%+v %v", result, err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	if names := tools(token); !slices.Contains(names, "list_services") || !slices.Contains(names, "search_traces") {
		t.Errorf("%v", names)
	}

	// The token is accepted by the MCP server only, and in its header only.
	for path, method := range map[string]string{"/v2/session": "GET", "/v2/api_keys": "GET"} {
		if status, out := as(t, s, token.AccessToken, "", method, path, ""); status != 401 || !strings.Contains(fmt.Sprint(out), "OAuth token") {
			t.Errorf("%s: %d %v", path, status, out)
		}
	}
	if status, out := as(t, s, token.AccessToken, "", "POST", "/svc.v2.ApiKeysService/ListApiKeys", "{}"); status != 401 {
		t.Errorf("Connect: %d %v", status, out)
	}
	if res, body := atMCP(t, s, "/mcp?access_token="+token.AccessToken, func(*http.Request) {}); res.StatusCode != 401 {
		t.Errorf("a token in the URL: %d %s", res.StatusCode, body)
	}
	if res, body := atMCP(t, s, "/mcp", func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token.AccessToken)
		r.Header.Set("X-Svc-Org-Id", first.OrgID)
	}); res.StatusCode != 403 {
		t.Errorf("another organization: %d %s", res.StatusCode, body)
	}
	if res, body := atMCP(t, s, "/mcp", func(r *http.Request) {
		r.Header.Set("Authorization",
			"Bearer "+token.RefreshToken)
	}); res.StatusCode != 401 ||
		!strings.Contains(res.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Errorf("a refresh token: %d %s", res.StatusCode, body)
	}
	ingest, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+"/v1/traces", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	ingest.Header.Set("Authorization", "Bearer "+token.AccessToken)
	ingest.Header.Set("Content-Type", "application/json")
	if status, body := roundTrip(t, ingest); status != 401 {
		t.Errorf("ingest: %d %s", status, body)
	}

	expired := *token
	expired.Expiry = time.Now().Add(-time.Minute)
	fresh, err := cfg.TokenSource(t.Context(), &expired).Token()
	if err != nil || fresh.AccessToken == token.AccessToken || fresh.RefreshToken == token.RefreshToken {
		t.Fatalf("%+v %v", fresh, err)
	}
	tools(fresh)

	// The person disconnects it on the first page.
	steps = append([]step{open(s.BaseURL + "/login")}, signInSteps(first.AdminEmail, first.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/"), open(s.BaseURL+"/programs"), read("before", "main"), look("home-connected"),
		click("form[action='/oauth/grants/revoke'] button"), awaitPage(s.BaseURL+"/programs"), read("after", "main"))
	got = walk(t, []string{s.BaseURL}, steps...)
	if !strings.Contains(fmt.Sprint(got.Seen["before"]), name) || strings.Contains(fmt.Sprint(got.Seen["after"]), name) {
		t.Errorf("connected: %v, disconnected: %v", got.Seen["before"], got.Seen["after"])
	}
	if res, _ := atMCP(t, s, "/mcp", func(r *http.Request) {
		r.Header.Set("Authorization",
			"Bearer "+fresh.AccessToken)
	}); res.StatusCode != 401 {
		t.Errorf("after the disconnection: %d", res.StatusCode)
	}
	expired = *fresh
	expired.Expiry = time.Now().Add(-time.Minute)
	if _, err := cfg.TokenSource(t.Context(), &expired).Token(); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("refreshed: %v", err)
	}

	// The audit log of the chosen organization names the actor and the actions.
	entries := fmt.Sprint(restClient{t, s, s.APIKey}.call("GET", "/v2/audit_log?limit=50", "", 200)["data"])
	for _, want := range []string{"oauth_grant.created", "oauth_grant.revoked", string(person.ID), client, "script"} {
		if !strings.Contains(entries, want) {
			t.Errorf("the audit log lacks %q: %s", want, entries)
		}
	}
	if others := fmt.Sprint(restClient{t, first, first.APIKey}.call("GET", "/v2/audit_log?limit=50", "",
		200)["data"]); strings.Contains(others, "oauth_grant") {
		t.Errorf("the other organization's audit log: %s", others)
	}
}

// TestOAuthTypeScriptSDK checks that the official TypeScript SDK does everything by itself, except for the browser's part.
func TestOAuthTypeScriptSDK(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "OAuth TypeScript")
	dir := npmInstall(t, "mcp-js", "@modelcontextprotocol/conformance")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "oauth.mjs", s.BaseURL+"/mcp")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last struct {
		Authorize string         `json:"authorize"`
		Done      map[string]any `json:"done"`
	}
	opened := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last.Authorize = ""
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if last.Authorize == "" || opened > 0 {
			continue // after the revocation it asks again, and no person answers
		}
		opened++
		u, err := url.Parse(last.Authorize)
		if err != nil {
			t.Fatal(err)
		}
		back := u.Query().Get("redirect_uri")
		steps := append([]step{open(last.Authorize), awaitPage(s.BaseURL + "/login")}, signInSteps(s.AdminEmail, s.AdminPassword)...)
		steps = append(steps, awaitPage(s.BaseURL+"/oauth/authorize?"), look("consent-one"), read("page", ".card"),
			click("button[value=approve]"), awaitPage(back))
		got := walk(t, []string{s.BaseURL, strings.TrimSuffix(back, "/callback")}, steps...)
		if !strings.Contains(fmt.Sprint(got.Seen["page"]), "TypeScript <b>SDK</b>") {
			t.Errorf("%v", got.Seen)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("oauth.mjs: %v\n%s", err, stderr.String())
	}
	d := last.Done
	for name, want := range map[string]any{
		"refused": true, "state": "a state", "iss": s.BaseURL, "error": false, "again": false, "rotated": true, "expires": 3600.0, "scope": "*",
		"revoked": 200.0, "ended": true,
		"visits": 2.0, "registered": true,
	} {
		if d[name] != want {
			t.Errorf("%s is %v, want %v", name, d[name], want)
		}
	}
	if !strings.Contains(fmt.Sprint(d["tools"]), "list_services") {
		t.Errorf("%v", d)
	}
}
