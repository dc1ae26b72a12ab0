package sessions

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type sessionTracesResult struct {
	Session         sessionDetail  `json:"session"`
	TotalTraceCount int            `json:"totalTraceCount"`
	Traces          []sessionTrace `json:"traces"`
}

type sessionDetail struct {
	SessionID    string   `json:"sessionId"`
	StartTime    string   `json:"startTime"`
	EndTime      *string  `json:"endTime,omitempty"`
	DurationMs   *float64 `json:"durationMs,omitempty"`
	Status       string   `json:"status"`
	UserID       string   `json:"userId"`
	URLInitial   string   `json:"urlInitial"`
	BrowserName  string   `json:"browserName"`
	OSName       string   `json:"osName"`
	DeviceType   string   `json:"deviceType"`
	Country      string   `json:"country"`
	ServiceName  string   `json:"serviceName"`
	PageViews    int      `json:"pageViews"`
	ClickCount   int      `json:"clickCount"`
	ErrorCount   int      `json:"errorCount"`
	ActiveTimeMs *float64 `json:"activeTimeMs,omitempty"`
	IdleTimeMs   *float64 `json:"idleTimeMs,omitempty"`
}

type sessionTrace struct {
	TraceID         string  `json:"traceId"`
	StartTime       string  `json:"startTime"`
	DurationMs      float64 `json:"durationMs"`
	RootSpanName    string  `json:"rootSpanName"`
	RootServiceName string  `json:"rootServiceName"`
	SpanCount       int     `json:"spanCount"`
	HasError        bool    `json:"hasError"`
}

type getSessionTracesArgs struct {
	tool.Call
	SessionID string `required:"true" example:"srep_…, from search_sessions"`
	Limit     int    `default:"{DefaultToolNames}" of:"ListSessionReplayTracesRequest.limit" clamp:""`
}

func newGetSessionTraces(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[sessionTracesResult](&tool.Tool{
		Name: "get_session_traces", View: "/replays/{session_id}", Title: "Session traces",
		Description: "Read one session and the traces that it started.",
		Run: tool.With(func(ctx context.Context, a *getSessionTracesArgs) (*tool.Answer, error) {
			id := a.SessionID
			r, err := s.Replays.GetSessionReplay(ctx, &svcv2.GetSessionReplayRequest{Id: id})
			if err != nil {
				return nil, err
			}
			limit := int32(a.Limit)
			list, err := s.Replays.ListSessionReplayTraces(ctx, &svcv2.ListSessionReplayTracesRequest{Id: id, Limit: &limit})
			if err != nil {
				return nil, err
			}
			res := sessionTracesResult{TotalTraceCount: len(r.GetTraceIds()), Traces: []sessionTrace{}, Session: sessionDetail{
				SessionID:    id,
				StartTime:    wording.Clock(r.GetStartTime().AsTime()),
				DurationMs:   r.DurationMs,
				Status:       r.GetStatus(),
				UserID:       r.GetUserId(),
				URLInitial:   wording.Clip(r.GetUrlInitial(), 1000),
				BrowserName:  r.GetBrowserName(),
				OSName:       r.GetOsName(),
				DeviceType:   r.GetDeviceType(),
				Country:      r.GetCountry(),
				ServiceName:  r.GetServiceName(),
				PageViews:    int(r.GetPageViews()),
				ClickCount:   int(r.GetClickCount()),
				ErrorCount:   int(r.GetErrorCount()),
				ActiveTimeMs: r.ActiveTimeMs,
				IdleTimeMs:   r.IdleTimeMs,
			}}
			if r.GetEndTime() != nil {
				end := wording.Clock(r.GetEndTime().AsTime())
				res.Session.EndTime = &end
			}
			var cells [][]string
			pick := ""
			for _, t := range list.GetData() {
				row := sessionTrace{
					t.GetTraceId(),
					wording.Clock(t.GetStartTime().AsTime()),
					t.GetDurationMs(),
					wording.Clip(t.GetRootSpanName(), 300),
					t.GetRootServiceName(),
					int(t.GetSpanCount()),
					t.GetHasError(),
				}
				res.Traces = append(res.Traces, row)
				failed := ""
				if row.HasError {
					failed = "error"
				}
				if pick == "" || row.HasError {
					pick = row.TraceID
				}
				cells = append(
					cells,
					[]string{
						row.TraceID,
						row.StartTime,
						row.RootServiceName,
						wording.Clip(row.RootSpanName, 120),
						wording.Number(row.DurationMs),
						wording.Number(float64(row.SpanCount)),
						failed,
					},
				)
			}
			text := tool.Page{
				Scope: []tool.Pair{
					tool.Labeled("Session", id),
					tool.Labeled("Start", res.Session.StartTime),
					tool.Labeled("User", res.Session.UserID),
					tool.Labeled("Browser", res.Session.BrowserName),
					tool.Labeled("First page", res.Session.URLInitial),
				},
			}
			text.Blocks = []tool.Block{
				tool.Table(
					"Traces",
					"No span of this session was found.",
					[]string{"Trace", "Start", "Service", "Root span", "ms", "Spans", ""},
					cells,
				),
			}
			text.Shown = tool.ShownOf(len(cells), list.GetHasMore(), "traces")
			if pick != "" {
				text.Next = append(text.Next, tool.Next("inspect_trace", map[string]any{"trace_id": pick}, "one of them in full"))
			}
			text.Next = append(text.Next, tool.Next("get_session_transcript", map[string]any{"session_id": id}, "the events of the session"))
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}
