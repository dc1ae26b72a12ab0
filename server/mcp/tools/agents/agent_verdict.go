package agents

import (
	"cmp"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

func failureKind(sp *svcv2.AgentSpan) string {
	switch op := sp.GetOperation(); {
	case op == OperationTool:
		return "tool"
	case modelCall(op):
		return "model"
	case op == operationTurn:
		return "turn"
	default:
		return op
	}
}

func failureLabel(sp *svcv2.AgentSpan) string {
	subject := cmp.Or(sp.GetTool(), sp.GetModel(), sp.GetAgent(), sp.GetName())
	return strings.TrimSuffix(subject+": "+cmp.Or(sp.GetErrorType(), tool.Clip(tool.OneLine(sp.GetMessage()), 80)), ": ")
}

// judge finds what went wrong.
func judge(res *agentSessionResult, spans []*svcv2.AgentSpan, turnOf map[string]int) {
	byLabel := map[string]int{}
	for _, sp := range spans {
		if !sp.GetFailed() {
			continue
		}
		label := failureLabel(sp)
		key := failureKind(sp) + label
		if i, ok := byLabel[key]; ok {
			res.Findings[i].Count++
			continue
		}
		byLabel[key] = len(res.Findings)
		res.Findings = append(res.Findings, agentFinding{failureKind(sp), "failure", label, 1, fmt.Sprintf("turn %d", turnOf[sp.GetSpanId()]), tool.Clip(tool.OneLine(sp.GetMessage()), 300), sp.GetSpanId()})
		if res.Evidence == nil || failureKind(sp) != "turn" && res.Verdict.Status == "turn" {
			res.Evidence = &agentEvidence{sp.GetTraceId(), sp.GetSpanId(), tool.Clock(sp.GetStartTime().AsTime())}
			res.Verdict.Status, res.Verdict.SpanID = failureKind(sp), sp.GetSpanId()
		}
	}
	failed := map[string]int{}
	for _, sp := range spans {
		if sp.GetFailed() {
			failed[failureKind(sp)]++
		}
	}
	loops := repeats(spans)
	for _, l := range loops {
		l.TurnText = fmt.Sprintf("turn %d", turnOf[l.SpanID])
		res.Findings = append(res.Findings, l)
	}
	add := func(id, name, status, headline, action string) {
		area := map[string]string{"turns": "agent", "model-calls": "model", "tools": "tool", "loops": "agent", "tokens": "instrumentation"}[id]
		res.Checks = append(res.Checks, agentCheck{id, name, status, headline, action, area})
		res.CheckCounts[status]++
	}
	result := func(bad bool, status string) string {
		if bad {
			return status
		}
		return "passed"
	}
	add("turns", "Turns end well", result(failed["turn"] > 0, "failed"), fmt.Sprintf("%d of %d turns failed.", failed["turn"], res.TurnCount), "Read the failed turn with get_agent_session_transcript and failed_only.")
	add("model-calls", "Model calls succeed", result(failed["model"] > 0, "failed"), fmt.Sprintf("%d of %d model calls failed.", failed["model"], res.Work.LLMCalls), "Retry with back-off, or fall back to another model.")
	add("tools", "Tool calls succeed", result(failed["tool"] > 0, "warning"), fmt.Sprintf("%d of %d tool calls failed.", failed["tool"], res.Work.ToolCalls), "get_agent_tools_overview with the tool says how often and why.")
	add("loops", "No repeated calls", result(len(loops) > 0, "warning"), fmt.Sprintf("%d calls were repeated with the same arguments.", len(loops)), "Tell the agent the result of the first call, or cap its steps.")
	add("tokens", "Tokens are reported", map[bool]string{true: "passed", false: "skipped"}[res.TokenReporting != "none"], "Reporting: "+res.TokenReporting+".", "Record gen_ai.usage.input_tokens and output_tokens on model calls.")
	res.FindingCount = len(res.Findings)
	v := &res.Verdict
	switch {
	case failed["turn"] > 0 || failed["model"] > 0:
		v.Status = "failed"
	case len(res.Findings) > 0 || res.Work.LLMCalls == 0:
		v.Status = "attention"
	default:
		v.Status, v.Headline = "clean", "Nothing failed."
	}
	switch {
	case v.Status == "clean":
	case len(res.Findings) > 0:
		f := res.Findings[0]
		for _, g := range res.Findings { // a turn fails because of something in it
			if g.Kind != "turn" && g.Severity == "failure" {
				f = g
				break
			}
		}
		v.Headline = strings.TrimSpace(fmt.Sprintf("%s failed in %s. %s", f.Label, f.TurnText, f.Detail))
		if f.Severity != "failure" {
			v.Headline = f.Label
		}
	default:
		v.Headline = "No model call was recorded."
	}
}

// repeats are tool calls with the arguments of an earlier call of the same turn that did not fail.
func repeats(spans []*svcv2.AgentSpan) []agentFinding {
	seen := map[string]int{}
	var out []agentFinding
	at := map[string]int{}
	for _, sp := range spans {
		if sp.GetOperation() != OperationTool || sp.GetInput() == "" {
			continue
		}
		key := sp.GetTraceId() + "\x00" + sp.GetTool() + "\x00" + sp.GetInput()
		if seen[key]++; seen[key] < 3 {
			continue
		}
		if i, ok := at[key]; ok {
			out[i].Count = seen[key]
			continue
		}
		at[key] = len(out)
		out = append(out, agentFinding{"loop", "anomaly", sp.GetTool() + " was called again with the same arguments", seen[key], "", tool.Clip(tool.OneLine(sp.GetInput()), 200), sp.GetSpanId()})
	}
	return out
}
