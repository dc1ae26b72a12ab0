package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/testkit"
)

// mcpResult asks the MCP server and decodes its result.
func mcpResult(t *testing.T, p *testkit.Process, method string, params map[string]any, result any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
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
	var out struct{ Result json.RawMessage }
	if err := json.Unmarshal(raw, &out); err != nil || status != http.StatusOK || out.Result == nil {
		t.Fatalf("%s %v: %d %s", method, params, status, raw)
	}
	if err := json.Unmarshal(out.Result, result); err != nil {
		t.Fatalf("%s %v: %v in %s", method, params, err, out.Result)
	}
}

// toolText calls a tool and returns its text.
func toolText(t *testing.T, p *testkit.Process, tool string, arguments map[string]any) string {
	t.Helper()
	var out struct {
		IsError bool
		Content []struct{ Text string }
	}
	mcpResult(t, p, "tools/call", map[string]any{"name": tool, "arguments": arguments}, &out)
	if out.IsError || len(out.Content) != 1 {
		t.Fatalf("%s %v: %+v", tool, arguments, out)
	}
	return out.Content[0].Text
}

// promptStep is a numbered step of a prompt. The first clause whose condition holds is executed, if there is one.
type promptStep []promptClause

type promptClause struct {
	// condition is empty for a clause that always applies.
	condition, tool string
	arguments       map[string]any
}

var (
	stepLine    = regexp.MustCompile(`(?m)^\d+\. (.*)$`)
	clauseStart = regexp.MustCompile(`(?:When ([^:]+)|(Otherwise)): `)
	quoted      = regexp.MustCompile("`([^`]*)`")
	nameLike    = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)
)

// readPrompt reads the steps from a prompt's text. The test fails if the text names a tool or an argument that does not exist.
func readPrompt(t *testing.T, text string, tools map[string]map[string]any) []promptStep {
	t.Helper()
	if bare := nameLike.FindString(quoted.ReplaceAllString(text, "")); bare != "" {
		t.Errorf("the prompt names %s without backticks", bare)
	}
	var steps []promptStep
	inSteps := 0
	for _, line := range stepLine.FindAllStringSubmatch(text, -1) {
		body := line[1]
		starts := clauseStart.FindAllStringSubmatchIndex(body, -1)
		if len(starts) == 0 {
			starts = [][]int{{0, 0, -1, -1, -1, -1}}
		} else if starts[0][0] != 0 {
			t.Fatalf("a condition stands within %q", body)
		}
		var step promptStep
		for i, at := range starts {
			end := len(body)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			c := promptClause{arguments: map[string]any{}}
			if at[2] >= 0 {
				c.condition = body[at[2]:at[3]]
			}
			for _, q := range quoted.FindAllStringSubmatch(body[at[1]:end], -1) {
				inSteps++
				name, value, isArgument := strings.Cut(q[1], "=")
				switch {
				case isArgument && c.tool == "":
					t.Errorf("%s stands before its tool in %q", q[0], body)
				case isArgument && tools[c.tool][name] == nil:
					t.Errorf("%s has no argument %s", c.tool, name)
				case isArgument:
					c.arguments[name] = value
				case tools[name] == nil:
					t.Errorf("the prompt names %s, which is no tool", name)
				case c.tool != "":
					t.Errorf("%q names two tools", body[at[1]:end])
				default:
					c.tool = name
				}
			}
			if c.tool == "" {
				t.Fatalf("no tool in %q", body[at[1]:end])
			}
			step = append(step, c)
		}
		steps = append(steps, step)
	}
	if n := len(quoted.FindAllString(text, -1)); n != inSteps || len(steps) == 0 {
		t.Fatalf("%d of %d names are in steps:\n%s", inSteps, n, text)
	}
	return steps
}

// likeliest returns the first likely cause in the latest text that lists causes, as "(kind) statement".
func likeliest(texts []string) string {
	for _, text := range slices.Backward(texts) {
		if _, rest, ok := strings.Cut(text, "### Likely causes"); ok {
			if _, rest, ok = strings.Cut(rest, "\n1. "); ok {
				cause, _, _ := strings.Cut(rest, "\n")
				return cause
			}
			return ""
		}
	}
	return ""
}

// promptConditions evaluates the conditions of the prompts for a reader of these texts.
var promptConditions = map[string]func(texts []string) bool{
	"calls fail": func(texts []string) bool {
		return strings.HasPrefix(likeliest(texts), "(error)") || strings.Contains(likeliest(texts), " fail: ")
	},
	"calls are slow": func(texts []string) bool {
		return strings.Contains(likeliest(texts), "p95") || strings.Contains(likeliest(texts), " are slow: ")
	},
	"a log pattern is new": func(texts []string) bool { return strings.HasPrefix(likeliest(texts), "(logs) New log pattern") },
	"an error rose": func(texts []string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "the error that rose most") })
	},
}

// suggested returns the arguments of the first suggestion of a tool, in the latest text that suggests it.
func suggested(t *testing.T, texts []string, tool string) map[string]any {
	t.Helper()
	for _, text := range slices.Backward(texts) {
		_, rest, ok := strings.Cut(text, "\n- `"+tool+"` ")
		if !ok {
			continue
		}
		var args map[string]any
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&args); err != nil {
			t.Fatal(err)
		}
		return args
	}
	t.Fatalf("%s is not suggested:\n%s", tool, strings.Join(texts, "\n"))
	return nil
}

// walkPrompt executes the steps with the arguments that earlier texts suggest. The first call has the arguments of the prompt.
func walkPrompt(t *testing.T, p *testkit.Process, steps []promptStep, arguments map[string]any) (tools, texts []string) {
	t.Helper()
	for _, step := range steps {
		i := slices.IndexFunc(step, func(c promptClause) bool {
			if c.condition == "" {
				return true
			}
			holds := promptConditions[c.condition]
			if holds == nil {
				t.Fatalf("nobody knows when %q", c.condition)
			}
			return holds(texts)
		})
		if i < 0 {
			continue
		}
		c := step[i]
		args := arguments
		if len(texts) > 0 {
			args = suggested(t, texts, c.tool)
		}
		for name, value := range c.arguments {
			args[name] = value
		}
		tools, texts = append(tools, c.tool), append(texts, toolText(t, p, c.tool, args))
	}
	return tools, texts
}

// TestMCPScenarios is an agent without a model: it follows each prompt's text, over the demo's planted faults. Within five calls
// and 25,000 characters, the texts must name the service, the cause and the figures.
func TestMCPScenarios(t *testing.T) {
	t.Parallel()
	const faultLasts = 20 * time.Minute // of each; the demo also sends an hour before it
	p := testkit.StartProcess(t, t.TempDir()+"/data")
	yesterday := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	starts := map[string]time.Time{}
	for _, f := range (demo.Config{}).Faults(yesterday, yesterday.Add(24*time.Hour)) {
		starts[f.Name] = f.Start
		cmd := testkit.Command(t, "demo", "--ingest-url", p.IngestURL, "--hours", "1.33", "--until", f.Start.Add(faultLasts).Format(time.RFC3339),
			"--output", "json", "--seed", "7")
		cmd.Env = append(cmd.Environ(), "SVC_INGEST_KEY="+p.PrivateKey)
		if out, err := cmd.Output(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	waitFlushed(t, p)

	var listed struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties map[string]any }
		}
	}
	mcpResult(t, p, "tools/list", map[string]any{}, &listed)
	tools := map[string]map[string]any{}
	for _, tool := range listed.Tools {
		tools[tool.Name] = tool.InputSchema.Properties
	}

	const (
		release    = `(?m)^1\. \(release\) Release 4\.\d+\.0 of catalog, first seen \S+: p95 [1-9]\d\d ms, [1-9]\d(\.\d+)? ms with 4\.\d+\.1 \([\d.]+ times the earlier value\)`
		thrown     = `(?m)^1\. \(error\) Error TypeError in cart: [1-9]\d occurrences \(0 before\), first seen at \S+: Cannot read properties of undefined \(reading 'minorUnits'\)`
		dependency = `(?m)^1\. \(dependency\) Calls from payments to external:http:api\.payfast\.example fail: [3-9]\d(\.\d+)? % of \d+ \([\d.]+ % before\), on average \d+ ms`
		flood      = `(?m)^1\. \(logs\) New log pattern in inventory: 1\d{4} records from \S+ to \S+ \(600 a minute, [\d.]+ % of all; 0 in the time before\)`
	)
	used := map[string]map[string]bool{}
	for _, c := range []struct {
		prompt, fault, service string
		walk                   []string
		answer                 []string
	}{
		{
			"incident_triage", demo.FaultRelease, "",
			[]string{"find_incidents", "diagnose_service", "find_slow_traces", "inspect_trace"},
			[]string{
				`### 1\. catalog: \S+T\d\d:\d\d:00Z to .+\n- Likely cause \(release, confidence \d+ %\): Release 4\.\d+\.0 of catalog`, release,
				`catalog: SELECT product_variants, \d+ times, \d+ ms together`,
			},
		},
		{
			"incident_triage", demo.FaultErrors, "",
			[]string{"find_incidents", "diagnose_service", "error_detail", "inspect_trace"},
			[]string{
				`### 1\. cart: .+\n- Likely cause \(error, confidence \d+ %\): A new error: error TypeError in cart`, thrown,
				`Top frame: src/cart\.js:Cart\.total`, `Versions: 5\.`,
			},
		},
		{
			"incident_triage", demo.FaultDependency, "",
			[]string{"find_incidents", "diagnose_service", "error_detail", "inspect_trace"},
			[]string{
				`### 1\. payments: .+\n- Likely cause \(dependency, `, dependency, `no answer from api\.payfast\.example within 3000 ms`,
				`attempt 3 of 3 failed`,
			},
		},
		{
			"incident_triage", demo.FaultLogs, "",
			[]string{"find_incidents", "diagnose_service", "mine_log_patterns", "search_logs"},
			[]string{`### 1\. inventory: .+\n- Likely cause \(logs, `, flood, `(?m)^\| new \| 1\d{4} \| 0 \| WARN \| inventory \|`},
		},
		{
			"latency_analysis", demo.FaultRelease, "",
			[]string{"find_slow_traces", "get_service_top_operations", "compare_periods", "inspect_trace"},
			[]string{
				release, `(?m)^\| edge-gateway \| GET /api/products/\{id\} \| [1-9]\d\d \| \d\d(\.\d+)? \|`,
				`(?m)^\| GET /products/\{id\} \| [1-9]\d\d \|`, `catalog: SELECT product_variants, \d+ times`,
			},
		},
		{
			"latency_analysis", demo.FaultDependency, "",
			[]string{"find_slow_traces", "get_service_top_operations", "compare_periods", "inspect_trace"},
			[]string{
				dependency, `(?m)^\| edge-gateway \| POST /api/checkout \| \d{4} \| \d{3} \|`,
				`(?m)^\| payments \| POST \| 30\d\d \| 3\d(\.\d+)? % \|`,
			},
		},
		{
			"debug_errors", demo.FaultErrors, "",
			[]string{"find_errors", "error_detail", "inspect_trace", "compare_periods"},
			[]string{thrown, `Top frame: src/cart\.js:Cart\.total`, `First seen: \S+T13:0[56]:`},
		},
		{
			"debug_errors", demo.FaultDependency, "",
			[]string{"find_errors", "error_detail", "inspect_trace", "compare_periods"},
			[]string{dependency, `Top frame: shop\.payments\.PayfastClient\.post`},
		},
		{
			"debug_errors", demo.FaultLogs, "",
			[]string{"find_errors", "compare_periods", "mine_log_patterns"},
			[]string{`No error is clearly more frequent`, flood},
		},
		{
			"debug_errors", demo.FaultLogs, "inventory",
			[]string{"find_errors", "compare_periods", "mine_log_patterns"},
			[]string{`No span failed`, flood},
		},
	} {
		t.Run(strings.TrimSuffix(c.prompt+"/"+c.fault+"/"+c.service, "/"), func(t *testing.T) {
			from, to := starts[c.fault].Format(time.RFC3339), starts[c.fault].Add(faultLasts).Format(time.RFC3339)
			given := map[string]any{"time_range": from + " to " + to}
			args := map[string]any{"start_time": from, "end_time": to}
			if c.service != "" {
				given["service_name"], args["service"] = c.service, c.service
			}
			var prompt struct {
				Messages []struct{ Content struct{ Text string } }
			}
			mcpResult(t, p, "prompts/get", map[string]any{"name": c.prompt, "arguments": given}, &prompt)
			text := prompt.Messages[0].Content.Text
			if !strings.Contains(text, from+" to "+to) || !strings.Contains(text, c.service) {
				t.Errorf("the prompt leaves out what it was given:\n%s", text)
			}
			steps := readPrompt(t, text, tools)
			if steps[0][0].tool == "compare_periods" { // which has two periods
				args["current_start"], args["current_end"] = args["start_time"], args["end_time"]
				delete(args, "start_time")
				delete(args, "end_time")
			}
			walk, texts := walkPrompt(t, p, steps, args)
			if diff := cmp.Diff(c.walk, walk); diff != "" {
				t.Errorf("the steps lead elsewhere (-want +got):\n%s", diff)
			}
			for _, step := range steps {
				for _, clause := range step {
					if used[c.prompt] == nil {
						used[c.prompt] = map[string]bool{}
					}
					used[c.prompt][clause.tool] = used[c.prompt][clause.tool] || slices.Contains(walk, clause.tool)
				}
			}
			all := strings.Join(texts, "\n")
			for _, want := range c.answer {
				if !regexp.MustCompile(want).MatchString(all) {
					t.Errorf("the texts do not answer with %s:\n%s", want, all)
				}
			}
			if n := len([]rune(all)); len(walk) > 5 || n > 25_000 {
				t.Errorf("%d calls, %d characters", len(walk), n)
			} else {
				t.Logf("%d calls, %d characters", len(walk), n)
			}
		})
	}
	for _, prompt := range []string{"incident_triage", "latency_analysis", "debug_errors"} {
		for tool, was := range used[prompt] {
			if !was {
				t.Errorf("no fault leads to %s, which %s names", tool, prompt)
			}
		}
		if len(used[prompt]) == 0 {
			t.Errorf("%s was not walked", prompt)
		}
	}
	askQuestions(t, p, tools, starts)
}
