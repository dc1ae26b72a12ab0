package sessions

import (
	"context"
	"maps"
	"net/http"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type sessionsResult struct {
	TimeRange     tool.TimeRange  `json:"timeRange"`
	Sessions      []sessionRow    `json:"sessions"`
	Pagination    tool.Pagination `json:"pagination"`
	Filters       map[string]any  `json:"filters"`
	EventFiltered bool            `json:"eventFiltered"`
}

type sessionRow struct {
	SessionID   string   `json:"sessionId"`
	UserID      string   `json:"userId"`
	UserName    string   `json:"userName"`
	UserEmail   string   `json:"userEmail"`
	GroupID     string   `json:"groupId"`
	GroupName   string   `json:"groupName"`
	StartTime   string   `json:"startTime"`
	DurationMs  *float64 `json:"durationMs,omitempty"`
	Status      string   `json:"status"`
	BrowserName string   `json:"browserName"`
	OSName      string   `json:"osName"`
	DeviceType  string   `json:"deviceType"`
	Country     string   `json:"country"`
	ServiceName string   `json:"serviceName"`
	PageViews   int      `json:"pageViews"`
	ClickCount  int      `json:"clickCount"`
	ErrorCount  int      `json:"errorCount"`
	TraceCount  int      `json:"traceCount"`
	URLInitial  string   `json:"urlInitial"`
	MatchCount  *uint32  `json:"matchCount,omitempty"`
}

type searchSessionsArgs struct {
	tool.Window
	UserID          *string
	UserSearch      *string `doc:"Text in name, email or id."`
	GroupName       *string
	Service         *string
	Browser         *string
	Country         *string
	DeviceType      *string
	HasErrors       *bool
	DurationMinMs   *float64 `of:"SearchSessionReplaysRequest.duration_min_ms"`
	DurationMaxMs   *float64 `of:"SearchSessionReplaysRequest.duration_max_ms"`
	ActiveMinMs     *float64 `of:"SearchSessionReplaysRequest.active_time_min_ms"`
	ActiveMaxMs     *float64 `of:"SearchSessionReplaysRequest.active_time_max_ms"`
	EventType       *string  `doc:"One event must match this and the next five parameters." of:"SessionEventFilters.type"`
	Level           *string
	HTTPStatusMin   *int `of:"SessionEventFilters.min_status"`
	URLContains     *string
	MessageContains *string
	TraceID         *string `shape:"trace"`
	Offset          int     `default:"0" clamp:"0..{SearchOffset}"`
	Limit           int     `default:"{DefaultToolSessions}" clamp:"1..{ToolRows}"`
}

func (a *searchSessionsArgs) filters() []any {
	return []any{
		&a.UserID,
		&a.UserSearch,
		&a.GroupName,
		&a.Service,
		&a.Browser,
		&a.Country,
		&a.DeviceType,
		&a.HasErrors,
		&a.DurationMinMs,
		&a.DurationMaxMs,
		&a.ActiveMinMs,
		&a.ActiveMaxMs,
		&a.EventType,
		&a.Level,
		&a.HTTPStatusMin,
		&a.URLContains,
		&a.MessageContains,
		&a.TraceID,
	}
}

func newSearchSessions(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[sessionsResult](&tool.Tool{
		Name: "search_sessions", View: "/replays", Title: "Sessions",
		Description: "Search browser sessions in at most " + limits.Lasts(limits.SearchWindow) + " by user, device, errors or events.",
		Run: tool.With(func(ctx context.Context, a *searchSessionsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			var events *svcv2.SessionEventFilters
			for _, field := range []any{&a.EventType, &a.Level, &a.HTTPStatusMin, &a.URLContains, &a.MessageContains, &a.TraceID} {
				if a.Given(field) {
					events = &svcv2.SessionEventFilters{
						Type:          a.EventType,
						Level:         a.Level,
						UrlSearch:     a.URLContains,
						MessageSearch: a.MessageContains,
						TraceId:       a.TraceID,
					}
				}
			}
			if n := a.HTTPStatusMin; n != nil {
				status := int32(*n)
				events.MinStatus = &status
			}
			offset, limit := a.Offset, a.Limit
			rows, more, err := tool.Collect(
				ctx,
				nil,
				offset,
				limit,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.SessionReplaySummary, *string, error) {
					res, err := s.Replays.SearchSessionReplays(ctx, &svcv2.SearchSessionReplaysRequest{
						StartTime:       w.StartProto(),
						EndTime:         w.EndProto(),
						Limit:           &limit,
						Cursor:          cursor,
						ServiceName:     a.Service,
						Browser:         a.Browser,
						Country:         a.Country,
						DeviceType:      a.DeviceType,
						UserId:          a.UserID,
						UserSearch:      a.UserSearch,
						GroupName:       a.GroupName,
						HasErrors:       a.HasErrors,
						DurationMinMs:   a.DurationMinMs,
						DurationMaxMs:   a.DurationMaxMs,
						ActiveTimeMinMs: a.ActiveMinMs,
						ActiveTimeMaxMs: a.ActiveMaxMs,
						Events:          events,
					})
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			p := tool.NewPagination(offset, limit, len(rows), more)
			res := sessionsResult{
				TimeRange:     w,
				Sessions:      []sessionRow{},
				Pagination:    p,
				Filters:       a.Echo(a.filters()...),
				EventFiltered: events != nil,
			}
			var cells [][]string
			pick := ""
			for _, r := range rows {
				row := sessionRow{
					r.GetId(),
					r.GetUserId(),
					r.GetUserName(),
					r.GetUserEmail(),
					r.GetGroupId(),
					r.GetGroupName(),
					wording.Clock(r.GetStartTime().AsTime()),
					r.DurationMs,
					r.GetStatus(),
					r.GetBrowserName(),
					r.GetOsName(),
					r.GetDeviceType(),
					r.GetCountry(),
					r.GetServiceName(),
					int(r.GetPageViews()),
					int(r.GetClickCount()),
					int(r.GetErrorCount()),
					int(r.GetTraceCount()),
					wording.Clip(r.GetUrlInitial(), 1000),
					r.MatchCount,
				}
				res.Sessions = append(res.Sessions, row)
				if pick == "" || row.ErrorCount > 0 && rows[0].GetErrorCount() == 0 {
					pick = row.SessionID
				}
				who := row.UserName
				if who == "" {
					who = row.UserID
				}
				cells = append(
					cells,
					[]string{
						row.SessionID,
						row.StartTime,
						who,
						row.BrowserName,
						row.Country,
						wording.Number(r.GetDurationMs() / 1000),
						wording.Number(float64(row.PageViews)),
						wording.Number(float64(row.ErrorCount)),
						wording.Clip(row.URLInitial, 100),
					},
				)
			}
			text := tool.Page{Scope: a.Labels(w, a.filters()...), Shown: p.Shown(len(rows), "sessions")}
			text.Blocks = []tool.Block{
				tool.Table(
					"",
					"No session matches. Try a longer time range or fewer filters.",
					[]string{"Session", "Start", "User", "Browser", "Country", "s", "Pages", "Errors", "First page"},
					cells,
				),
			}
			if pick != "" {
				text.Next = append(
					text.Next,
					tool.Next("get_session_transcript", map[string]any{"session_id": pick}, "the events of one of them"),
					tool.Next("get_session_traces", map[string]any{"session_id": pick}, "its traces"),
				)
			}
			if p.NextOffset != nil {
				text.Next = append(
					text.Next,
					tool.Next("search_sessions", a.Again(w, map[string]any{"offset": *p.NextOffset}, append(a.filters(), &a.Limit)...), "the next page"),
				)
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

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
					wording.Clock(
						r.GetTimestamp().AsTime(),
					),
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
