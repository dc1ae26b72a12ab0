package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wording"
)

// repeatedCalls is the number of calls of a tool with the same arguments in one trace from which they are a finding.
const repeatedCalls = 3

// AgentSession judges an agent's session.
func (e *Engine) AgentSession(ctx context.Context, id string, p Period) (*svcv2.AgentSessionVerdict, error) {
	s, err := e.read.Agents.GetAgentSession(
		ctx,
		&svcv2.GetAgentSessionRequest{SessionId: id, StartTime: p.start(), EndTime: p.end(), PayloadChars: 400},
	)
	if err != nil {
		return nil, err
	}
	return judgeAgentSession(s), nil
}

// AgentFailureKind is the kind of operation that failed.
func AgentFailureKind(sp *svcv2.AgentSpan) string {
	switch op := sp.GetOperation(); {
	case op == OperationTool:
		return "tool"
	case ModelCall(op):
		return "model"
	case op == OperationTurn:
		return "turn"
	default:
		return op
	}
}

// AgentFailureLabel names the subject and the type of a failure.
func AgentFailureLabel(sp *svcv2.AgentSpan) string {
	subject := cmp.Or(sp.GetTool(), sp.GetModel(), sp.GetAgent(), sp.GetName())
	return strings.TrimSuffix(subject+": "+cmp.Or(sp.GetErrorType(), wording.Clip(wording.OneLine(sp.GetMessage()), 80)), ": ")
}

// TokenReporting says where a session reports tokens: `per-call` on model calls, `roll-up` only on other spans, or `none`.
func TokenReporting(spans []*svcv2.AgentSpan) string {
	reporting := "none"
	for _, sp := range spans {
		switch {
		case sp.GetHasTokens() && ModelCall(sp.GetOperation()):
			return "per-call"
		case sp.GetHasTokens():
			reporting = "roll-up"
		}
	}
	return reporting
}

// judgeAgentSession finds the failures and faults of a session.
func judgeAgentSession(s *svcv2.AgentSession) *svcv2.AgentSessionVerdict {
	v := &svcv2.AgentSessionVerdict{Object: "agent_session_verdict", SessionId: s.GetId(), Truncated: s.GetTruncated()}
	turns := AgentTurns(s.GetSpans())
	turnOf := map[string]int32{}
	for i, t := range turns {
		for _, sp := range t.Spans {
			turnOf[sp.GetSpanId()] = int32(i + 1)
		}
	}
	v.TurnCount = int32(len(turns))
	failed := map[string]int{}
	byLabel := map[string]*svcv2.AgentFinding{}
	evidence := ""
	for _, sp := range s.GetSpans() {
		switch op := sp.GetOperation(); {
		case ModelCall(op):
			v.ModelCallCount++
		case op == OperationTool:
			v.ToolCallCount++
		}
		if !sp.GetFailed() {
			continue
		}
		kind, label := AgentFailureKind(sp), AgentFailureLabel(sp)
		failed[kind]++
		if f := byLabel[kind+label]; f != nil {
			f.Count++
			continue
		}
		f := &svcv2.AgentFinding{
			Kind:     kind,
			Severity: "failure",
			Label:    label,
			Count:    1,
			Turn:     turnOf[sp.GetSpanId()],
			Detail:   wording.Clip(wording.OneLine(sp.GetMessage()), 300),
			SpanId:   sp.GetSpanId(),
		}
		byLabel[kind+label] = f
		v.Findings = append(v.Findings, f)
		if evidence == "" || kind != "turn" && evidence == "turn" { // a turn fails because of another span in it
			evidence = kind
			v.TraceId, v.SpanId, v.FailedAt = new(sp.GetTraceId()), new(sp.GetSpanId()), sp.GetStartTime()
		}
	}
	loops := repeatedToolCalls(s.GetSpans())
	for _, l := range loops {
		l.Turn = turnOf[l.GetSpanId()]
		v.Findings = append(v.Findings, l)
	}
	v.Checks = checks(v, failed, len(loops), TokenReporting(s.GetSpans()))
	v.Status, v.Headline = conclude(v, failed)
	return v
}

func checks(v *svcv2.AgentSessionVerdict, failed map[string]int, loops int, reporting string) []*svcv2.AgentCheck {
	result := func(bad bool, status string) string {
		if bad {
			return status
		}
		return "passed"
	}
	return []*svcv2.AgentCheck{
		{
			Id:       "turns",
			Name:     "Turns end well",
			FixArea:  "agent",
			Status:   result(failed["turn"] > 0, "failed"),
			Headline: fmt.Sprintf("%d of %d turns failed.", failed["turn"], v.GetTurnCount()),
			Action:   "Read the messages of the failed turn.",
		},
		{
			Id:       "model-calls",
			Name:     "Model calls succeed",
			FixArea:  "model",
			Status:   result(failed["model"] > 0, "failed"),
			Headline: fmt.Sprintf("%d of %d model calls failed.", failed["model"], v.GetModelCallCount()),
			Action:   "Retry with back-off, or fall back to another model.",
		},
		{
			Id:       "tools",
			Name:     "Tool calls succeed",
			FixArea:  "tool",
			Status:   result(failed["tool"] > 0, "warning"),
			Headline: fmt.Sprintf("%d of %d tool calls failed.", failed["tool"], v.GetToolCallCount()),
			Action:   "Read the overview of the tool: how often it fails, and why.",
		},
		{
			Id:       "loops",
			Name:     "No repeated calls",
			FixArea:  "agent",
			Status:   result(loops > 0, "warning"),
			Headline: fmt.Sprintf("%d calls were repeated with the same arguments.", loops),
			Action:   "Tell the agent the result of the first call, or cap its steps.",
		},
		{
			Id:       "tokens",
			Name:     "Tokens are reported",
			FixArea:  "instrumentation",
			Status:   result(reporting == "none", "skipped"),
			Headline: "Reporting: " + reporting + ".",
			Action:   "Record gen_ai.usage.input_tokens and output_tokens on model calls.",
		},
	}
}

// conclude returns the verdict and its reason in a sentence.
func conclude(v *svcv2.AgentSessionVerdict, failed map[string]int) (status, headline string) {
	switch {
	case failed["turn"] > 0 || failed["model"] > 0:
		status = "failed"
	case len(v.GetFindings()) > 0 || v.GetModelCallCount() == 0:
		status = "attention"
	default:
		return "clean", "No step failed."
	}
	if len(v.GetFindings()) == 0 {
		return status, "No model call was recorded."
	}
	f := v.GetFindings()[0]
	for _, g := range v.GetFindings() { // a turn fails because of another span in it
		if g.GetKind() != "turn" && g.GetSeverity() == "failure" {
			f = g
			break
		}
	}
	if f.GetSeverity() != "failure" {
		return status, f.GetLabel()
	}
	return status, strings.TrimSpace(fmt.Sprintf("%s failed in turn %d. %s", f.GetLabel(), f.GetTurn(), f.GetDetail()))
}

// repeatedToolCalls finds tool calls with the same arguments as earlier calls in the same trace.
func repeatedToolCalls(spans []*svcv2.AgentSpan) []*svcv2.AgentFinding {
	seen := map[string]int32{}
	found := map[string]*svcv2.AgentFinding{}
	var out []*svcv2.AgentFinding
	for _, sp := range spans {
		if sp.GetOperation() != OperationTool || sp.GetInput() == "" {
			continue
		}
		key := sp.GetTraceId() + "\x00" + sp.GetTool() + "\x00" + sp.GetInput()
		if seen[key]++; seen[key] < repeatedCalls {
			continue
		}
		if f := found[key]; f != nil {
			f.Count = seen[key]
			continue
		}
		f := &svcv2.AgentFinding{
			Kind:     "loop",
			Severity: "anomaly",
			Label:    sp.GetTool() + " was called again with the same arguments",
			Count:    seen[key],
			Detail:   wording.Clip(wording.OneLine(sp.GetInput()), 200),
			SpanId:   sp.GetSpanId(),
		}
		found[key] = f
		out = append(out, f)
	}
	return out
}
