package e2e

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/testport"
)

// conformance prepares a run of the official suite.
func conformance(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir := npmInstall(t, "mcp-js", "@modelcontextprotocol/conformance")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "node", append([]string{
		"--import", "./node20.mjs",
		"node_modules/@modelcontextprotocol/conformance/dist/index.js",
	}, args...)...)
	cmd.Dir = dir
	return cmd
}

// withKeys is a proxy in front of the server that adds a key to every request, which the suite cannot do. It takes the next key
// before the rate of one is used up. Everything else stays unchanged, including Host and Origin.
func withKeys(t *testing.T, s *testkit.Server) string {
	t.Helper()
	to, err := url.Parse(s.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{s.APIKey}
	for range 9 {
		key, _ := restClient{t, s, s.APIKey}.call("POST", "/v2/api_keys", `{"name":"conformance","kind":"mcp"}`, 200)["secret"].(string)
		keys = append(keys, key)
	}
	var count atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
		r.Out.Header.Set("Authorization", "Bearer "+keys[count.Add(1)/50%int64(len(keys))])
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

var suiteTotal = regexp.MustCompile(`Total: (\d+) passed`)

// TestMCPConformance runs every scenario that the suite requires of a server in a revision of the protocol.
// mcp-js/not-applicable-*.yaml names the scenarios for features that the server does not offer, each with the reason.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil, func(o *app.Options) { o.MCPFixtures = mcpFixtures })
	at := withKeys(t, s)
	for revision, least := range map[string]int{"2025-11-25": 59, "2026-07-28": 161} {
		t.Run(revision, func(t *testing.T) {
			out, err := conformance(t, "server", "--url", at+"/mcp", "--requirements", revision, "--expected-failures",
				"not-applicable-"+revision+".yaml").CombinedOutput()
			_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Log(summary)
			passed := 0
			if m := suiteTotal.FindStringSubmatch(summary); m != nil {
				passed, _ = strconv.Atoi(m[1])
			}
			if passed < least {
				t.Errorf("%d checks passed, %d did before", passed, least)
			}
		})
	}
}

// TestOAuthConformance runs the suite's scenarios for an authorization server: its metadata, and a grant that a person approves.
func TestOAuthConformance(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "OAuth conformance")
	client := newWaitingProgram(t).register(t, s.BaseURL+"/register", "Conformance")
	port := testport.Free(t)
	cmd := conformance(t, "authorization", "--url", s.BaseURL, "--client-id", client, "--resource", s.BaseURL+"/mcp", "--port",
		strconv.Itoa(port))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		out.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), s.BaseURL+"/oauth/authorize?") {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, approve(t, s, lines.Text()).String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			testport.Await(t, port) // the suite prints the address before it listens
			roundTrip(t, req)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "Total: 3 passed, 0 failed") {
		t.Fatalf("%v\n%s", err, out.String())
	}
}
