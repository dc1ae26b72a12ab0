package agents

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/genai"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type agentTranscriptResult struct {
	SessionID    string           `json:"sessionId"`
	Turns        int              `json:"turns"`
	Selection    agentSelection   `json:"selection"`
	RowCount     int              `json:"rowCount"`
	Rows         []transcriptLine `json:"rows"`
	Capture      agentCapture     `json:"capture"`
	FirstFailure *transcriptLine  `json:"firstFailure,omitempty"`
	Pagination   tool.Pagination  `json:"pagination"`
}

type agentSelection struct {
	Turn       *int    `json:"turn,omitempty"`
	FailedOnly bool    `json:"failedOnly"`
	Search     *string `json:"search,omitempty"`
}

type agentCapture struct {
	CapturedCalls int `json:"capturedCalls"`
	LLMCalls      int `json:"llmCalls"`
}

// transcriptLine is a line of a transcript.
type transcriptLine struct {
	Kind       string  `json:"kind"`
	Turn       int     `json:"turn"`
	OffsetMs   float64 `json:"offsetMs"`
	DurationMs float64 `json:"durationMs,omitempty"`
	Name       string  `json:"name,omitempty"`
	Text       string  `json:"text"`
	Failed     bool    `json:"failed,omitempty"`
	SpanID     string  `json:"spanId,omitempty"`
	TraceID    string  `json:"traceId,omitempty"`
}

type getAgentSessionTranscriptArgs struct {
	SessionID string `required:"true" example:"conv_…, from list_agent_sessions"`
	dayWindow
	Turn         *int    `doc:"Only this turn." range:"1.."`
	FailedOnly   bool    `doc:"Only turns with a failure." default:"false"`
	Search       *string `doc:"Only lines with this text."`
	PayloadChars int     `default:"{DefaultTranscriptPayload}" clamp:"{LeastPayload}..{TranscriptValue}"`
	Offset       int     `default:"0" clamp:"0..{TranscriptOffset}"`
	Limit        int     `default:"{DefaultTranscriptLines}" clamp:"1..{ToolNames}"`
}

func newGetAgentSessionTranscript(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentTranscriptResult](&tool.Tool{
		Name: "get_agent_session_transcript", View: "/agents/{session_id}",
		Title:       "Transcript of an agent session",
		Description: "Read the messages of user, model and tools in a session, in order. Messages exist only if the agent records them.",
		Run: tool.With(func(ctx context.Context, a *getAgentSessionTranscriptArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.AgentSessionWindow)
			if err != nil {
				return nil, err
			}
			// The JSON around the text takes room too. The text is cut after it is unpacked.
			out, err := s.Agents.GetAgentSession(ctx, &svcv2.GetAgentSessionRequest{
				SessionId: a.SessionID, StartTime: w.StartProto(), EndTime: w.EndProto(), PayloadChars: int32(min(a.PayloadChars*4+2000, 20_000)),
			})
			if err != nil {
				return nil, err
			}
			return transcriptAnswer(a, w, out)
		}),
	})
}

func transcriptAnswer(a *getAgentSessionTranscriptArgs, w tool.TimeRange, s *svcv2.AgentSession) (*tool.Answer, error) {
	turns := s.GetTurns()
	res := agentTranscriptResult{
		SessionID: s.GetId(),
		Turns:     len(turns),
		Rows:      []transcriptLine{},
		Selection: agentSelection{FailedOnly: a.FailedOnly, Search: a.Search},
	}
	if a.Turn != nil {
		if *a.Turn > len(turns) {
			return nil, a.Bad(&a.Turn, fmt.Sprintf("must be at most %d, the number of turns of this session in the time range.", len(turns)), "1")
		}
		res.Selection.Turn = a.Turn
	}
	for _, sp := range s.GetSpans() {
		if genai.ModelCall(sp.GetOperation()) {
			res.Capture.LLMCalls++
			if sp.GetInput()+sp.GetOutput() != "" {
				res.Capture.CapturedCalls++
			}
		}
	}
	search := strings.ToLower(tool.Or(a.Search, ""))
	first := s.GetSpans()[0].GetStartTime().AsTime()
	var all []transcriptLine
	spans := map[int32][]*svcv2.AgentSpan{} // by turn
	for _, sp := range s.GetSpans() {
		spans[sp.GetTurn()] = append(spans[sp.GetTurn()], sp)
	}
	for _, t := range turns {
		if res.Selection.Turn != nil && *res.Selection.Turn != int(t.GetNumber()) {
			continue
		}
		if res.Selection.FailedOnly && t.GetErrorSpanCount() == 0 {
			continue
		}
		for _, line := range turnLines(t, spans[t.GetNumber()], a.PayloadChars) {
			line.OffsetMs -= ms(first.Sub(t.GetStartTime().AsTime()))
			line.OffsetMs = max(line.OffsetMs, 0)
			if line.Failed && res.FirstFailure == nil {
				res.FirstFailure = &line
			}
			if search == "" || strings.Contains(strings.ToLower(line.Name+" "+line.Text), search) {
				all = append(all, line)
			}
		}
	}
	res.RowCount = len(all)
	offset, limit := min(a.Offset, len(all)), a.Limit
	rows := all[offset:min(offset+limit, len(all))]
	res.Rows = append(res.Rows, rows...)
	res.Pagination = tool.NewPagination(offset, limit, len(rows), offset+len(rows) < len(all))
	res.Pagination.Total = new(len(all))
	text := tool.Page{
		Scope: []tool.Pair{
			tool.Labeled("Session", s.GetId()),
			w.Label(),
			tool.Labeled("Turns", fmt.Sprint(len(turns))),
			tool.Labeled("Messages recorded", fmt.Sprintf("%d of %d model calls", res.Capture.CapturedCalls, res.Capture.LLMCalls)),
		},
		Shown: res.Pagination.Shown(len(rows), "lines"),
	}
	if res.Capture.CapturedCalls == 0 {
		text.Notes = append(
			text.Notes,
			"No messages were recorded: the agent must send gen_ai.input.messages and gen_ai.output.messages (in Python, "+
				"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true).",
		)
	}
	if s.GetTruncated() {
		text.Notes = append(text.Notes, fmt.Sprintf("Only the first %d spans of the session were read.", len(s.GetSpans())))
	}
	b := tool.Block{Empty: "No line matches."}
	for _, l := range rows {
		b.Rows = append(b.Rows, l.text())
	}
	text.Blocks = []tool.Block{b}
	again := map[string]any{"session_id": s.GetId(), "start_time": w.Start, "end_time": w.End}
	if res.Pagination.NextOffset != nil {
		text.Next = append(
			text.Next,
			tool.Next(
				"get_agent_session_transcript",
				a.Again(
					w,
					map[string]any{"session_id": s.GetId(), "offset": *res.Pagination.NextOffset},
					&a.Turn,
					&a.FailedOnly,
					&a.Search,
					&a.PayloadChars,
					&a.Limit,
				),
				"the next lines",
			),
		)
	}
	if f := res.FirstFailure; f != nil && f.SpanID != "" {
		text.Next = append(
			text.Next,
			tool.Next("inspect_span", map[string]any{"trace_id": f.TraceID, "span_id": f.SpanID}, "the whole first failed step"),
		)
	} else {
		text.Next = append(text.Next, tool.Next("get_agent_session", again, "figures of the session"))
	}
	return &tool.Answer{Data: res, Text: text}, nil
}

func (l transcriptLine) text() string {
	if l.Kind == "turn" {
		return fmt.Sprintf(
			"\n**Turn %d** +%s, %s%s %s",
			l.Turn,
			tool.Seconds(l.OffsetMs),
			tool.Seconds(l.DurationMs),
			map[bool]string{true: ", FAILED"}[l.Failed],
			l.Name,
		)
	}
	row := "- " + l.Kind
	if l.Name != "" {
		row += " " + l.Name
	}
	if l.DurationMs > 0 {
		row += " (" + tool.Seconds(l.DurationMs) + ")"
	}
	if l.Failed {
		row += " FAILED `" + l.SpanID + "`"
	}
	return row + ": " + wording.OneLine(l.Text)
}

// turnLines returns the lines of a turn. Each message appears once, although model calls repeat the conversation so far.
func turnLines(t *svcv2.AgentTurn, spans []*svcv2.AgentSpan, most int) []transcriptLine {
	start, ordinal := t.GetStartTime().AsTime(), int(t.GetNumber())
	head := transcriptLine{Kind: "turn", Turn: ordinal, DurationMs: t.GetDurationMs(), Failed: t.GetFailed()}
	if t.GetKind() == "agent" {
		head.Name, head.SpanID, head.TraceID = t.GetAgent(), t.GetSpanId(), t.GetTraceId()
	}
	lines := []transcriptLine{head}
	said := map[string]bool{}
	say := func(sp *svcv2.AgentSpan, kind, name, text string) {
		key := kind + "\x00" + text
		if text == "" || said[key] {
			return
		}
		said[key] = true
		lines = append(
			lines,
			transcriptLine{
				Kind:     kind,
				Turn:     ordinal,
				OffsetMs: ms(sp.GetStartTime().AsTime().Sub(start)),
				Name:     name,
				Text:     wording.Clip(text, most),
				SpanID:   sp.GetSpanId(),
				TraceID:  sp.GetTraceId(),
			},
		)
	}
	for _, sp := range spans {
		switch op := sp.GetOperation(); {
		case op == genai.OperationTool:
			line := transcriptLine{
				Kind:       "tool",
				Turn:       ordinal,
				OffsetMs:   ms(sp.GetStartTime().AsTime().Sub(start)),
				DurationMs: sp.GetDurationMs(),
				Name:       sp.GetTool(),
				Failed:     sp.GetFailed(),
				Text: strings.TrimSpace(
					wording.Clip(sp.GetInput(), most) + " → " + wording.Clip(sp.GetOutput(), most),
				),
				SpanID:  sp.GetSpanId(),
				TraceID: sp.GetTraceId(),
			}
			if sp.GetFailed() && !strings.Contains(line.Text, sp.GetMessage()) {
				line.Text += " " + sp.GetErrorType() + ": " + wording.Clip(sp.GetMessage(), most)
			}
			lines = append(lines, line)
		case genai.ModelCall(op), op == genai.OperationTurn:
			say(sp, "system", "", sp.GetSystem())
			for _, m := range genai.Messages(sp.GetInput()) {
				kind := "prompt"
				if m.Role == "user" || m.Role == "system" || m.Role == "assistant" {
					kind = m.Role
				}
				if m.Role != "tool" { // results appear with their calls
					say(sp, kind, "", m.Text)
				}
			}
			if op == genai.OperationTurn { // its output is the output of its last call
				continue
			}
			for _, m := range genai.Messages(sp.GetOutput()) {
				say(sp, "assistant", sp.GetModel(), m.Text)
			}
			if sp.GetFailed() {
				lines = append(lines, transcriptLine{
					Kind:       "note",
					Turn:       ordinal,
					OffsetMs:   ms(sp.GetStartTime().AsTime().Sub(start)),
					DurationMs: sp.GetDurationMs(),
					Name:       sp.GetModel(),
					Failed:     true,
					Text: strings.TrimPrefix(
						sp.GetErrorType()+": "+wording.Clip(sp.GetMessage(), most),
						": ",
					),
					SpanID:  sp.GetSpanId(),
					TraceID: sp.GetTraceId(),
				})
			}
		}
	}
	return lines
}
