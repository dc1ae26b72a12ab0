package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// saveDocument fetches the document from a running server, as an external tool would.
func saveDocument(t *testing.T, s *testkit.Server, dir string) string {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/openapi.json", nil)
	status, body := roundTrip(t, req)
	if status != http.StatusOK {
		t.Fatalf("/openapi.json: %d %.300s", status, body)
	}
	path := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(path, body, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenAPILinters checks the document with two linters, against every rule that they recommend, including hints. A linter does not read
// a document again that it has passed on this machine.
func TestOpenAPILinters(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t)
	dir := workspace(t, "openapi-js", "openapi-fetch")
	document := saveDocument(t, s, dir)
	quiet := []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}
	// The address of the server has another port in every run, and no rule depends on the port.
	text := strings.ReplaceAll(string(fileText(t, document)), s.BaseURL, "http://server.example")
	for _, linter := range []struct {
		name, rules string
		args        []string
	}{
		{"redocly", "redocly.yaml", []string{"lint", "--config", "redocly.yaml", document}},
		{"spectral", "spectral.yaml", []string{"lint", "--ruleset", "spectral.yaml", "--fail-severity=hint", document}},
	} {
		input := strings.Join(linter.args[:len(linter.args)-1], " ") + string(run(t, dir, nil, "node", "--version")) + text
		for _, name := range []string{linter.rules, "package-lock.json"} {
			input += string(fileText(t, filepath.Join(dir, name)))
		}
		runOnce(t, dir, quiet, "openapi-"+linter.name, input, tool(dir, linter.name), linter.args...)
	}
}

// TestOpenAPIClients generates clients from the document with two independent generators, compiles them strictly, and lists API
// keys and dashboards with them.
func TestOpenAPIClients(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "OpenAPI clients")
	createKey(t, s, "traces:read")
	keys := restClient{t, s, s.APIKey}
	keys.call("POST", "/v2/dashboards", `{"name":"One","time_range":{"type":"relative","value":"7d"},"widgets":[`+statWidget("a", 0)+`,`+
		statWidget("b", 4)+`]}`, 200)
	keys.call("POST", "/v2/dashboards", `{"name":"Two"}`, 200)
	dir := workspace(t, "openapi-js", "openapi-fetch")
	document := saveDocument(t, s, dir)
	run(t, dir, nil, tool(dir, "openapi-typescript"), document, "--output", filepath.Join("generated", "schema.d.ts"))
	run(t, dir, nil, tool(dir, "openapi-ts"), "--silent", "--no-log-file", "-i", document, "-o", filepath.Join("generated", "hey-api"),
		"-p", "@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch")
	run(t, dir, nil, tool(dir, "tsc"), "-p", ".")
	for _, client := range []string{"openapi-fetch", "hey-api"} {
		t.Run(client, func(t *testing.T) {
			var got struct {
				Names  []string `json:"names"`
				Boards []string `json:"boards"`
				Tag    string   `json:"tag"`
			}
			out := run(t, dir, nil, "node", filepath.Join("out", client+".mjs"), s.BaseURL, s.APIKey)
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !slices.Contains(got.Names, "e2e traces:read (standard, 1)") || len(got.Names) != 2 {
				t.Errorf("listed %q", got.Names)
			}
			if diff := cmp.Diff([]string{"Two (; 12h)", "One (stat 3×4, stat 3×4; 7d)"}, got.Boards); diff != "" {
				t.Errorf("dashboards (-want +got):\n%s", diff)
			}
			if got.Tag != "@svc/http/v2/InvalidCredentialsError" {
				t.Errorf("an unknown key gave %q", got.Tag)
			}
		})
	}
}

// TestReference loads the interactive reference like a browser without any other network: every file must come from this server.
func TestReference(t *testing.T) {
	s := testkit.Shared(t)
	get := func(path string) (*http.Response, string) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, nil)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var body strings.Builder
		if _, err := io.Copy(&body, res.Body); err != nil {
			t.Fatal(err)
		}
		return res, body.String()
	}
	res, page := get("/v2/docs")
	if csp := res.Header.Get("Content-Security-Policy"); res.StatusCode != http.StatusOK || !strings.Contains(csp, "default-src 'none'") ||
		!strings.Contains(csp, "script-src 'self';") || !strings.Contains(csp, "connect-src 'self';") ||
		// styles alone may be inline: Scalar writes its own
		strings.Contains(strings.Replace(csp, "style-src 'self' 'unsafe-inline'", "", 1), "unsafe") {
		t.Fatalf("%d with policy %q", res.StatusCode, csp)
	}
	references := regexp.MustCompile(`(?:src|href)="(docs/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(references) < 2 {
		t.Fatalf("the page refers to %v", references)
	}
	seen := map[string]bool{}
	var follow func(path string)
	follow = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		res, body := get(path)
		if res.StatusCode != http.StatusOK || strings.TrimSpace(body) == "" {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
		// Scalar's own code has links to its pages in it. The policy keeps it on this server, and TestReferenceInBrowser watches its
		// requests.
		if path != "/v2/docs/scalar.js" && regexp.MustCompile(`(?:src|href|url\(|from|import)\s*[=(]?\s*['"]?https?://`).MatchString(body) {
			t.Errorf("%s loads from another server", path)
		}
		for _, m := range regexp.MustCompile(`from '\./([^']+)'`).FindAllStringSubmatch(body, -1) {
			follow("/v2/docs/" + m[1])
		}
	}
	for _, m := range references {
		follow("/v2/" + m[1])
	}
	if !seen["/v2/docs/scalar.js"] || !seen["/v2/docs/start.mjs"] {
		t.Errorf("followed only %v", seen)
	}
	if res, _ := get("/v2/docs/nothing.js"); res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown file: %d", res.StatusCode)
	}
	// With a slash at the end, the relative addresses of the page still resolve.
	if res, _ := get("/v2/docs/"); res.Request.URL.Path != "/v2/docs" || res.StatusCode != http.StatusOK {
		t.Errorf("with a slash: %d at %s", res.StatusCode, res.Request.URL.Path)
	}
}
