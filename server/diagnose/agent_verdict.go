package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/genai"
	"github.com/svc-observability/svc/server/wording"
)

// repeatedCalls is the number of calls of a tool with the same arguments in one trace from which they are a finding.
const repeatedCalls = 3

// AgentSessionVerdict judges an agent's session.
func (e *Engine) AgentSessionVerdict(ctx context.Context, id string, p Period) (*svcv2.AgentSessionVerdict, error) {
	s, err := e.agentSession(ctx, id, p)
	if err != nil {
		return nil, err
	}
	return judgeAgentSession(s), nil
}

// failureKind is the kind of operation that failed.
func failureKind(sp *svcv2.AgentSpan) string {
	switch op := sp.GetOperation(); {
	case op == genai.OperationTool:
		return "tool"
	case genai.ModelCall(op):
		return "model"
	case op == genai.OperationTurn:
		return "turn"
	default:
		return op
	}
}

// failureLabel names the subject and the type of a failure.
func failureLabel(sp *svcv2.AgentSpan) string {
	subject := cmp.Or(sp.GetTool(), sp.GetModel(), sp.GetAgent(), sp.GetName())
	if sp.GetOperation() == genai.OperationTurn { // an agent names its model too
		subject = cmp.Or(sp.GetAgent(), sp.GetName())
	}
	return strings.TrimSuffix(subject+": "+cmp.Or(sp.GetErrorType(), wording.Clip(wording.OneLine(sp.GetMessage()), 80)), ": ")
}

// tokenReporting says where a session reports tokens: `per-call` on model calls, `roll-up` only on other spans, or `none`.
func tokenReporting(spans []*svcv2.AgentSpan) string {
	reporting := "none"
	for _, sp := range spans {
		switch {
		case sp.GetHasTokens() && genai.ModelCall(sp.GetOperation()):
			return "per-call"
		case sp.GetHasTokens():
			reporting = "roll-up"
		}
	}
	return reporting
}

// judgeAgentSession finds the failures and faults of a session.
func judgeAgentSession(s *svcv2.AgentSession) *svcv2.AgentSessionVerdict {
	spans := s.GetSpans()
	v := &svcv2.AgentSessionVerdict{
		Object: "agent_session_verdict", SessionId: s.GetId(), Truncated: s.GetTruncated(), TurnCount: int32(len(s.GetTurns())),
	}
	steps := failedSteps(spans)
	failed := map[string]int{}
	byLabel := map[string]*svcv2.AgentFinding{}
	evidence := ""
	for _, sp := range spans {
		switch op := sp.GetOperation(); {
		case genai.ModelCall(op):
			v.ModelCallCount++
		case op == genai.OperationTool:
			v.ToolCallCount++
		}
		if !sp.GetFailed() {
			continue
		}
		kind, label := failureKind(sp), failureLabel(sp)
		failed[kind]++
		if evidence == "" || kind != "turn" && evidence == "turn" { // a turn fails because of another span in it
			evidence = kind
			v.TraceId, v.SpanId, v.FailedAt = new(sp.GetTraceId()), new(sp.GetSpanId()), sp.GetStartTime()
		}
		if kind == "turn" && steps[failureIn(sp)] { // the failure of the step is listed
			continue
		}
		f := byLabel[kind+label]
		if f == nil {
			f = &svcv2.AgentFinding{
				Kind: kind, Severity: "failure", Label: label, Turn: sp.GetTurn(), SpanId: sp.GetSpanId(),
				Detail: wording.Clip(wording.OneLine(sp.GetMessage()), 300),
			}
			byLabel[kind+label] = f
			v.Findings = append(v.Findings, f)
		}
		occurred(f, sp)
	}
	loops := repeatedToolCalls(spans)
	v.Findings = append(v.Findings, loops...)
	v.Checks = checks(v, failed, len(loops), tokenReporting(spans))
	v.Status, v.Headline = conclude(v, failed)
	return v
}

// failure is an error in a turn.
type failure struct {
	turn            int32
	errType, detail string
}

func failureIn(sp *svcv2.AgentSpan) failure {
	return failure{sp.GetTurn(), sp.GetErrorType(), sp.GetMessage()}
}

// failedSteps are the failures of steps within turns. The span of a turn that failed because of a step repeats its failure.
func failedSteps(spans []*svcv2.AgentSpan) map[failure]bool {
	steps := map[failure]bool{}
	for _, sp := range spans {
		if sp.GetFailed() && sp.GetOperation() != genai.OperationTurn {
			steps[failureIn(sp)] = true
		}
	}
	return steps
}

// occurred counts an occurrence of a finding.
func occurred(f *svcv2.AgentFinding, sp *svcv2.AgentSpan) {
	f.Count++
	if sp.GetTurn() > 0 && !slices.Contains(f.GetTurns(), sp.GetTurn()) {
		f.Turns = append(f.Turns, sp.GetTurn())
		slices.Sort(f.Turns)
	}
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
	where := "outside of the turns"
	if len(f.GetTurns()) > 0 {
		where = "in " + wording.Turns(f.GetTurns())
	}
	return status, strings.TrimSpace(fmt.Sprintf("%s failed %s. %s", f.GetLabel(), where, f.GetDetail()))
}

// repeatedToolCalls finds tool calls with the same arguments as earlier calls in the same trace.
func repeatedToolCalls(spans []*svcv2.AgentSpan) []*svcv2.AgentFinding {
	seen := map[string][]*svcv2.AgentSpan{}
	found := map[string]*svcv2.AgentFinding{}
	var out []*svcv2.AgentFinding
	for _, sp := range spans {
		if sp.GetOperation() != genai.OperationTool || sp.GetInput() == "" {
			continue
		}
		key := sp.GetTraceId() + "\x00" + sp.GetTool() + "\x00" + sp.GetInput()
		seen[key] = append(seen[key], sp)
		if f := found[key]; f != nil {
			occurred(f, sp)
			continue
		}
		if len(seen[key]) < repeatedCalls {
			continue
		}
		f := &svcv2.AgentFinding{
			Kind: "loop", Severity: "anomaly", Label: sp.GetTool() + " was called again with the same arguments", Turn: sp.GetTurn(),
			Detail: wording.Clip(wording.OneLine(sp.GetInput()), 200), SpanId: sp.GetSpanId(),
		}
		for _, call := range seen[key] {
			occurred(f, call)
		}
		found[key] = f
		out = append(out, f)
	}
	return out
}
