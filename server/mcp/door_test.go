package mcp

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
)

const resourceMetadata = "https://api.example.com/.well-known/oauth-protected-resource/mcp"

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

func send(t *testing.T, method, url, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return res, string(text)
}

func TestDoorRefuses(t *testing.T) {
	callers := full()
	callers["session"] = principal.Principal{Org: "org_a", User: "user_a", Kind: principal.KindSession}
	b := &backend{}
	srv := server(t, b, callers, nil)
	ok := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	with := func(k, v string) map[string]string {
		h := map[string]string{k: v}
		for key, value := range ok {
			if _, set := h[key]; !set {
				h[key] = value
			}
		}
		return h
	}
	for name, tc := range map[string]struct {
		method, body string
		header       map[string]string
		status       int
		tag          string
	}{
		"anonymous": {
			http.MethodPost, listTools,
			map[string]string{"Content-Type": "application/json"},
			401,
			"@svc/http/errors/UnauthorizedError",
		},
		"unknown key":    {http.MethodPost, listTools, with("Authorization", "Bearer nobody"), 401, "@svc/http/v2/InvalidCredentialsError"},
		"session":        {http.MethodPost, listTools, with("Authorization", "Bearer session"), 401, "@svc/http/v2/InvalidCredentialsError"},
		"foreign origin": {http.MethodPost, listTools, with("Origin", "https://evil.example"), 403, "@svc/http/v2/InsufficientPermissionsError"},
		"null origin":    {http.MethodPost, listTools, with("Origin", "null"), 403, "@svc/http/v2/InsufficientPermissionsError"},
		"look-alike": {
			http.MethodPost, listTools, with("Origin", "https://localhost.evil.example"), 403,
			"@svc/http/v2/InsufficientPermissionsError",
		},
		"get":          {http.MethodGet, "", ok, 405, "@svc/http/v2/MethodNotAllowedError"},
		"delete":       {http.MethodDelete, "", ok, 405, "@svc/http/v2/MethodNotAllowedError"},
		"content type": {http.MethodPost, listTools, with("Content-Type", "text/plain"), 415, "@svc/http/v2/UnsupportedMediaTypeError"},
		"accept":       {http.MethodPost, listTools, with("Accept", "text/html"), 406, "@svc/http/v2/NotAcceptableError"},
		"too large":    {http.MethodPost, strings.Repeat(" ", limits.RESTBody+1), ok, 413, "@svc/http/v2/PayloadTooLargeError"},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := send(t, tc.method, srv.URL+Path, tc.body, tc.header)
			var got struct {
				Error tool.Failure `json:"error"`
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("status %d, body %q: %v", res.StatusCode, body, err)
			}
			if res.StatusCode != tc.status || got.Error.Tag != tc.tag || got.Error.Message == "" {
				t.Errorf("status %d, %+v; want %d with %s", res.StatusCode, got.Error, tc.status, tc.tag)
			}
			if (res.Header.Get("WWW-Authenticate") != "") != (tc.status == 401) {
				t.Errorf("WWW-Authenticate is %q with status %d", res.Header.Get("WWW-Authenticate"), tc.status)
			}
			if tc.status == 405 && res.Header.Get("Allow") != "POST" {
				t.Errorf("Allow is %q", res.Header.Get("Allow"))
			}
		})
	}
	if b.last() != nil {
		t.Errorf("a refused request reached the API: %v", b.last())
	}
	for name, header := range map[string]map[string]string{
		"no origin": ok, "own origin": with("Origin", "https://api.example.com"), "this machine": with("Origin", "http://localhost:5173"),
		"loopback": with("Origin", "http://127.0.0.1:1"), "any type": with("Accept", "*/*"), "json only": with("Accept", "application/json"),
	} {
		if res, body := send(t, http.MethodPost, srv.URL+Path, listTools, header); res.StatusCode != 200 ||
			!strings.Contains(body, "search_logs") {
			t.Errorf("%s: status %d, %s", name, res.StatusCode, body)
		}
	}
}

func TestRate(t *testing.T) {
	srv := server(t, &backend{}, full(), ratelimit.NewWindow(2, limits.MCPPeriod))
	header := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	for range 2 {
		if res, body := send(t, http.MethodPost, srv.URL+Path, listTools, header); res.StatusCode != 200 {
			t.Fatalf("status %d: %s", res.StatusCode, body)
		}
	}
	res, body := send(t, http.MethodPost, srv.URL+Path, listTools, header)
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "10" || !strings.Contains(body, "@svc/http/v2/RateLimitError") {
		t.Errorf("over the rate: status %d, Retry-After %q, %s", res.StatusCode, res.Header.Get("Retry-After"), body)
	}
}

func TestManifest(t *testing.T) {
	srv := server(t, &backend{}, full(), nil)
	for _, path := range ManifestPaths() {
		res, body := send(t, http.MethodGet, srv.URL+path, "", nil)
		var m manifest
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 || m.Name != ServerName || m.Version != ServerVersion || m.Endpoint != "https://api.example.com/mcp" {
			t.Errorf("%s: status %d, %+v", path, res.StatusCode, m)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: web pages cannot read it", path)
		}
	}
	for _, path := range entryPaths() {
		res, body := send(t, http.MethodGet, srv.URL+path, "", nil)
		var e entry
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 || e.Name != "com.example.api/svc-observability" || e.Version != ServerVersion || len(e.Description) > 100 ||
			len(e.Remotes) != 1 ||
			e.Remotes[0].Type != "streamable-http" || e.Remotes[0].URL != "https://api.example.com/mcp" || !e.Remotes[0].Headers[0].IsSecret {
			t.Errorf("%s: status %d, %+v", path, res.StatusCode, e)
		}
	}
}

func TestCallEndsWithItsCaller(t *testing.T) {
	b := &backend{block: make(chan struct{})}
	srv := server(t, b, full(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+Path,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_logs","arguments":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer full")
	req.Header.Set("Content-Type", "application/json")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close() // not expected; the select below reports it
		}
	}()
	for b.last() == nil {
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case <-b.block:
	case <-time.After(30 * time.Second):
		t.Error("the call went on without its caller")
	}
	<-done
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestProtocolErrors: the answer to anything but a valid JSON-RPC request is a JSON-RPC error, in every protocol version.
func TestProtocolErrors(t *testing.T) {
	srv := server(t, &backend{}, full(), nil)
	header := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	for name, tc := range map[string]struct {
		version, body string
		status, code  int
		id            string
	}{
		"malformed":       {"", `{nope`, 400, codeParse, "null"},
		"empty":           {"", ``, 400, codeParse, "null"},
		"number":          {"", `5`, 400, codeInvalidRequest, "null"},
		"empty batch":     {"", `[]`, 400, codeInvalidRequest, "null"},
		"JSON-RPC 1":      {"", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, codeInvalidRequest, "1"},
		"null id":         {"", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, codeInvalidRequest, "null"},
		"unknown method":  {"", `{"jsonrpc":"2.0","id":"x","method":"foo/bar"}`, 200, codeMethodNotFound, `"x"`},
		"no params":       {"2025-06-18", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, 200, codeInvalidParams, "7"},
		"params of Go":    {"2025-11-25", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`, 200, codeInvalidParams, "7"},
		"unknown version": {"1999-01-01", listTools, 400, codeInvalidRequest, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := maps.Clone(header)
			if tc.version != "" {
				h["MCP-Protocol-Version"] = tc.version
			}
			res, body := send(t, http.MethodPost, srv.URL+Path, tc.body, h)
			var got rpcError
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("status %d, body %q: %v", res.StatusCode, body, err)
			}
			if res.StatusCode != tc.status || got.Error.Code != tc.code || string(got.ID) != tc.id || got.Version != "2.0" ||
				res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d, %s: %s", res.StatusCode, res.Header.Get("Content-Type"), body)
			}
			if strings.Contains(body, "Go ") || strings.Contains(body, "unmarshal") {
				t.Errorf("the answer speaks of Go: %s", body)
			}
		})
	}
}

// TestStepUp: a program that signed in learns which scopes to request, including its own scopes. A key gets a result, as for
// every refused call.
func TestStepUp(t *testing.T) {
	callers := full()
	limited := principal.Principal{
		Org: "org_a", User: "user_a", Kind: principal.KindOAuth, Role: principal.RoleMember,
		Scopes: []string{"metrics:read", "traces:read"},
	}
	callers["oauth"] = limited
	limited.Kind, limited.CredentialID = principal.KindAPIKey, "key_b"
	callers["key"] = limited
	everything := principal.Principal{Org: "org_a", User: "user_a", Kind: principal.KindOAuth, Role: principal.RoleMember}
	callers["everything"] = everything
	srv := server(t, &backend{}, callers, nil)
	call := func(caller, body string) (*http.Response, string) {
		return send(t, http.MethodPost, srv.URL+Path, body, map[string]string{
			"Authorization": "Bearer " + caller,
			"Content-Type":  "application/json",
		})
	}
	const logs = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_logs","arguments":{}}}`
	res, body := call("oauth", logs)
	want := `Bearer error="insufficient_scope", scope="logs:read metrics:read traces:read", resource_metadata="` + resourceMetadata + `"`
	if res.StatusCode != 403 || res.Header.Get("WWW-Authenticate") != want || !strings.Contains(body, "InsufficientScopeError") ||
		!strings.Contains(body, "logs:read") {
		t.Errorf("%d %q %s", res.StatusCode, res.Header.Get("WWW-Authenticate"), body)
	}
	for name, tc := range map[string]struct{ caller, body, want string }{
		"key":        {"key", logs, `"isError":true`},
		"everything": {"everything", logs, `"structuredContent"`},
		"allowed":    {"oauth", strings.Replace(logs, "search_logs", "search_traces", 1), `"structuredContent"`},
		"unknown":    {"oauth", strings.Replace(logs, "search_logs", "no_tool", 1), `"error"`},
		"list":       {"oauth", listTools, `"tools"`},
	} {
		if res, body := call(tc.caller, tc.body); res.StatusCode != 200 || !strings.Contains(body, tc.want) ||
			res.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s: %d %q %s", name, res.StatusCode, res.Header.Get("WWW-Authenticate"), body)
		}
	}
}
