package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type getAgentSessionArgs struct {
	SessionID string `required:"true" example:"conv_…, from list_agent_sessions"`
	dayWindow
}

func newGetAgentSession(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentSessionResult](&tool.Tool{
		Name: "get_agent_session", View: "/agents/{session_id}",
		Title:       "Agent session",
		Description: "Read one session of an AI agent: verdict, checks, findings, times, tokens, cost, models, tools and turns.",
		Run: tool.With(func(ctx context.Context, a *getAgentSessionArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.AgentSessionWindow)
			if err != nil {
				return nil, err
			}
			var figures *svcv2.AgentSessionFigures
			var verdict *svcv2.AgentSessionVerdict
			err = atonce.Run(
				func() (err error) {
					figures, err = s.Diagnosis.GetAgentSessionFigures(ctx, &svcv2.GetAgentSessionFiguresRequest{
						SessionId: a.SessionID, StartTime: w.StartProto(), EndTime: w.EndProto(),
					})
					return err
				},
				func() (err error) {
					verdict, err = s.Diagnosis.GetAgentSessionVerdict(ctx, &svcv2.GetAgentSessionVerdictRequest{
						SessionId: a.SessionID, StartTime: w.StartProto(), EndTime: w.EndProto(),
					})
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			return agentSessionAnswer(w, figures, verdict), nil
		}),
	})
}

func agentSessionAnswer(w tool.TimeRange, figures *svcv2.AgentSessionFigures, verdict *svcv2.AgentSessionVerdict) *tool.Answer {
	res := toAgentSession(figures)
	res.TimeRange = w
	res.judge(verdict)
	return &tool.Answer{Data: res, Text: agentSessionText(w, &res)}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func agentSessionText(w tool.TimeRange, res *agentSessionResult) tool.Page {
	text := tool.Page{
		Scope: []tool.Pair{
			tool.Labeled("Session", res.SessionID),
			w.Label(),
			tool.Labeled("Verdict", res.Verdict.Status+": "+res.Verdict.Headline),
		},
	}
	if res.Load.Truncated != "none" {
		text.Notes = append(
			text.Notes,
			fmt.Sprintf(
				"Only the first %d spans were read. To read the others, call again with start_time=%s.",
				res.Load.Spans,
				res.Load.ResumeStartTime,
			),
		)
	}
	cost := "not reported"
	if res.Cost != nil {
		cost = fmt.Sprintf("%.4g USD", *res.Cost)
	}
	var checks, findings, models, tools, turns [][]string
	for _, c := range res.Checks {
		action := ""
		if c.Status == "failed" || c.Status == "warning" {
			action = c.Action
		}
		checks = append(checks, []string{c.Name, c.Status, c.Headline, action})
	}
	for _, f := range res.Findings {
		findings = append(findings, []string{f.Label, fmt.Sprint(f.Count), f.TurnText, f.Detail, f.SpanID})
	}
	for _, m := range res.Models {
		paid := ""
		if m.Cost != nil {
			paid = fmt.Sprintf("%.4g", *m.Cost)
		}
		models = append(models, []string{m.Model, fmt.Sprint(m.LLMCalls), wording.Number(m.TotalTokens), paid})
	}
	for _, t := range res.Tools {
		tools = append(tools, []string{t.Name, fmt.Sprint(t.Calls), fmt.Sprint(t.Failed), tool.Seconds(t.TotalMs), tool.Seconds(t.SlowestMs)})
	}
	for _, t := range res.Turns {
		turns = append(
			turns,
			[]string{
				fmt.Sprint(t.Ordinal),
				"+" + tool.Seconds(t.OffsetMs),
				tool.Seconds(t.DurationMs),
				fmt.Sprint(t.SpanCount),
				map[bool]string{true: "failed"}[t.Failed],
				t.Label,
			},
		)
	}
	v := res.Vitals
	text.Blocks = []tool.Block{
		{Heading: "Work", Rows: []string{
			fmt.Sprintf(
				"- %d turns, %d model calls, %d tool calls in %d traces of %s",
				res.TurnCount,
				res.Work.LLMCalls,
				res.Work.ToolCalls,
				res.Work.Traces,
				strings.Join(res.ServiceNames, ", "),
			),
			fmt.Sprintf(
				"- %s from first to last span: %s active, %s idle in %d gaps; model %s (first token %s), tools %s",
				tool.Seconds(v.WallClockMs),
				tool.Seconds(v.ActiveMs),
				tool.Seconds(v.IdleMs),
				v.IdleGapCount,
				tool.Seconds(
					v.AgentTimeSegments[0].Ms+v.AgentTimeSegments[1].Ms,
				),
				tool.Seconds(v.AgentTimeSegments[0].Ms),
				tool.Seconds(v.AgentTimeSegments[2].Ms),
			),
			fmt.Sprintf(
				"- Tokens: %s in (%s from cache), %s out, %s in all (%s); cost %s",
				wording.Number(res.Tokens.Input),
				wording.Number(res.Tokens.CacheRead),
				wording.Number(res.Tokens.Output),
				wording.Number(res.Tokens.Total),
				res.TokenReporting,
				cost,
			),
		}},
		tool.Table("Findings", "No step failed, and no call was repeated.", []string{"Finding", "Count", "Where", "Detail", "Span"}, findings),
		tool.Table("Checks", "", []string{"Check", "Status", "Figures", "Action"}, checks),
		tool.Table("Models", "No model call was recorded.", []string{"Model", "Calls", "Tokens", "Cost USD"}, models),
		tool.Table("Tools", "No tool was called.", []string{"Tool", "Calls", "Failed", "Time", "Slowest"}, tools),
		tool.Table("Turns", "The session has no turns.", []string{"Turn", "Start", "Duration", "Spans", "", "Asked"}, turns),
	}
	again := map[string]any{"session_id": res.SessionID, "start_time": w.Start, "end_time": w.End}
	if res.Evidence != nil {
		failed := map[string]any{"session_id": res.SessionID, "start_time": w.Start, "end_time": w.End, "failed_only": true}
		text.Next = append(text.Next, tool.Next("get_agent_session_transcript", failed, "the messages around the failures"),
			tool.Next("inspect_span", map[string]any{"trace_id": res.Evidence.TraceID, "span_id": res.Evidence.SpanID}, "the whole failed step"))
		for _, t := range res.Tools {
			if t.Failed > 0 {
				text.Next = append(
					text.Next,
					tool.Next(
						"get_agent_tools_overview",
						map[string]any{"tool": t.Name, "start_time": w.Start, "end_time": w.End},
						"failures of this tool in other sessions",
					),
				)
				break
			}
		}
	} else {
		text.Next = append(text.Next, tool.Next("get_agent_session_transcript", again, "the messages of the session"))
	}
	return text
}
