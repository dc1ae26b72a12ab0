package agents

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/nearest"
	"github.com/svc-observability/svc/server/wording"
)

type agentToolsResult struct {
	TimeRange     tool.TimeRange    `json:"timeRange"`
	Selection     map[string]string `json:"selection"`
	Description   string            `json:"description,omitempty"`
	FirstSeen     string            `json:"firstSeen,omitempty"`
	LastSeen      string            `json:"lastSeen,omitempty"`
	Current       agentTool         `json:"current"`
	Previous      *agentTool        `json:"previous,omitempty"`
	AllSessions   *agentTool        `json:"allSessions,omitempty"`
	Tools         []agentTool       `json:"tools"`
	FailureGroups *agentToolGroups  `json:"failureGroups,omitempty"`
}

type agentTool struct {
	Name      string  `json:"name,omitempty"`
	Calls     float64 `json:"calls"`
	Failed    float64 `json:"failed"`
	ErrorRate float64 `json:"errorRate"`
	AvgMs     float64 `json:"avgMs"`
	P95Ms     float64 `json:"p95Ms"`
	Sessions  float64 `json:"sessions"`
}

type agentToolGroups struct {
	Tool          string           `json:"tool"`
	BucketSeconds int32            `json:"bucketSeconds"`
	Cap           int              `json:"cap"`
	Groups        []agentToolGroup `json:"groups"`
}

type agentToolGroup struct {
	Fingerprint string    `json:"fingerprint"`
	ErrorType   string    `json:"errorType"`
	Message     string    `json:"message"`
	Count       float64   `json:"count"`
	Sessions    float64   `json:"sessions"`
	LastSeen    string    `json:"lastSeen"`
	Trend       []float64 `json:"trend"`
}

func toAgentTool(t *svcv2.AgentTool) agentTool {
	return agentTool{
		t.GetName(),
		t.GetCalls(),
		t.GetFailed(),
		t.GetFailed() / max(t.GetCalls(), 1),
		t.GetAvgMs(),
		t.GetP95Ms(),
		t.GetSessions(),
	}
}

func toAgentToolGroup(f *svcv2.AgentToolFailure) agentToolGroup {
	return agentToolGroup{
		f.GetFingerprint(),
		f.GetErrorType(),
		wording.Clip(f.GetMessage(), 500),
		f.GetCount(),
		f.GetSessions(),
		wording.Clock(f.GetLastSeen().AsTime()),
		f.GetTrend(),
	}
}

// selection converts arguments to texts.
func selection(chosen map[string]any) map[string]string {
	out := map[string]string{}
	for name, v := range chosen {
		out[name] = fmt.Sprint(v)
	}
	return out
}

type getAgentToolsOverviewArgs struct {
	dayWindow
	Tool *string
	narrowed
	ToolContains *string
}

func newGetAgentToolsOverview(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentToolsResult](&tool.Tool{
		Name: "get_agent_tools_overview", View: "/agents/tools",
		Title: "Tools of agents",
		Description: "Read how often tools of AI agents were called and failed, and how long they took, in at most " +
			limits.Lasts(limits.SearchWindow) + ", beside the equally long time before. With the argument tool, also its failures by fingerprint.",
		Run: tool.With(func(ctx context.Context, a *getAgentToolsOverviewArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			out, err := s.Agents.GetAgentToolsOverview(ctx, &svcv2.GetAgentToolsOverviewRequest{
				StartTime:    w.StartProto(),
				EndTime:      w.EndProto(),
				Filters:      a.filters(),
				Tool:         tool.Or(a.Tool, ""),
				ToolContains: tool.Or(a.ToolContains, ""),
			})
			if err != nil {
				return nil, err
			}
			// The figures of a model, service or environment say little without the figures of all of them.
			var all *svcv2.AgentToolsOverview
			if len(a.Chosen(a.fields()...)) > 0 {
				if all, err = s.Agents.GetAgentToolsOverview(ctx, &svcv2.GetAgentToolsOverviewRequest{
					StartTime: w.StartProto(), EndTime: w.EndProto(), Tool: tool.Or(a.Tool, ""), ToolContains: tool.Or(a.ToolContains, ""),
				}); err != nil {
					return nil, err
				}
			}
			if err := knownTool(a, cmp.Or(all, out)); err != nil {
				return nil, err
			}
			return toolsAnswer(a, w, out, all), nil
		}),
	})
}

// knownTool refuses the name of a tool that no agent called, and names near ones: no calls would look like good news. out has the tools of
// all models, services and environments.
func knownTool(a *getAgentToolsOverviewArgs, out *svcv2.AgentToolsOverview) error {
	called := out.GetCurrent().GetCalls() > 0 || out.GetPrevious().GetCalls() > 0
	if a.Tool == nil || a.ToolContains != nil || called || len(out.GetTools()) == 0 {
		return nil
	}
	var names []string
	for _, t := range out.GetTools() {
		if t.GetName() == *a.Tool {
			return nil
		}
		names = append(names, t.GetName())
	}
	if near := nearest.Few(*a.Tool, names, 3); len(near) > 0 {
		return a.Bad(&a.Tool, fmt.Sprintf("is %q, which no agent called in this time range. Near names: %s.", *a.Tool,
			strings.Join(near, ", ")), near[0])
	}
	return a.Bad(&a.Tool, fmt.Sprintf("is %q, which no agent called in this time range. Called were: %s.", *a.Tool,
		wording.Clip(strings.Join(names, ", "), 500)), names[0])
}

// thinShare is the share of the present calls below which the calls of the time before are too few for a comparison.
const thinShare = 0.05

// toolsAnswer makes the answer. all is the result of the same call without model, service and environment. It is nil if the call
// has none of them.
func toolsAnswer(a *getAgentToolsOverviewArgs, w tool.TimeRange, out, all *svcv2.AgentToolsOverview) *tool.Answer {
	chosen := append([]any{&a.Tool, &a.ToolContains}, a.fields()...)
	res := agentToolsResult{
		TimeRange:   w,
		Selection:   selection(a.Chosen(chosen...)),
		Current:     toAgentTool(out.GetCurrent()),
		Tools:       []agentTool{},
		Description: out.GetCurrent().GetDescription(),
	}
	if t := out.GetCurrent(); t.GetFirstSeen() != nil {
		res.FirstSeen, res.LastSeen = wording.Clock(t.GetFirstSeen().AsTime()), wording.Clock(t.GetLastSeen().AsTime())
	}
	if out.GetPrevious().GetCalls() > 0 {
		previous := toAgentTool(out.GetPrevious())
		res.Previous = &previous
	}
	var cells [][]string
	worst := agentTool{}
	for _, t := range out.GetTools() {
		row := toAgentTool(t)
		res.Tools = append(res.Tools, row)
		cells = append(
			cells,
			[]string{
				row.Name,
				wording.Number(row.Calls),
				wording.Number(row.Failed),
				wording.Percent(row.ErrorRate),
				wording.Number(row.AvgMs),
				wording.Number(row.P95Ms),
				wording.Number(row.Sessions),
			},
		)
		if row.Failed > worst.Failed {
			worst = row
		}
	}
	text := tool.Page{Scope: append(a.Labels(w, chosen...), tool.Estimated("calls")), Shown: tool.ShownOf(len(cells), false, "tools")}
	if res.Description != "" {
		text.Scope = append(text.Scope, tool.Labeled("Description for models", wording.Clip(res.Description, 500)))
	}
	c := res.Current
	summary := []string{
		fmt.Sprintf(
			"- now: %s calls, %s failed (%s), p95 %s ms, %s sessions",
			wording.Number(c.Calls),
			wording.Number(c.Failed),
			wording.Percent(c.ErrorRate),
			wording.Number(c.P95Ms),
			wording.Number(c.Sessions),
		),
	}
	if p := res.Previous; p != nil {
		summary = append(
			summary,
			fmt.Sprintf(
				"- the time before: %s calls, %s failed (%s), p95 %s ms",
				wording.Number(p.Calls),
				wording.Number(p.Failed),
				wording.Percent(p.ErrorRate),
				wording.Number(p.P95Ms),
			),
		)
		if p.Calls < thinShare*c.Calls {
			text.Notes = append(text.Notes, "The time before has few calls, so the comparison with it says little.")
		}
	} else {
		summary = append(summary, "- the time before: no calls")
	}
	if all != nil {
		every := toAgentTool(all.GetCurrent())
		res.AllSessions = &every
		summary = append(
			summary,
			fmt.Sprintf(
				"- in all sessions: %s calls, %s failed (%s), p95 %s ms, %s sessions",
				wording.Number(every.Calls),
				wording.Number(every.Failed),
				wording.Percent(every.ErrorRate),
				wording.Number(every.P95Ms),
				wording.Number(every.Sessions),
			),
		)
	}
	text.Blocks = []tool.Block{{Heading: "All calls", Rows: summary}}
	named := tool.Or(a.Tool, "")
	if named != "" {
		text.Blocks[0].Heading = "Calls of " + named
		res.FailureGroups = &agentToolGroups{Tool: named, BucketSeconds: out.GetBucketSeconds(), Cap: 20, Groups: []agentToolGroup{}}
		var rows [][]string
		for _, f := range out.GetFailures() {
			g := toAgentToolGroup(f)
			res.FailureGroups.Groups = append(res.FailureGroups.Groups, g)
			rows = append(
				rows,
				[]string{
					g.Fingerprint,
					g.ErrorType,
					wording.Clip(g.Message, 200),
					wording.Number(g.Count),
					wording.Number(g.Sessions),
					g.LastSeen,
					spark(g.Trend),
				},
			)
		}
		text.Blocks = append(
			text.Blocks,
			tool.Table(
				"Failures",
				"The tool did not fail.",
				[]string{"Fingerprint", "Type", "Latest message", "Count", "Sessions", "Last", "Trend"},
				rows,
			),
		)
		if len(rows) > 0 {
			text.Next = append(
				text.Next,
				tool.Next(
					"get_agent_tool_error",
					a.Again(w, map[string]any{"tool": named, "fingerprint": rows[0][0]}, &a.Service, &a.Environment, &a.Model),
					"its most frequent failure with arguments and results",
				),
			)
		}
	}
	text.Blocks = append(
		text.Blocks,
		tool.Table("Tools", "No tool was called.", []string{"Tool", "Calls", "Failed", "Rate", "avg ms", "p95 ms", "Sessions"}, cells),
	)
	if named == "" && worst.Failed > 0 {
		text.Next = append(
			text.Next,
			tool.Next(
				"get_agent_tools_overview",
				a.Again(w, map[string]any{"tool": worst.Name}, &a.Service, &a.Environment, &a.Model),
				"failures of the tool that fails most",
			),
		)
	}
	if len(text.Next) == 0 {
		text.Next = append(
			text.Next,
			tool.Next("list_agent_sessions", map[string]any{"start_time": w.Start, "end_time": w.End}, "the sessions of this time"),
		)
	}
	return &tool.Answer{Data: res, Text: text}
}

// spark draws a trend with one digit for each bucket. The digits 0 to 9 are relative to the highest bucket.
func spark(trend []float64) string {
	highest := 0.0
	for _, v := range trend {
		highest = max(highest, v)
	}
	var b strings.Builder
	for _, v := range trend {
		if v == 0 {
			b.WriteByte('.')
		} else {
			b.WriteByte("123456789"[int(v/highest*8)])
		}
	}
	return b.String()
}
