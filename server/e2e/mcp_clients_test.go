package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/svc-observability/svc/server/testkit"
)

var sentBack = regexp.MustCompile(`href="([^"]+code=[^"]+)"`)

// approve returns the address that the browser of the organization's administrator reaches after signing in and approving the
// program of an authorization request.
func approve(t *testing.T, s *testkit.Server, address string) *url.URL {
	t.Helper()
	person := newVisitor(t, s.BaseURL)
	person.signIn(s.AdminEmail, s.AdminPassword)
	form := fields(person.get(strings.TrimPrefix(address, s.BaseURL)).text)
	form.Set("decision", "approve")
	form.Set("organization", s.OrgID)
	answer := person.send("POST", "/oauth/authorize", form)
	found := sentBack.FindStringSubmatch(answer.text)
	if found == nil {
		t.Fatalf("approved: %d %s", answer.StatusCode, answer.text)
	}
	u, err := url.Parse(html.UnescapeString(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// connect gives a program tokens of the organization.
func connect(t *testing.T, s *testkit.Server, name string, scopes ...string) *oauth2.Token {
	t.Helper()
	program := newWaitingProgram(t)
	cfg := oauth2.Config{
		ClientID: program.register(t, s.BaseURL+"/register", name), RedirectURL: program.callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: s.BaseURL + "/oauth/authorize", TokenURL: s.BaseURL + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	verifier := oauth2.GenerateVerifier()
	back := approve(t, s, cfg.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)))
	token, err := cfg.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// mcpCredentials has one credential of each kind that the MCP server accepts, in this order: API key, MCP key, OAuth token.
func mcpCredentials(t *testing.T, s *testkit.Server) []string {
	t.Helper()
	key, _ := restClient{t, s, s.APIKey}.call("POST", "/v2/api_keys", `{"name":"agent","kind":"mcp"}`, 200)["secret"].(string)
	token := connect(t, s, "Agent")
	return []string{s.APIKey, key, token.AccessToken}
}

// TestMCPClientsGo runs the official Go SDK, with every version of the protocol that it speaks and every kind of credential.
func TestMCPClientsGo(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "MCP clients, Go")
	for i, credential := range mcpCredentials(t, s) {
		for _, version := range sdk.SupportedProtocolVersions() {
			t.Run(fmt.Sprint(i, " ", version), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				session, err := sdk.NewClient(&sdk.Implementation{Name: "e2e", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
					Endpoint: s.BaseURL + "/mcp", DisableStandaloneSSE: true,
					HTTPClient: oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: credential})),
				}, &sdk.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = session.Close() }()
				if got := session.InitializeResult(); got.ProtocolVersion != version || got.ServerInfo.Name != "svc-observability" ||
					got.Instructions == "" {
					t.Errorf("%+v", got)
				}
				list, err := session.ListTools(ctx, nil)
				if err != nil || len(list.Tools) < 30 {
					t.Fatalf("%+v %v", list, err)
				}
				if version >= "2026-07-28" && list.CacheScope != "private" {
					t.Errorf("cacheScope %q of a list that depends on who asks", list.CacheScope)
				}
				result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "list_services", Arguments: map[string]any{"start_time": "now-1h"}})
				if err != nil || result.IsError || result.StructuredContent == nil {
					t.Errorf("%+v %v", result, err)
				}
				result, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "inspect_trace", Arguments: map[string]any{"trace_id": "no hex"}})
				if err != nil || !result.IsError {
					t.Errorf("%+v %v", result, err)
				}
				if read, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "svc://instructions"}); err != nil || len(read.Contents) != 1 {
					t.Errorf("%+v %v", read, err)
				}
				if prompt, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: "incident_triage"}); err != nil || len(prompt.Messages) != 1 {
					t.Errorf("%+v %v", prompt, err)
				}
			})
		}
	}
}

// TestMCPClientsTypeScript runs the official TypeScript SDKs with every kind of credential: the older one by its handshake, the
// newer one by discovery.
func TestMCPClientsTypeScript(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "MCP clients, TypeScript")
	out := node(t, ".", append([]string{"clients.mjs", s.BaseURL + "/mcp"}, mcpCredentials(t, s)...)...)
	var seen []map[string]map[string]any
	if err := json.Unmarshal(out, &seen); err != nil || len(seen) != 3 {
		t.Fatalf("%v %s", err, out)
	}
	for i, clients := range seen {
		for name, got := range clients {
			newest := strings.HasSuffix(name, "any") || strings.HasSuffix(name, "only")
			version := map[bool]string{true: "2026-07-28", false: "2025-11-25"}[newest]
			for field, want := range map[string]any{
				"version": version, "server": "svc-observability", "discovered": newest, "initialized": !newest, "schemas": true, "error": false,
				"total": "number", "wrong": true,
				"prompt": true, "resource": true, "completion": true,
			} {
				if got[field] != want {
					t.Errorf("credential %d, %s: %s is %v, want %v", i, name, field, got[field], want)
				}
			}
			if n, _ := got["tools"].(float64); n < 30 || fmt.Sprint(got["prompts"]) != "[debug_errors incident_triage latency_analysis]" ||
				fmt.Sprint(got["resources"]) != "[svc://instructions]" {
				t.Errorf("credential %d, %s: %v", i, name, got)
			}
		}
	}
}

// node runs a program in a folder of mcp-js and returns what it printed.
func node(t *testing.T, folder string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = filepath.Join(npmInstall(t, "mcp-js", "@modelcontextprotocol/conformance"), folder)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", args[0], err, stderr.String(), out)
	}
	return out
}

// TestMCPInspector runs the tool that people use to try out a server.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "MCP inspector")
	key, _ := restClient{t, s, s.APIKey}.call("POST", "/v2/api_keys", `{"name":"inspector","kind":"mcp"}`, 200)["secret"].(string)
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"tools/list": {nil, []string{`"name": "list_services"`, `"outputSchema"`, `"readOnlyHint": true`}},
		"tools/call": {
			[]string{"--tool-name", "list_services", "--tool-arg", "start_time=now-2h"},
			[]string{`"structuredContent"`, `"services"`, `"type": "text"`},
		},
		"prompts/list": {nil, []string{`"incident_triage"`, `"latency_analysis"`, `"debug_errors"`}},
		"prompts/get": {
			[]string{"--prompt-name", "latency_analysis", "--prompt-args", "service_name=cart"},
			[]string{`in the service cart`},
		},
		"resources/list":           {nil, []string{`"svc://instructions"`}},
		"resources/read":           {[]string{"--uri", "svc://instructions"}, []string{`# What svc stores`}},
		"resources/templates/list": {nil, []string{`"resourceTemplates": []`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{
				"cli.js", "--cli", s.BaseURL + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + key, "--method", name,
			}, tc.args...)
			out := string(node(t, "node_modules/@modelcontextprotocol/inspector-cli/build", args...)) // it reads package.json there
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in %s", want, out)
				}
			}
		})
	}
}
