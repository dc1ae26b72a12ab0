package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/web"
)

// withoutRoute are the calls of the web application that have no REST route, each with its reason.
var withoutRoute = map[string]string{
	"AgentSessionsService/SearchAgentSessions":   mcpReads,
	"AgentSessionsService/GetAgentSession":       mcpReads,
	"AgentSessionsService/GetAgentToolsOverview": mcpReads,
	"AgentSessionsService/GetAgentToolError":     mcpReads,
}

// mcpReads is the reason of methods that other programs reach by MCP tools.
const mcpReads = "programs read agent sessions by the MCP tools of the toolset agents"

// hostileTrace is the id of the trace that sendHostile sends.
const hostileTrace = "0000000000000000000000000000bad1"

// hostile are texts that try to run, to break the layout, or to look like other text.
func hostile() []string {
	return []string{
		`<script>window.hacked=1</script>`, `<img src=x onerror="window.hacked=2">`, `"><svg onload=window.hacked=3>`,
		`javascript:window.hacked=4`,
		"{{constructor.constructor('window.hacked=5')()}}", "\u001b[2J\u001b[31mred", "txt.\u202egnp.exe", "line 1\r\nline 2\x00\x07",
		"../../../etc/passwd",
		strings.Repeat("W", 60_000), strings.Repeat("very long words ", 4_000), "\U0001F4A9\u0301\u0301\u0301\u0301",
	}
}

// sendHostile sends a trace and log records that are made of hostile texts.
func sendHostile(t *testing.T, p *testkit.Process, marker string) {
	t.Helper()
	type object = map[string]any
	value := func(text string) object { return object{"stringValue": text} }
	now := time.Now().UnixNano()
	var attributes, spans, records []object
	for i, text := range hostile() {
		attributes = append(attributes, object{"key": fmt.Sprintf("hostile.%d", i), "value": value(text)},
			object{"key": text[:min(len(text), 200)], "value": value(text)})
	}
	for i, text := range hostile() {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf("%016x", 0xa0+i-1)
		}
		spans = append(spans, object{
			"traceId": hostileTrace, "spanId": fmt.Sprintf("%016x", 0xa0+i), "parentSpanId": parent, "name": text, "kind": 2,
			"startTimeUnixNano": fmt.Sprint(now + int64(i)*1e6), "endTimeUnixNano": fmt.Sprint(now + 5e8), "attributes": attributes,
			"status": object{"code": 2, "message": text},
			"events": []object{{"name": "exception", "timeUnixNano": fmt.Sprint(now), "attributes": []object{
				{"key": "exception.type", "value": value(text)},
				{"key": "exception.message", "value": value(text)},
				{"key": "exception.stacktrace", "value": value(text)},
			}}},
		})
		records = append(records, object{
			"timeUnixNano": fmt.Sprint(now + int64(i)), "severityNumber": 17, "severityText": text[:min(len(text), 100)],
			"body": value(marker + " " + text), "attributes": attributes, "traceId": hostileTrace,
		})
	}
	resource := object{"attributes": []object{{"key": "service.name", "value": value(`<b onmouseover=window.hacked=6>"service"</b>`)}}}
	for path, body := range map[string]object{
		"/v1/traces": {"resourceSpans": []object{{"resource": resource, "scopeSpans": []object{{"spans": spans}}}}},
		"/v1/logs":   {"resourceLogs": []object{{"resource": resource, "scopeLogs": []object{{"logRecords": records}}}}},
	} {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.IngestURL+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("x-svc-ingest-key", p.PrivateKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", path, res.StatusCode)
		}
	}
}

// TestWebApplication walks through the web application in Chromium, on demo data and on hostile telemetry, in both themes, wide and on a
// phone. The console stays silent, the policy refuses nothing, no request goes elsewhere, and axe finds no violation.
func TestWebApplication(t *testing.T) {
	t.Parallel()
	required := os.Getenv("SVC_TEST_REQUIRE_CHROMIUM") == "1"
	if _, err := web.Built(web.Settings{}); errors.Is(err, web.ErrNotBuilt) {
		if required {
			t.Fatal("the web application is not built, and SVC_TEST_REQUIRE_CHROMIUM=1: make ui")
		}
		t.Skip("the web application is not built: make ui")
	}
	browser := chromium(t, required)
	dir := npmInstall(t, "browser", "playwright-core")
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	if out, err := testkit.Command(t, "demo", "--ingest-url", p.IngestURL, "--ingest-key", p.PrivateKey, "--hours", "0.4", "--seed",
		"7").CombinedOutput(); err != nil {
		t.Fatalf("svc demo: %v\n%s", err, out)
	}
	const marker = "hostilerecord"
	sendHostile(t, p, marker)
	elsewhere := sendRecording(t, p)
	waitFlushed(t, p)

	input, err := json.Marshal(map[string]string{
		"base": p.BaseURL, "email": p.AdminEmail, "password": p.AdminPassword, "trace": hostileTrace, "marker": marker, "visitor": hostileVisitor,
		"elsewhere": elsewhere,
		"ingest":    p.IngestURL, "key": p.PrivateKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "walks", "*.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan string, len(files))
	waiting <- application // the longest
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".mjs"); name != application {
			waiting <- name
		}
	}
	close(waiting)
	var wg sync.WaitGroup
	var held sync.Mutex
	reports := map[string]walked{}
	for range 2 { // more browsers at once only wait for each other
		wg.Go(func() {
			walkApp(t, dir, browser, input, waiting, func(name string, w walked) {
				held.Lock()
				defer held.Unlock()
				reports[name] = w
			})
		})
	}
	wg.Wait()
	if len(reports) != len(files) {
		t.Errorf("%d of %d walks were taken", len(reports), len(files))
	}
	got := reports[application]
	for name, want := range map[string]string{
		"returned": "/logs?q=before", "hacked": "undefined", "hostile": marker, "filter": `service.name = "cart"`, "back": "true",
		"nothing": "No record matches", "unknown": `the nearest name is "cart"`, "unreadable": "character 9",
		"failed": "A planned failure.", "draft": "a draft",
		"ours": "200", "unmarked": "401", "rest": "401", "otherPort": "refused",
	} {
		if text := fmt.Sprint(got.Seen[name]); !strings.Contains(text, want) {
			t.Errorf("%s is %q, want %q", name, text, want)
		}
	}
	if diff := cmp.Diff([]any{415.0}, got.Seen["simple"]); diff != "" {
		t.Errorf("a simple request of another port (-want +got):\n%s", diff)
	}
	var called []string
	for _, w := range reports {
		called = append(called, w.Procedures...)
	}
	slices.Sort(called)
	checkProcedures(t, slices.Compact(called))
}

// application is the walk whose observations TestWebApplication checks. The other walks check theirs.
const application = "application"

// walked is the report of a walk.
type walked struct {
	Seen       map[string]any `json:"seen"`
	Procedures []string       `json:"procedures"`
	Problems   []string       `json:"problems"`
	Foreign    []string       `json:"foreign"`
	Failure    string         `json:"failure"`
}

// walkApp starts a browser, takes the waiting walks in it one after the other, and checks that they had no problem.
func walkApp(t *testing.T, dir, browser string, input []byte, waiting <-chan string, done func(name string, w walked)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "walk.mjs", browser, screenshots(t))
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Error(err)
		return
	}
	answers := json.NewDecoder(stdout)
	_, err := fmt.Fprintf(stdin, "%s\n", input)
	for name := range waiting {
		if err == nil {
			_, err = fmt.Fprintln(stdin, name)
		}
		var w walked
		if err == nil {
			err = answers.Decode(&w)
		}
		if err != nil {
			t.Errorf("the walk %s: %v", name, err)
			break
		}
		if w.Failure != "" {
			t.Errorf("the walk %s: %s", name, w.Failure)
		}
		for _, problem := range w.Problems {
			t.Errorf("the walk %s: %s", name, problem)
		}
		if len(w.Foreign) > 0 {
			t.Errorf("the walk %s: requests elsewhere: %q", name, w.Foreign)
		}
		done(name, w)
	}
	if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
		t.Errorf("walk.mjs: %v\n%s", err, stderr.Bytes())
	}
}

// checkProcedures checks that other clients reach by REST what the application calls.
func checkProcedures(t *testing.T, called []string) {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(called) < 15 {
		t.Errorf("the application called %q only", called)
	}
	for _, name := range called {
		m, ok := c.ByProcedure("/" + contract.Package + "." + name)
		if !ok {
			t.Errorf("the application calls %s, which the contract does not have", name)
			continue
		}
		if m.NoREST && withoutRoute[name] == "" {
			t.Errorf("the application calls %s, which has no REST route", name)
		}
	}
}
