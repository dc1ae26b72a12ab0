package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp"
	"github.com/svc-observability/svc/server/testkit"
)

// TestMCPTransport checks the answers of the MCP server's address to clients of every protocol version.
func TestMCPTransport(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "MCP transport")
	with := func(body string, header ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+s.APIKey)
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			if body != "" {
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			}
		}
	}
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		res, text := atMCP(t, s, "/mcp", with(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+
			`","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`))
		var got map[string]any
		if err := json.Unmarshal([]byte(text), &got); err != nil || res.StatusCode != 200 || at(got, "result", "protocolVersion") != version ||
			at(got, "result", "serverInfo", "name") != "svc-observability" || res.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("initialize %s: %d %s", version, res.StatusCode, text)
		}
		if res, text := atMCP(t, s, "/mcp", with("", "MCP-Protocol-Version", version)); res.StatusCode != 200 ||
			!strings.Contains(text, "list_services") {
			t.Errorf("tools/list %s: %d %s", version, res.StatusCode, text)
		}
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"e2e","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	res, text := atMCP(t, s, "/mcp", with(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`, "MCP-Protocol-Version",
		"2026-07-28", "Mcp-Method", "server/discover"))
	if res.StatusCode != 200 || !strings.Contains(text, "2026-07-28") || !strings.Contains(text, "svc-observability") {
		t.Errorf("server/discover: %d %s", res.StatusCode, text)
	}
	res, text = atMCP(t, s, "/mcp", with(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`, "MCP-Protocol-Version",
		"2026-07-28", "Mcp-Method", "tools/call"))
	if res.StatusCode != 400 {
		t.Errorf("a method that the header does not name: %d %s", res.StatusCode, text)
	}
	for header, status := range map[string]int{"https://evil.example": 403, "null": 403, "http://localhost:6274": 200, s.BaseURL: 200} {
		if res, text := atMCP(t, s, "/mcp", with("", "Origin", header)); res.StatusCode != status {
			t.Errorf("from %s: %d %s", header, res.StatusCode, text)
		}
	}
	// A script of an allowed origin may call, and may read the answer and the reason of a refusal. A script of another origin may
	// not.
	for origin, allowed := range map[string]string{
		"http://localhost:6274": "http://localhost:6274", s.BaseURL: s.BaseURL,
		"https://evil.example": "",
	} {
		res, text := atMCP(t, s, "/mcp", func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "authorization,content-type,mcp-method,mcp-protocol-version")
		})
		h := res.Header
		if h.Get("Access-Control-Allow-Origin") != allowed || (res.StatusCode == 204) != (allowed != "") || allowed != "" &&
			(h.Get("Access-Control-Allow-Headers") != "Authorization, *" ||
				h.Get("Access-Control-Allow-Methods") != "POST" || h.Get("Vary") != "Origin" || h.Get("Access-Control-Allow-Credentials") != "") {
			t.Errorf("preflight from %s: %d %v %s", origin, res.StatusCode, h, text)
		}
		res, _ = atMCP(t, s, "/mcp", func(r *http.Request) { r.Header.Set("Origin", origin) })
		if h := res.Header; h.Get("Access-Control-Allow-Origin") != allowed || (res.StatusCode == 401) != (allowed != "") ||
			allowed != "" && !strings.Contains(h.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
			t.Errorf("from %s: %d %v", origin, res.StatusCode, h)
		}
	}
	for _, method := range []string{"GET", "DELETE", "PUT"} {
		res, text := atMCP(t, s, "/mcp", func(r *http.Request) { with("")(r); r.Method = method })
		if res.StatusCode != 405 || res.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %d %s", method, res.StatusCode, text)
		}
	}
	var first string
	for _, path := range mcp.ManifestPaths() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 || res.Header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(res.Header.Get("Cache-Control"), "max-age=3600") ||
			!strings.Contains(string(body), s.BaseURL+"/mcp") || first != "" && first != string(body) {
			t.Errorf("%s: %d %v %s", path, res.StatusCode, res.Header, body)
		}
		first = string(body)
	}
}

// TestMCPRate checks the limit of 120 requests in 10 seconds for each credential, and that the refusal names the time to wait.
func TestMCPRate(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "MCP rate")
	ping := func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+s.APIKey)
		const body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	counts, began := map[int]int{}, time.Now()
	for range 125 {
		res, text := atMCP(t, s, "/mcp", ping)
		counts[res.StatusCode]++
		if res.StatusCode == 429 && (res.Header.Get("Retry-After") != "10" || !strings.Contains(text, "RateLimitError")) {
			t.Errorf("%v %s", res.Header, text)
		}
	}
	if took := time.Since(began); took >= limits.MCPPeriod {
		t.Skipf("the machine took %s for 125 requests, so the window moved: %v", took, counts)
	}
	if counts[200] != limits.MCPRequests || counts[429] != 5 {
		t.Error(counts)
	}
}
