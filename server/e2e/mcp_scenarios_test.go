package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/testkit"
)

// toolText calls a tool and returns its text.
func toolText(t *testing.T, p *testkit.Process, tool string, arguments map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/mcp", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+p.APIKey)
	status, raw := roundTrip(t, req)
	var out struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(raw, &out); err != nil || status != http.StatusOK || out.Result.IsError || len(out.Result.Content) != 1 {
		t.Fatalf("%s %v: %d %s", tool, arguments, status, raw)
	}
	return out.Result.Content[0].Text
}

// suggested are the arguments of a call that a text suggests.
func suggested(t *testing.T, text, tool string) map[string]any {
	t.Helper()
	_, rest, ok := strings.Cut(text, "- `"+tool+"` ")
	if !ok {
		t.Fatalf("%s is not suggested:\n%s", tool, text)
	}
	var args map[string]any
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(&args); err != nil {
		t.Fatal(err)
	}
	return args
}

// TestMCPScenarios walks the paths of the prompts without a model, over the demo's planted faults: within five calls and 25,000 characters the texts say what
// happened, with figures.
func TestMCPScenarios(t *testing.T) {
	t.Parallel()
	p := testkit.StartProcess(t, t.TempDir()+"/data")
	yesterday := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	starts := map[string]time.Time{}
	for _, f := range (demo.Config{}).Faults(yesterday, yesterday.Add(24*time.Hour)) {
		starts[f.Name] = f.Start
		cmd := testkit.Command(t, "demo", "--ingest-url", p.IngestURL, "--hours", "0.67", "--until", f.Start.Add(20*time.Minute).Format(time.RFC3339), "--output", "json", "--seed", "7")
		cmd.Env = append(cmd.Environ(), "SVC_INGEST_KEY="+p.PrivateKey)
		if out, err := cmd.Output(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	waitFlushed(t, p)

	type path struct {
		fault string
		// cause is in the first likely cause, and walk are the tools that are called after it as suggested.
		cause []string
		walk  []string
		// ends is in the last text.
		ends []string
	}
	for _, c := range []path{
		{"latency-after-release", []string{"(release) Release 4.", "catalog", "p95"}, []string{"diagnose_service", "find_slow_traces"}, []string{"SELECT product_variants", "times"}},
		{"error-spike", []string{"(error) Error TypeError in cart"}, []string{"find_errors", "error_detail"}, []string{"minorUnits", "Cart.total", "5."}},
		{"failing-dependency", []string{"(dependency) Calls from payments to external:http:api.payfast.example fail"}, []string{"diagnose_service", "error_detail"}, []string{"api.payfast.example within 3000 ms"}},
		{"log-flood", []string{"(logs) New log pattern in inventory", "records"}, []string{"mine_log_patterns"}, []string{"| new |", "inventory"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			text := toolText(t, p, "compare_periods", map[string]any{"around_time": starts[c.fault].Format(time.RFC3339), "environment": "production"})
			size := len([]rune(text))
			_, likely, _ := strings.Cut(text, "\n1. ")
			likely, _, _ = strings.Cut(likely, "\n")
			for _, want := range c.cause {
				if !strings.Contains(likely, want) {
					t.Errorf("the likeliest cause lacks %q:\n%s", want, text)
				}
			}
			for _, tool := range c.walk {
				text = toolText(t, p, tool, suggested(t, text, tool))
				size += len([]rune(text))
			}
			for _, want := range c.ends {
				if !strings.Contains(text, want) {
					t.Errorf("the last text lacks %q:\n%s", want, text)
				}
			}
			if size > 25_000 {
				t.Errorf("the texts have %d characters", size)
			}
			t.Logf("%d calls, %d characters; %s", 1+len(c.walk), size, likely)
		})
	}
}
