package agents

import (
	"context"
	"fmt"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type agentToolErrorResult struct {
	TimeRange      tool.TimeRange    `json:"timeRange"`
	Tool           string            `json:"tool"`
	Fingerprint    string            `json:"fingerprint"`
	Selection      map[string]string `json:"selection"`
	SamplesSession *string           `json:"samplesSession,omitempty"`
	PayloadChars   int               `json:"payloadChars"`
	Failure        agentToolGroup    `json:"failure"`
	Sessions       []agentCount      `json:"sessions"`
	SessionsCap    int               `json:"sessionsCap"`
	Variants       []agentCount      `json:"variants"`
	VariantsCap    int               `json:"variantsCap"`
	Breakdown      []agentCount      `json:"breakdown"`
	Samples        []agentToolSample `json:"samples"`
	HasMoreSamples bool              `json:"hasMoreSamples"`
}

type agentCount struct {
	Kind  string  `json:"kind"`
	Name  string  `json:"name"`
	Count float64 `json:"count"`
}

type agentToolSample struct {
	SessionID  string  `json:"sessionId"`
	TraceID    string  `json:"traceId"`
	SpanID     string  `json:"spanId"`
	Timestamp  string  `json:"timestamp"`
	DurationMs float64 `json:"durationMs"`
	Message    string  `json:"message"`
	Arguments  string  `json:"arguments"`
	Result     string  `json:"result"`
}

type getAgentToolErrorArgs struct {
	dayWindow
	Tool string `required:"true"`
	narrowed
	Fingerprint    string       `required:"true" shape:"fingerprint" example:"1234567890, from get_agent_tools_overview"`
	Scope          failureScope `doc:"all: ignore model, service and environment." default:"selection"`
	SamplesSession *string      `doc:"Only samples of this session."`
	SamplesLimit   int          `default:"{DefaultToolErrorSamples}" of:"GetAgentToolErrorRequest.limit" clamp:""`
	PayloadChars   int          `default:"{DefaultToolErrorPayload}" of:"GetAgentToolErrorRequest.payload_chars" clamp:"{LeastPayload}.."`
}

// failureScope says whether a call counts the failure in the selection of its other arguments or everywhere.
type failureScope string

const (
	inSelection failureScope = "selection"
	everywhere  failureScope = "all"
)

// Choices lists both scopes.
func (failureScope) Choices() []string { return []string{string(inSelection), string(everywhere)} }

func newGetAgentToolError(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentToolErrorResult](&tool.Tool{
		Name: "get_agent_tool_error", View: "/agents/tools",
		Title: "Failure of a tool",
		Description: "Read one kind of failure of an agent's tool: how often and where it occurs, in which sessions, and samples with " +
			"arguments and results.",
		Run: tool.With(func(ctx context.Context, a *getAgentToolErrorArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			if a.Scope == everywhere {
				a.narrowed = narrowed{}
			}
			limit := int32(a.SamplesLimit)
			out, err := s.Agents.GetAgentToolError(ctx, &svcv2.GetAgentToolErrorRequest{
				StartTime:    w.StartProto(),
				EndTime:      w.EndProto(),
				Tool:         a.Tool,
				Fingerprint:  a.Fingerprint,
				Filters:      a.filters(),
				SessionId:    tool.Or(a.SamplesSession, ""),
				Limit:        &limit,
				PayloadChars: int32(a.PayloadChars),
			})
			if err != nil {
				return nil, err
			}
			return toolErrorAnswer(a, w, out), nil
		}),
	})
}

func toolErrorAnswer(a *getAgentToolErrorArgs, w tool.TimeRange, out *svcv2.AgentToolError) *tool.Answer {
	res := agentToolErrorResult{
		TimeRange:      w,
		Tool:           a.Tool,
		Fingerprint:    a.Fingerprint,
		Selection:      selection(a.Chosen(a.fields()...)),
		SamplesSession: a.SamplesSession,
		PayloadChars:   a.PayloadChars,
		Failure:        toAgentToolGroup(out.GetFailure()),
		SessionsCap:    20,
		VariantsCap:    10,
		Sessions:       []agentCount{},
		Variants:       []agentCount{},
		Breakdown:      []agentCount{},
		Samples:        []agentToolSample{},
		HasMoreSamples: out.GetHasMore(),
	}
	counted := func(list []*svcv2.AgentCount, to *[]agentCount) [][]string {
		var cells [][]string
		for _, c := range list {
			*to = append(*to, agentCount{c.GetKind(), c.GetName(), c.GetCount()})
			cells = append(cells, []string{c.GetKind(), wording.Clip(c.GetName(), 200), wording.Number(c.GetCount())})
		}
		return cells
	}
	columns := []string{"Of", "Name", "Count"}
	f := res.Failure
	text := tool.Page{
		Scope: append(a.Labels(w, &a.Tool, &a.Model, &a.Service, &a.Environment), tool.Weighted("failed calls"),
			tool.Labeled("Failure", f.ErrorType+": "+f.Message)),
	}
	text.Blocks = []tool.Block{
		{
			Heading: "How often",
			Rows: []string{
				fmt.Sprintf("- %s times in %s sessions, last at %s", wording.Number(f.Count), wording.Number(f.Sessions), f.LastSeen),
				"- over time: " + spark(f.Trend),
			},
		},
		tool.Table("Where", "", columns, counted(out.GetBreakdown(), &res.Breakdown)),
		tool.Table("Messages", "", columns, counted(out.GetVariants(), &res.Variants)),
		tool.Table("Sessions", "", columns, counted(out.GetSessions(), &res.Sessions)),
	}
	var samples [][]string
	for _, one := range out.GetSamples() {
		sp := one.GetSpan()
		row := agentToolSample{
			one.GetSessionId(),
			sp.GetTraceId(),
			sp.GetSpanId(),
			wording.Clock(sp.GetStartTime().AsTime()),
			sp.GetDurationMs(),
			wording.Clip(sp.GetMessage(), 500),
			sp.GetInput(),
			sp.GetOutput(),
		}
		res.Samples = append(res.Samples, row)
		samples = append(samples, []string{row.Timestamp, row.SessionID, tool.Seconds(row.DurationMs), row.Arguments, row.Result})
	}
	text.Blocks = append(
		text.Blocks,
		tool.Table(
			"Samples, newest first",
			"There are no samples in this session.",
			[]string{"Time", "Session", "Duration", "Arguments", "Result"},
			samples,
		),
	)
	text.Shown = tool.ShownOf(len(samples), out.GetHasMore(), "samples")
	if len(res.Samples) > 0 {
		one := res.Samples[0]
		start := out.GetSamples()[0].GetSpan().GetStartTime().AsTime()
		around := func(by time.Duration) string { return wording.Clock(start.Add(by)) }
		text.Next = []tool.Suggestion{
			tool.Next("inspect_trace", map[string]any{"trace_id": one.TraceID}, "the turn around the latest sample, with the calls of the tool"),
			tool.Next(
				"get_agent_session_transcript",
				map[string]any{
					"session_id":  one.SessionID,
					"start_time":  around(-6 * time.Hour),
					"end_time":    around(6 * time.Hour),
					"failed_only": true,
				},
				"the messages of user and model around it",
			),
		}
	}
	return &tool.Answer{Data: res, Text: text}
}
