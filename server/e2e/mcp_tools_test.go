package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-observability/svc/server/integrations/railway/railwaytest"
	"github.com/svc-observability/svc/server/integrations/vercel/verceltest"
	"github.com/svc-observability/svc/server/testkit"
)

// toolResult is the answer to a call of a tool.
type toolResult struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent any
}

func (r toolResult) field(t *testing.T, path ...any) any {
	t.Helper()
	v := r.StructuredContent
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			list, _ := v.([]any)
			if s >= len(list) {
				t.Fatalf("%v is empty in %v", path, r.StructuredContent)
			}
			v = list[s]
		}
	}
	return v
}

// rpcCall asks the MCP server.
func rpcCall(t *testing.T, p *testkit.Process, method string, params, into any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	var status int
	var raw []byte
	for range 30 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/mcp", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+p.APIKey)
		if status, raw = roundTrip(t, req); status != http.StatusTooManyRequests {
			break
		}
		time.Sleep(time.Second) // a client may not make this many calls in ten seconds
	}
	out := struct{ Result any }{into}
	if err := json.Unmarshal(raw, &out); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", method, status, raw)
	}
}

type listedTool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema map[string]any
	Annotations               map[string]any
}

var suggestedCall = regexp.MustCompile("(?m)^- `([a-z_]+)` (\\{.*\\}): ")

func schemaOf(t *testing.T, name string, doc map[string]any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool:"+name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool:" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMCPTools calls every listed tool on the data of the demo. Structured content fits the output schema, the text keeps its
// layout and its budget, every suggested call works, and errors about arguments name them.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	source := newSourceHub(t)
	platform := verceltest.New(t)
	platform.AddTeam("team_acme", "acme", "Acme", "shop").Drains = []map[string]any{{"id": "drn_1", "name": "logs", "status": "errored"}}
	platform.Token(vercelToken, "team_acme")
	other := railwaytest.New(t)
	other.AddWorkspace("ws_acme", "Acme", "shop")
	other.Token(railwayToken, "ws_acme")
	p := testkit.StartProcess(t, t.TempDir()+"/data",
		append(appFlags(source.hub), "--vercel-url", platform.URL, "--railway-url", other.URL)...)
	source.serve(&p.Server)
	source.connect()
	restClient{t, &p.Server, p.APIKey}.call("POST", railwayPath+"/connect", fmt.Sprintf(`{"token":%q}`, railwayToken), 200)
	restClient{t, &p.Server, p.APIKey}.call("POST", vercelPath+"/connect", fmt.Sprintf(`{"token":%q}`, vercelToken), 200)
	cmd := testkit.Command(t, "demo", "--ingest-url", p.IngestURL, "--hours", "0.5", "--output", "json", "--seed", "7")
	cmd.Env = append(cmd.Environ(), "SVC_INGEST_KEY="+p.PrivateKey)
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitFlushed(t, p)
	var list struct{ Tools []listedTool }
	rpcCall(t, p, "tools/list", map[string]any{}, &list)
	inputs := map[string]*jsonschema.Schema{}
	for _, tool := range list.Tools {
		inputs[tool.Name] = schemaOf(t, tool.Name+":in", tool.InputSchema)
	}
	call := func(name string, args map[string]any) toolResult {
		var r toolResult
		rpcCall(t, p, "tools/call", map[string]any{"name": name, "arguments": args}, &r)
		if len(r.Content) != 1 {
			t.Fatalf("%s: %d texts", name, len(r.Content))
		}
		return r
	}
	t.Run("unknown names", func(t *testing.T) { unknownNames(t, call) })
	arguments := toolArguments(t, call)
	for _, tool := range list.Tools {
		t.Run(tool.Name, func(t *testing.T) {
			calls, known := arguments[tool.Name]
			if !known {
				t.Fatal("no call: say in toolArguments how it is called")
			}
			output := schemaOf(t, tool.Name+":out", tool.OutputSchema)
			for _, args := range calls {
				r := call(tool.Name, args)
				text := r.Content[0].Text
				if tool.Name == "register_agent" { // this caller is a key; TestErrorIssues registers an agent for a person
					if !r.IsError || !strings.Contains(text, "API key cannot register agents") {
						t.Errorf("a key registers an agent: %s", text)
					}
					continue
				}
				if r.IsError {
					t.Fatalf("%v failed: %s", args, text)
				}
				if err := output.Validate(r.StructuredContent); err != nil {
					t.Errorf("%v: %v", args, err)
				}
				checkLink(t, tool.Name, text, r)
				if n := len([]rune(text)); n > 25_000 || !strings.HasPrefix(text, "## "+tool.Title+"\n") {
					t.Errorf("%v: %d characters, which begin %.80q", args, n, text)
				}
				for _, m := range suggestedCall.FindAllStringSubmatch(text, -1) {
					var next map[string]any
					if err := json.Unmarshal([]byte(m[2]), &next); err != nil || inputs[m[1]] == nil {
						t.Fatalf("it suggests %s %s: %v", m[1], m[2], err)
					}
					if err := inputs[m[1]].Validate(next); err != nil {
						t.Errorf("it suggests %s %s: %v", m[1], m[2], err)
					}
				}
			}
			badArguments(t, tool, calls[0], call)
		})
	}
}

// checkLink finds the address of the page for people in the text and in the structured content. A few tools have no page.
func checkLink(t *testing.T, name, text string, r toolResult) {
	t.Helper()
	_, rest, _ := strings.Cut(text, "\nFor people: ")
	link, _, _ := strings.Cut(rest, "\n")
	address, err := url.Parse(link)
	hasPage := name != "list_toolsets" && name != "send_svc_feedback"
	// These results have an address of their own as url.
	own := slices.Contains([]string{"link_pull_request", "create_scrape_target", "update_scrape_target"}, name)
	if hasPage != strings.Contains(link, "/o/") || err != nil || hasPage && !own && r.field(t, "url") != link || address.Host == "" &&
		hasPage {
		t.Errorf("the address for people is %q in the text and %v in the structured content (%v)", link, r.field(t, "url"), err)
	}
	if raw, err := json.Marshal(r.StructuredContent); err == nil {
		t.Logf("%d characters of text, %d of structured content", len([]rune(text)), len([]rune(string(raw))))
	}
}

// unknownNames calls every kind of tool with names that nobody sends. Each must refuse: an empty answer would look like good
// news.
func unknownNames(t *testing.T, call func(string, map[string]any) toolResult) {
	type args = map[string]any
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"find_errors", args{"service": "payment"}, "payments"},
		{"compare_periods", args{"service": "payment"}, "payments"},
		{"find_incidents", args{"service": "payment"}, "payments"},
		{"find_incidents", args{"environment": "prod"}, "production"},
		{"list_releases", args{"service": "payment"}, "payments"},
		{"search_logs", args{"service": "payment"}, "payments"},
		{"search_traces", args{"service": "payment"}, "payments"},
		{"find_slow_traces", args{"service": "payment"}, "payments"},
		{"mine_log_patterns", args{"service": "payment"}, "payments"},
		{"diagnose_service", args{"service": "payment"}, "payments"},
		{"get_service_top_operations", args{"service": "payment"}, "payments"},
		{"service_map", args{"service": "payment"}, "payments"},
		{"list_metrics", args{"service": "payment"}, "payments"},
		{"list_agent_sessions", args{"services": "payment"}, "payments"},
		{"list_services", args{"environment": "prod"}, "production"},
		{"find_errors", args{"environment": "prod"}, "production"},
		{"search_traces", args{"span_name": "GET /cartt"}, "GET /cart"},
		{"search_traces", args{"attribute_key": "http.routte"}, "http.route"},
		{"query_data", args{"source": "traces", "kind": "timeseries", "service": "payment"}, "payments"},
		{"query_data", args{"source": "product_events", "kind": "timeseries", "event_name": "add to cart"}, "added to cart"},
		{"query_funnel", args{"steps_json": []any{"product viewed", "add to cart"}}, "added to cart"},
		{"query_funnel", args{"steps_json": []any{args{"event_name": "product vieved"}}}, "product viewed"},
		{
			"query_data",
			args{"source": "metrics", "kind": "timeseries", "metric_name": "http.server.request.duraton"},
			"http.server.request.duration",
		},
	} {
		r := call(c.tool, c.args)
		if tag, _ := r.field(t, "_tag").(string); !r.IsError || tag == "" || !strings.Contains(r.Content[0].Text, `"`+c.want+`"`) {
			t.Errorf("%s %v does not name %s: %s", c.tool, c.args, c.want, r.Content[0].Text)
		}
	}
	known := call("search_logs", args{"service": "payments", "start_time": "now-29d", "end_time": "now-25d"})
	if known.IsError || !strings.Contains(known.Content[0].Text, "not that all is well") {
		t.Errorf("a service that is silent in the time range: %s", known.Content[0].Text)
	}
}

// badArguments gives each parameter, one after another, a value that it does not accept.
func badArguments(t *testing.T, tool listedTool, good map[string]any, call func(string, map[string]any) toolResult) {
	properties, _ := tool.InputSchema["properties"].(map[string]any)
	required, _ := tool.InputSchema["required"].([]any)
	refuse := func(name string, args map[string]any) {
		r := call(tool.Name, args)
		tag, _ := r.field(t, "_tag").(string)
		message, _ := r.field(t, "message").(string)
		if !r.IsError || tag == "" || !strings.Contains(message, name) || !strings.Contains(r.Content[0].Text, name) {
			t.Errorf("%v: %v %q", args, r.StructuredContent, r.Content[0].Text)
		}
	}
	for name, p := range properties {
		schema, _ := p.(map[string]any)
		args := map[string]any{}
		for k, v := range good {
			args[k] = v
		}
		delete(args, name)
		if slices.Contains(required, any(name)) {
			refuse(name, args)
		}
		var bad any = map[string]any{"not": "taken"}
		switch {
		case schema["enum"] != nil, schema["pattern"] != nil:
			bad = "no such value!"
		case schema["type"] == "object" || slices.Contains(typesOf(schema), "object"):
			bad = "{not json"
		case name == "confirm":
			bad = false
		}
		args[name] = bad
		refuse(name, args)
	}
	if tool.Annotations["destructiveHint"] == true && strings.HasPrefix(tool.Name, "remove_") && properties["confirm"] == nil {
		t.Error("it deletes without confirm")
	}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if _, ok := tool.Annotations[hint].(bool); !ok {
			t.Errorf("it has no %s", hint)
		}
	}
	read := regexp.MustCompile(`^(list|get|search|find|inspect|explore|describe|diagnose|compare|explain|mine|query|run|audit|preview|service_map|error_detail|read|ci_runs)`).MatchString(tool.Name)
	if tool.Annotations["readOnlyHint"] != read {
		t.Errorf("readOnlyHint is %v", tool.Annotations["readOnlyHint"])
	}
}

func typesOf(schema map[string]any) []string {
	var out []string
	list, _ := schema["type"].([]any)
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// toolArguments are calls of every tool that succeed, with identifiers that exist.
func toolArguments(t *testing.T, call func(string, map[string]any) toolResult) map[string][]map[string]any {
	t.Helper()
	type args = map[string]any
	must := func(name string, a args) toolResult {
		r := call(name, a)
		if r.IsError {
			t.Fatalf("%s %v: %s", name, a, r.Content[0].Text)
		}
		return r
	}
	traces := must("search_traces", args{"has_error": true, "limit": 5})
	trace := traces.field(t, "traces", 0, "traceId")
	span := must("inspect_trace", args{"trace_id": trace}).field(t, "spans", 0, "spanId")
	fingerprint := must("find_errors", nil).field(t, "errors", 0, "fingerprintHash")
	issue := any(nil)
	eventually(t, "an error issue", func() bool {
		issues, _ := must("list_error_issues", args{"limit": 1}).field(t, "issues").([]any)
		if len(issues) > 0 {
			issue = issues[0].(map[string]any)["id"]
		}
		return issue != nil
	})
	replay := must("search_sessions", args{"limit": 1}).field(t, "sessions", 0, "sessionId")
	session := must("list_agent_sessions", args{"has_errors": true, "limit": 1}).field(t, "sessions", 0, "sessionId")
	tool, failure := any(nil), any(nil)
	for _, name := range []string{"track_shipment", "issue_refund", "lookup_order"} { // how often each fails is random
		r := must("get_agent_tools_overview", args{"tool": name})
		if groups, _ := r.field(t, "failureGroups", "groups").([]any); len(groups) > 0 {
			tool, failure = name, r.field(t, "failureGroups", "groups", 0, "fingerprint")
			break
		}
	}
	widget := func(id string) args {
		return args{
			"id": id, "visualization": "chart", "display": args{"title": "Spans"}, "layout": args{"x": 0, "y": 0, "w": 6, "h": 4},
			"data_source": args{"kind": "raw_sql", "sql": "SELECT toStartOfMinute(Timestamp) AS t, count() AS spans FROM spans WHERE $__orgFilter " +
				"AND $__timeFilter(Timestamp) GROUP BY t ORDER BY t"},
		}
	}
	whole := args{"name": "Tools", "widgets_json": []any{widget("a"), widget("b")}, "time_range_json": args{"type": "relative", "value": "1h"}}
	dashboard := must("create_dashboard", whole).field(t, "dashboard", "id")
	doomed := must("create_dashboard", whole).field(t, "dashboard", "id")
	rule := must("create_alert_rule", args{"name": "Rule of a test", "destination_ids": []any{}, "template": "high_error_rate"}).field(t,
		"rule", "id")
	target := must("create_scrape_target", args{
		"name": "Nodes of a test", "url": "https://nodes.example.com/metrics",
		"enabled": false,
	}).field(t, "id")
	investigation := must("start_investigation", args{"title": "An investigation of a test"}).field(t, "id")
	steps := []any{args{"kind": "page", "page_path": "/"}, args{"kind": "page", "page_path": "/cart"}}
	minute := time.Now().UTC().Add(-15 * time.Minute).Format(time.RFC3339)
	return map[string][]map[string]any{
		"list_integrations":        {nil},
		"sync_platform_a":          {nil},
		"sync_platform_b":          {nil},
		"list_source_repositories": {nil, {"search": "shop"}},
		"search_source_code":       {{"repository": "acme/shop", "query": "total", "path": "checkout", "limit": 5}},
		"read_source_file":         {{"repository": "acme/shop", "path": "big.txt"}, {"repository": "acme/shop", "path": "logo.png"}},
		"ci_runs":                  {{"repository": "acme/shop", "branch": "main"}},
		"compare_commits":          {{"repository": "acme/shop", "base": "main", "head": "main"}},
		"list_services":            {{}}, "diagnose_service": {{"service": "checkout"}},
		"get_service_top_operations": {{"service": "checkout", "metric": "p95_duration"}}, "service_map": {{}, {"service": "checkout"}},
		"compare_periods":     {{"around_time": minute}, {}},
		"start_investigation": {{"title": "checkout is slow", "question": "Since the sale?", "issue_id": issue}},
		"get_investigation":   {{"investigation_id": investigation}, {}, {"status": "investigating"}},
		"add_finding": {{
			"investigation_id": investigation, "text": "p95 rose", "value": 612.5, "unit": "ms", "tool": "find_slow_traces",
			"arguments": args{"service": "checkout"},
		}, {"investigation_id": investigation, "text": "no deployment"}},
		"update_investigation": {{
			"investigation_id": investigation, "status": "diagnosed", "conclusion": "The new release.",
			"assignee": "night shift",
		}},
		"list_releases": {{}, {"service": "catalog", "limit": 3}},
		"create_marker": {
			{"kind": "flag", "title": "new-cart on", "service": "cart", "at": minute},
			{"kind": "note", "title": "sale begins"},
		},
		"find_incidents": {{}, {"service": "checkout", "environment": "production"}},
		"explain_difference": {
			{},
			{"selected": "duration > 100ms", "where": "service.name = checkout"},
			{"signal": "logs"},
			{"other_end": minute},
		},
		"explore_attributes": {
			{"source": "traces"},
			{"source": "traces", "key": "http.request.method"},
			{"source": "services"},
			{"source": "logs"},
			{"source": "metrics"},
		},
		"list_metrics":     {{}, {"metric_type": "histogram"}},
		"search_traces":    {{}, {"service": "checkout", "limit": 200}, {"service": "checkout", "min_duration_ms": 80_000_000}},
		"find_slow_traces": {{}, {"service": "checkout"}}, "inspect_trace": {{"trace_id": trace}, {"trace_id": trace, "errors_only": true}},
		"inspect_span": {{"trace_id": trace, "span_id": span}}, "search_logs": {
			{},
			{"severity": "error", "limit": 200},
			{"search": "nobody says this"},
		}, "mine_log_patterns": {{}},
		"query_data": {
			{"source": "traces", "kind": "timeseries", "metric": "p95_duration", "group_by": "service"},
			{"source": "logs", "kind": "breakdown", "group_by": "severity"},
			{"source": "product_events", "kind": "breakdown"},
		},
		"run_sql":                   {{"sql": "SELECT ServiceName, count() AS spans FROM spans WHERE $__orgFilter GROUP BY ServiceName"}},
		"describe_warehouse_tables": {{}, {"table": "spans"}},
		"find_errors":               {{}}, "error_detail": {{"fingerprint": fingerprint, "include_timeseries": true}, {"issue_id": issue}},
		"list_error_issues": {{}, {
			"severity": "unset", "kind": "error", "compact": false, "by_severity": true,
			"last_seen_after": "2026-01-01T00:00:00Z",
		}},
		"list_error_issue_events": {{"issue_id": issue}}, "list_error_incidents": {{}, {"issue_id": issue}},
		"claim_error_issue":      {{"issue_id": issue, "lease_duration_seconds": 60}},
		"comment_on_error_issue": {{"issue_id": issue, "body": "Seen.", "kind": "agent_note"}},
		"set_issue_severity":     {{"issue_id": issue, "severity": "low", "note": "by a test"}},
		"propose_fix":            {{"issue_id": issue, "patch_summary": "Retry", "pr_url": "https://github.com/acme/shop/pull/7"}},
		"link_pull_request":      {{"issue_id": issue, "pull_request_url": "https://github.com/acme/shop/pull/8"}},
		"release_error_issue":    {{"issue_id": issue, "note": "done"}}, "transition_error_issue": {{"issue_id": issue, "to_state": "triage"}},
		"register_agent":                   {{"name": "Agent of a test", "model": "m", "capabilities": []any{"go"}}},
		"update_error_notification_policy": {{"enabled": false, "min_occurrence_count": 5}},
		"list_alert_rules":                 {{}, {"signal_type": "error_rate", "enabled_only": true, "services": []any{"checkout"}}},
		"get_alert_rule":                   {{"rule_id": rule}},
		"preview_alert_rule": {{"rule_id": rule}, {
			"signal_type": "throughput", "comparator": "lt", "threshold": 1,
			"start_time": "now-2h",
		}},
		"create_alert_rule": {{
			"name": "Further rule of a test", "destination_ids": []any{}, "signal_type": "apdex", "comparator": "lt",
			"threshold": 0.5,
		}},
		"update_alert_rule":    {{"rule_id": rule, "threshold": 0.2, "enabled": false}, {"rule_ids": []any{"*"}, "severity": "critical"}},
		"delete_alert_rule":    {{"rule_id": rule, "confirm": true}},
		"list_alert_incidents": {{}, {"status": "open", "severity": "warning"}}, "get_incident_timeline": {{}, {"rule_id": rule}},
		"list_alert_checks":       {{"rule_id": rule}, {"rule_id": rule, "status": "healthy", "limit": 2}},
		"list_alert_destinations": {{}, {"type": "webhook", "enabled_only": true}},
		"list_dashboards":         {{}}, "get_dashboard": {{"dashboard_id": dashboard}}, "describe_dashboard_schema": {{}, {"section": "units"}},
		"inspect_chart_data": {{"dashboard_id": dashboard, "widget_id": "a"}},
		"create_scrape_target": {{
			"name": "Further nodes of a test", "url": "https://nodes.example.com/metrics", "labels_json": `{"region":"eu"}`,
			"enabled": false,
		}},
		"update_scrape_target": {{"scrape_target_id": target, "scrape_interval_seconds": 60, "enabled": false}},
		"delete_scrape_target": {{"scrape_target_id": target, "confirm": true}},
		"list_toolsets":        {{}}, "delete_dashboard": {{"dashboard_id": doomed, "confirm": true}},
		"create_dashboard": {whole}, "update_dashboard": {{"dashboard_id": dashboard, "description": "By a test"}},
		"add_dashboard_widget": {{
			"dashboard_id": dashboard, "visualization": "chart", "title": "More",
			"data_source_json": widget("c")["data_source"],
		}},
		"update_dashboard_widget":   {{"dashboard_id": dashboard, "widget_id": "a", "patch_json": args{"display": args{"title": "Changed"}}}},
		"remove_dashboard_widget":   {{"dashboard_id": dashboard, "widget_id": "b"}},
		"reorder_dashboard_widgets": {{"dashboard_id": dashboard, "layouts_json": []any{args{"i": "a", "x": 0, "y": 8, "w": 12, "h": 4}}}},
		"replace_dashboard_widgets": {{"dashboard_id": dashboard, "widgets_json": []any{widget("a")}}},
		"search_sessions":           {{}}, "get_session_transcript": {{"session_id": replay}}, "get_session_traces": {{"session_id": replay}},
		"list_product_events": {{}}, "query_funnel": {{"steps_json": steps}},
		"list_agent_sessions":          {{}, {"agents": []any{"nobody"}}, {"sort_by": "cost", "cost_min": 0, "search": "order"}},
		"get_agent_session":            {{"session_id": session}},
		"get_agent_session_transcript": {{"session_id": session}, {"session_id": session, "failed_only": true, "limit": 3}},
		"get_agent_tools_overview":     {{}, {"tool": "track_shipment"}},
		"get_agent_tool_error":         {{"tool": tool, "fingerprint": failure}}, "audit_setup": {{}, {"include_passing": true}},
		"get_instrumentation_recommendations": {{}, {"status": "all", "include_coverage": true}},
		"send_svc_feedback": {{
			"kind": "praise", "impact": "minor", "summary": "Works", "reason": "A test",
			"agent_type": "ci",
		}},
	}
}
