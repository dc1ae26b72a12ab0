package sessions

import (
	"context"
	"maps"
	"net/http"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type transcriptResult struct {
	SessionID  string            `json:"sessionId"`
	Events     []transcriptEvent `json:"events"`
	Pagination tool.Pagination   `json:"pagination"`
	Filters    transcriptFilters `json:"filters" summary:""`
}

type transcriptFilters struct {
	EventTypes    []string `json:"eventTypes"`
	OnlyErrors    bool     `json:"onlyErrors"`
	AroundTraceID *string  `json:"aroundTraceId,omitempty"`
}

type transcriptEvent struct {
	Timestamp      string  `json:"timestamp"`
	Type           string  `json:"type"`
	URL            string  `json:"url"`
	TraceID        string  `json:"traceId"`
	Level          string  `json:"level"`
	Message        string  `json:"message"`
	TargetSelector string  `json:"targetSelector"`
	TargetText     string  `json:"targetText"`
	NetMethod      string  `json:"netMethod"`
	NetURL         string  `json:"netUrl"`
	NetStatus      *uint32 `json:"netStatus,omitempty"`
	NetDurationMs  *uint32 `json:"netDurationMs,omitempty"`
}

func (e *transcriptEvent) what() string {
	switch e.Type {
	case "network":
		status := "no answer"
		if e.NetStatus != nil {
			status = wording.Number(float64(*e.NetStatus))
		}
		return e.NetMethod + " " + e.NetURL + " " + status
	case "click", "input":
		return strings.TrimSpace(e.TargetSelector + " " + e.TargetText)
	case "navigation":
		return e.URL
	}
	return strings.TrimSpace(e.Level + " " + e.Message)
}

type getSessionTranscriptArgs struct {
	tool.Call
	SessionID     string   `required:"true" example:"srep_…, from search_sessions"`
	EventTypes    []string `of:"GetSessionReplayTranscriptRequest.types"`
	OnlyErrors    *bool
	AroundTraceID *string `doc:"Only events of this trace." shape:"trace"`
	Offset        int     `default:"0" clamp:"0..{SearchOffset}"`
	Limit         int     `default:"{DefaultSessionEvents}" clamp:"1..{ToolSessionEvents}"`
}

func newGetSessionTranscript(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[transcriptResult](&tool.Tool{
		Name: "get_session_transcript", View: "/replays/{session_id}", Title: "Session transcript",
		Description: "Read the events of one session in order: pages, clicks, inputs, console, network, errors.",
		Run: tool.With(func(ctx context.Context, a *getSessionTranscriptArgs) (*tool.Answer, error) {
			offset, limit := a.Offset, a.Limit
			rows, more, err := tool.Collect(
				ctx,
				nil,
				offset,
				limit,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.SessionReplayTranscriptEvent, *string, error) {
					res, err := s.Replays.GetSessionReplayTranscript(ctx, &svcv2.GetSessionReplayTranscriptRequest{
						Id: a.SessionID, Limit: &limit, Cursor: cursor, Types: a.EventTypes, ErrorsOnly: a.OnlyErrors, TraceId: a.AroundTraceID,
					})
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			p := tool.NewPagination(offset, limit, len(rows), more)
			res := transcriptResult{
				SessionID:  a.SessionID,
				Events:     []transcriptEvent{},
				Pagination: p,
				Filters:    transcriptFilters{tool.NonNil(a.EventTypes), tool.Or(a.OnlyErrors, false), a.AroundTraceID},
			}
			var cells [][]string
			trace, worst := "", 0
			for _, r := range rows {
				e := transcriptEvent{
					wording.Clock(r.GetTimestamp().AsTime()),
					r.GetType(),
					wording.Clip(r.GetUrl(), 1000),
					r.GetTraceId(),
					r.GetLevel(),
					wording.Clip(r.GetMessage(), 2000),
					wording.Clip(r.GetTargetSelector(), 500),
					wording.Clip(r.GetTargetText(), 500),
					r.GetNetMethod(),
					wording.Clip(r.GetNetUrl(), 1000),
					r.NetStatus,
					r.NetDurationMs,
				}
				res.Events = append(res.Events, e)
				if bad := e.failure(); e.TraceID != "" && (trace == "" || bad > worst) {
					trace, worst = e.TraceID, bad
				}
				cells = append(cells, []string{e.Timestamp, e.Type, wording.Clip(e.what(), 240), e.TraceID})
			}
			text := tool.Page{Scope: []tool.Pair{tool.Labeled("Session", res.SessionID)}, Shown: p.Shown(len(rows), "events")}
			text.Blocks = []tool.Block{tool.Table("", "No event of this session matches.", []string{"Time", "Type", "Detail", "Trace"}, cells)}
			if trace != "" {
				why := "a trace that the session started"
				if worst > 0 {
					why = "the trace of what failed in the session"
				}
				text.Next = append(text.Next, tool.Next("inspect_trace", map[string]any{"trace_id": trace}, why))
			}
			if p.NextOffset != nil {
				args := map[string]any{"session_id": res.SessionID, "offset": *p.NextOffset, "limit": limit}
				maps.Copy(args, a.Chosen(&a.EventTypes, &a.OnlyErrors, &a.AroundTraceID))
				text.Next = append(text.Next, tool.Next("get_session_transcript", args, "the next page"))
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// failure ranks an event by its failure: a request that the server could not answer, an error of the page, a refused request. It is 0
// for all others.
func (e *transcriptEvent) failure() int {
	status := uint32(0)
	if e.NetStatus != nil {
		status = *e.NetStatus
	}
	switch {
	case status >= http.StatusInternalServerError:
		return 3
	case e.Type == "error":
		return 2
	case status >= http.StatusBadRequest:
		return 1
	}
	return 0
}
