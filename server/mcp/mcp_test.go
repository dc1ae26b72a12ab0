package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
	"github.com/svc-observability/svc/server/principal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestToolSchemas(t *testing.T) {
	tools := declared(t, connect(t, server(t, &backend{}, full(), nil), "full"))
	wanted := 1 // list_toolsets
	for _, set := range toolsets() {
		wanted += len(set.tools)
	}
	if len(tools) != wanted {
		t.Errorf("%d tools, want %d", len(tools), wanted)
	}
	for name, tool := range tools {
		raw, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		golden.Compare(t, name+".json", got.String())
		if a := tool.Annotations; a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || a.ReadOnlyHint &&
			(*a.DestructiveHint || !a.IdempotentHint) {
			t.Errorf("%s does not have all four hints, or they contradict one another", name)
		}
	}
}

var nextLine = regexp.MustCompile("(?m)^- `([a-z_]+)` (\\{.*\\}): ")

// TestResults checks every answer of every tool against its declaration, and every suggestion against the tool it suggests.
func TestResults(t *testing.T) {
	bigTrace := func(n int) *svcv2.Trace {
		tr := &svcv2.Trace{
			Id: strings.Repeat("ab", 16), Object: "trace", StartTime: timestamppb.New(tooltest.Now()),
			EndTime: timestamppb.New(tooltest.Now().Add(time.Second)), DurationMs: 1000, SpanCount: int32(n), ServiceCount: 2,
		}
		for i := range n {
			s := &svcv2.Span{
				Id: spanID(i), Name: "operation " + strings.Repeat("x", 150), ServiceName: "web", Kind: "Server",
				StartTime: tr.StartTime, DurationMs: float64(n - i), StatusCode: "Unset", Attributes: map[string]string{"k": "v"},
			}
			if i > 0 {
				s.ParentSpanId = new(spanID((i - 1) / 3))
			}
			if i == 7 {
				s.StatusCode, s.StatusMessage = "Error", new("it broke")
				s.Events = []*svcv2.SpanEvent{{Timestamp: tr.StartTime, Name: "exception"}}
				s.Links = []*svcv2.SpanLink{{TraceId: strings.Repeat("cd", 16), SpanId: spanID(1)}}
			}
			tr.Spans = append(tr.Spans, s)
		}
		return tr
	}
	calls := map[string][]map[string]any{
		"list_services": {nil, {"environment": "prod", "start_time": "now-30d"}},
		"list_metrics":  {nil, {"service": "web", "search": "http", "metric_type": "histogram", "offset": 3, "limit": 500}},
		"search_traces": {nil, {
			"service": "web", "has_error": true, "min_duration_ms": 1.5, "max_duration_ms": 10, "http_method": "GET",
			"attribute_key": "k", "attribute_value": "v", "root_only": true, "span_name": "GET /", "environment": "prod", "limit": 200,
		}},
		"search_logs": {nil, {
			"service": "web", "severity": "error", "search": "x", "trace_id": strings.Repeat("AB", 16),
			"span_id": strings.Repeat("cd", 8), "limit": 200,
		}},
		"inspect_trace": {
			{"trace_id": strings.Repeat("ab", 16)},
			{"trace_id": strings.Repeat("ab", 16), "errors_only": true, "max_spans": 300},
			{"trace_id": strings.Repeat("ab", 16), "max_spans": 300},
		},
	}
	for _, b := range []*backend{{total: 0, trace: bigTrace(1)}, {total: 5, trace: bigTrace(12)}, {total: 1000, trace: bigTrace(2000)}} {
		session := connect(t, server(t, b, full(), nil), "full")
		tools := declared(t, session)
		for name, argsList := range calls {
			for _, args := range argsList {
				res := call(t, session, name, args)
				text := textOf(res)
				if res.IsError {
					t.Fatalf("%s %v failed: %s", name, args, text)
				}
				if err := tooltest.Resolve(t, tools[name].OutputSchema).Validate(res.StructuredContent); err != nil {
					t.Errorf("%s %v: structured content: %v", name, args, err)
				}
				if n := len([]rune(text)); n > tool.TextBudget {
					t.Errorf("%s %v: the text has %d characters", name, args, n)
				}
				if !strings.HasPrefix(text, "## "+tools[name].Title+"\n") {
					t.Errorf("%s: the text does not begin with its title: %.60s", name, text)
				}
				for _, m := range nextLine.FindAllStringSubmatch(text, -1) {
					var suggested map[string]any
					if err := json.Unmarshal([]byte(m[2]), &suggested); err != nil || tools[m[1]] == nil {
						t.Fatalf("%s suggests %s %s: %v", name, m[1], m[2], err)
					}
					if err := tooltest.Resolve(t, tools[m[1]].InputSchema).Validate(suggested); err != nil {
						t.Errorf("%s suggests %s %s: %v", name, m[1], m[2], err)
					}
					if calls[m[1]] == nil {
						continue // the backend of this test has no answers for it
					}
					if again := call(t, session, m[1], suggested); again.IsError {
						t.Errorf("%s suggests %s %s, which fails: %s", name, m[1], m[2], textOf(again))
					}
				}
			}
		}
		if b.total == 1000 && !strings.Contains(textOf(call(t, session, "search_logs", map[string]any{"limit": 200})), "left out of this text") {
			t.Error("a text over the budget has no budget note")
		}
	}
}

func TestArguments(t *testing.T) {
	b := &backend{total: 3}
	session := connect(t, server(t, b, full(), nil), "full")
	window := func(start, end time.Time) (*timestamppb.Timestamp, *timestamppb.Timestamp) {
		return timestamppb.New(start), timestamppb.New(end)
	}
	for name, tc := range map[string]struct {
		args  map[string]any
		start time.Time
		end   time.Time
		want  *svcv2.TraceFilters
		limit int32
		note  string
	}{
		"defaults": {nil, tooltest.Now().Add(-6 * time.Hour), tooltest.Now(), nil, 20, ""},
		"blank is absent": {
			map[string]any{"service": " ", "limit": "", "end_time": nil},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(),
			nil, 20, "",
		},
		"RFC 3339": {
			map[string]any{"start_time": "2026-01-31T10:00:00+01:00", "end_time": "2026-01-31T10:00:00.5Z"},
			tooltest.Now().Add(-3 * time.Hour), tooltest.Now().Add(-2*time.Hour + 500*time.Millisecond), nil, 20, "",
		},
		"plain UTC": {
			map[string]any{"start_time": "2026-01-31 10:00:00"},
			tooltest.Now().Add(-2 * time.Hour), tooltest.Now(), nil, 20,
			"",
		},
		"relative": {
			map[string]any{"start_time": "-90m", "end_time": "NOW-1h"},
			tooltest.Now().Add(-90 * time.Minute),
			tooltest.Now().Add(-time.Hour), nil, 20, "",
		},
		"milliseconds": {
			map[string]any{"start_time": tooltest.Now().Add(-time.Minute).UnixMilli()},
			tooltest.Now().Add(-time.Minute),
			tooltest.Now(), nil, 20, "",
		},
		"milliseconds text": {map[string]any{"start_time": "1769860740000"}, tooltest.Now().Add(-time.Minute), tooltest.Now(), nil, 20, ""},
		"only an end": {
			map[string]any{"end_time": "now-1d"},
			tooltest.Now().Add(-30 * time.Hour), tooltest.Now().Add(-24 * time.Hour), nil,
			20, "",
		},
		"aliases": {
			map[string]any{"since": "now-1h", "service_name": "web"},
			tooltest.Now().Add(-time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{ServiceName: new("web")}, 20, "",
		},
		"unknown": {
			map[string]any{"servise": "web"},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(), nil, 20,
			`no parameter "servise"; it was ignored. Did you mean service?`,
		},
		"number text": {
			map[string]any{"limit": "7", "min_duration_ms": "1.5"},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{MinDurationMs: new(1.5)}, 7, "",
		},
		"limit too large": {
			map[string]any{"limit": 9999},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(), nil, 100,
			"limit was set to 200",
		},
		"limit too small": {map[string]any{"limit": 0}, tooltest.Now().Add(-6 * time.Hour), tooltest.Now(), nil, 1, "limit was set to 1"},
		"flag text": {
			map[string]any{"has_error": "1", "root_only": "TRUE"},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{HasError: new(true), SpanScope: new("root")}, 20, "",
		},
		"flag false": {
			map[string]any{"has_error": "0"},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{HasError: new(false)}, 20, "",
		},
		"part of a name": {
			map[string]any{"span_name": "cart"},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{SpanNameContains: new("cart")}, 20, "",
		},
		"trace id": {
			map[string]any{"trace_id": strings.Repeat("AB", 16)},
			tooltest.Now().Add(-7 * 24 * time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{TraceId: new(strings.Repeat("AB", 16))}, 20, "",
		},
		"trace id and time": {
			map[string]any{"trace_id": strings.Repeat("ab", 16), "since": "now-1h"},
			tooltest.Now().Add(-time.Hour),
			tooltest.Now(), &svcv2.TraceFilters{TraceId: new(strings.Repeat("ab", 16))}, 20, "",
		},
		"attribute exists": {
			map[string]any{"attribute_key": "k"},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(),
			&svcv2.TraceFilters{Attributes: []*svcv2.AttributeFilter{{Key: "k", Operator: "exists"}}}, 20, "",
		},
		"attribute equals": {
			map[string]any{"attribute_key": "k", "attribute_value": 5},
			tooltest.Now().Add(-6 * time.Hour), tooltest.Now(), &svcv2.TraceFilters{Attributes: []*svcv2.AttributeFilter{{
				Key:      "k",
				Operator: "equals", Value: structpb.NewStringValue("5"),
			}}}, 20, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			res := call(t, session, "search_traces", tc.args)
			if res.IsError {
				t.Fatal(textOf(res))
			}
			start, end := window(tc.start, tc.end)
			want := &svcv2.SearchTracesRequest{StartTime: start, EndTime: end, Limit: &tc.limit, Filters: tc.want}
			if diff := cmp.Diff(want, b.last(), protocmp.Transform()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if text := textOf(res); !strings.Contains(text, tc.note) || tc.note == "" && strings.Contains(text, "Note:") {
				t.Errorf("note %q is not in, or another one is in:\n%s", tc.note, text)
			}
		})
	}
}

func TestInputErrors(t *testing.T) {
	session := connect(t, server(t, &backend{}, full(), nil), "full")
	schemas := map[string]any{}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name] = tool.OutputSchema
	}
	for name, tc := range map[string]struct {
		Tool, tag, parameter, text string
		args                       map[string]any
	}{
		"backwards": {
			"search_logs", tool.TagInvalidInput, "start_time", "start_time must be before end_time",
			map[string]any{"start_time": "now", "end_time": "now-1h"},
		},
		"too wide": {"search_logs", tool.TagInvalidInput, "start_time", "more than 7 days", map[string]any{"start_time": "now-8d"}},
		"not a time": {
			"search_logs", tool.TagInvalidInput, "start_time", "start_time must be a time",
			map[string]any{"start_time": "tomorrow"},
		},
		"enum": {"search_logs", tool.TagInvalidInput, "severity", "severity must be one of TRACE", map[string]any{"severity": "LOUD"}},
		"trace id": {
			"inspect_trace", tool.TagInvalidInput, "trace_id", "trace_id must be 32 hexadecimal digits, such as",
			map[string]any{"trace_id": "xyz"},
		},
		"missing":  {"inspect_trace", tool.TagInvalidInput, "trace_id", "trace_id is required", nil},
		"negative": {"search_traces", tool.TagInvalidInput, "min_duration_ms", "of at least 0", map[string]any{"min_duration_ms": -1}},
		"fraction": {"search_traces", tool.TagInvalidInput, "limit", "a whole number", map[string]any{"limit": 1.5}},
		"object":   {"search_traces", tool.TagInvalidInput, "service", "must be text", map[string]any{"service": map[string]any{"a": 1}}},
		"value alone": {
			"search_traces", tool.TagInvalidInput, "attribute_value", "needs attribute_key",
			map[string]any{"attribute_value": "v"},
		},
		"several": {
			"search_logs", tool.TagDecode, "severity", "search_logs: some arguments",
			map[string]any{"severity": "LOUD", "span_id": "x"},
		},
		"no such trace": {
			"inspect_trace", "@svc/http/v2/TraceNotFoundError", "trace_id", "No such trace.",
			map[string]any{"trace_id": strings.Repeat("0", 32)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			res := call(t, session, tc.Tool, tc.args)
			d := failureOf(t, res)
			if d.Tag != tc.tag || d.Parameter != tc.parameter || !strings.Contains(textOf(res), tc.text) || !strings.Contains(d.Message, tc.text) {
				t.Errorf("failed with %+v and text %q; want %s on %s with %q", d, textOf(res), tc.tag, tc.parameter, tc.text)
			}
			// Some clients also check failures against the schema.
			if err := tooltest.Resolve(t, schemas[tc.Tool]).Validate(res.StructuredContent); err != nil {
				t.Errorf("the failure does not fit the tool's schema: %v", err)
			}
		})
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such_tool"}); err == nil ||
		!strings.Contains(err.Error(), "no_such_tool") {
		t.Errorf("an unknown tool gave %v", err)
	}
}

func TestAPIErrorsKeepTheirTag(t *testing.T) {
	for _, tag := range []apierr.Tag{apierr.WarehouseUpstream, apierr.QueryEngineTimeout, apierr.WarehouseQuotaExceeded} {
		b := &backend{err: apierr.New(tag, "Safe words.", apierr.Cause(context.DeadlineExceeded))}
		res := call(t, connect(t, server(t, b, full(), nil), "full"), "search_logs", nil)
		if d := failureOf(t, res); d.Tag != apierr.Spec(tag).GetTag() || d.Message != "Safe words." {
			t.Errorf("%v became %+v", tag, d)
		}
	}
}

func TestOffsetsPageThroughCursors(t *testing.T) {
	b := &backend{total: 250}
	session := connect(t, server(t, b, full(), nil), "full")
	var res struct {
		Traces []struct {
			DurationMs float64 `json:"durationMs"`
		} `json:"traces"`
		Pagination tool.Pagination `json:"pagination"`
	}
	seen := map[float64]bool{}
	for offset, pages := 0, 0; ; pages++ {
		raw, err := json.Marshal(call(t, session, "search_traces", map[string]any{"offset": offset, "limit": 60}).StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		res.Traces, res.Pagination = nil, tool.Pagination{}
		if err := json.Unmarshal(raw, &res); err != nil {
			t.Fatal(err)
		}
		for _, tr := range res.Traces {
			if seen[tr.DurationMs] {
				t.Errorf("row %v came twice", tr.DurationMs)
			}
			seen[tr.DurationMs] = true
		}
		if res.Pagination.NextOffset == nil || pages > 10 {
			break
		}
		offset = *res.Pagination.NextOffset
	}
	if len(seen) != 250 || res.Pagination.HasMore {
		t.Errorf("%d rows came, want 250; has more: %v", len(seen), res.Pagination.HasMore)
	}
}

func TestScopes(t *testing.T) {
	callers := full()
	callers["traces"] = principal.Principal{
		Org: "org_a", Kind: principal.KindAPIKey, CredentialID: "key_b", Role: principal.RoleRoot,
		Scopes: []string{"traces:read"},
	}
	callers["none"] = principal.Principal{
		Org: "org_a", Kind: principal.KindAPIKey, CredentialID: "key_c", Role: principal.RoleRoot,
		Scopes: []string{},
	}
	b := &backend{total: 1, trace: &svcv2.Trace{
		Id: strings.Repeat("ab", 16), StartTime: timestamppb.New(tooltest.Now()),
		EndTime: timestamppb.New(tooltest.Now()),
	}}
	srv := server(t, b, callers, nil)
	session := connect(t, srv, "traces")
	tools := declared(t, session)
	// Feedback and the list of toolsets need no scope. Agents are seen in spans.
	if len(tools) != 10 || tools["get_agent_tool_error"] == nil || tools["send_svc_feedback"] == nil || tools["search_traces"] == nil ||
		tools["inspect_trace"] == nil || tools["inspect_span"] == nil {
		t.Errorf("a key with traces:read sees %v", tools)
	}
	if d := failureOf(t, call(t, session, "search_logs", nil)); d.Tag != "@svc/http/v2/InsufficientScopeError" {
		t.Errorf("a tool beyond the scopes failed with %+v", d)
	}
	res := call(t, session, "inspect_trace", map[string]any{"trace_id": strings.Repeat("ab", 16)})
	if res.IsError || !strings.Contains(textOf(res), "logs:read") {
		t.Errorf("without logs:read the trace has no note about it: %s", textOf(res))
	}
	if tools := declared(t, connect(t, srv, "none")); len(tools) != 2 || tools["send_svc_feedback"] == nil || tools["list_toolsets"] == nil {
		t.Errorf("a key without any scope sees %v", tools)
	}
	all := declared(t, connect(t, srv, "full"))
	if all["list_services"] == nil || all["search_logs"] == nil || all["run_sql"] == nil {
		t.Errorf("after that, a full key sees %d tools", len(all))
	}
}

func spanID(i int) string {
	return strings.Repeat("0", 8) + string([]byte{
		hexDigit(i >> 28), hexDigit(i >> 24), hexDigit(i >> 20), hexDigit(i >> 16),
		hexDigit(i >> 12), hexDigit(i >> 8), hexDigit(i >> 4), hexDigit(i),
	})
}

func hexDigit(i int) byte { return "0123456789abcdef"[i&15] }
