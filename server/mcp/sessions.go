package mcp

import (
	"context"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type sessionsResult struct {
	TimeRange     timeRange      `json:"timeRange"`
	Sessions      []sessionRow   `json:"sessions" jsonschema:"latest first"`
	Pagination    pagination     `json:"pagination"`
	Filters       map[string]any `json:"filters"`
	EventFiltered bool           `json:"eventFiltered"`
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

func sessionIDParam() param {
	return param{name: "session_id", kind: kindText, required: true, example: "srep_…, from search_sessions"}
}

func sessionFilterNames() []string {
	return []string{
		"user_id", "user_search", "group_name", "service", "browser", "country", "device_type", "has_errors", "duration_min_ms", "duration_max_ms", "active_min_ms",
		"active_max_ms", "event_type", "level", "http_status_min", "url_contains", "message_contains", "trace_id",
	}
}

func newSearchSessions(s *Server) (*tool, error) {
	text := func(name, description string) param {
		return param{name: name, kind: kindText, description: description}
	}
	least := func(name string) param { return param{name: name, kind: kindNumber, minimum: num(0)} }
	return define[sessionsResult](&tool{
		name: "search_sessions", title: "Sessions",
		description: "Search browser sessions of at most 7 days, by user, device, errors, or by what happened in them.",
		params: append(windowParams(), text("user_id", ""), text("user_search", "Text in name, email or id."), text("group_name", ""), serviceParam(), text("browser", ""), text("country", ""), text("device_type", ""),
			param{name: "has_errors", kind: kindFlag}, least("duration_min_ms"), least("duration_max_ms"), least("active_min_ms"), least("active_max_ms"),
			param{name: "event_type", kind: kindText, description: "One event must fit this and the next five.", enum: sessionEventTypes()}, text("level", ""),
			param{name: "http_status_min", kind: kindInteger, minimum: num(0), maximum: num(999)}, text("url_contains", ""), text("message_contains", ""), traceIDParam("", false), offsetParam(), limitParam(25, 200)),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(maxSearch)
			if err != nil {
				return nil, err
			}
			var events *svcv2.SessionEventFilters
			for _, name := range []string{"event_type", "level", "http_status_min", "url_contains", "message_contains", "trace_id"} {
				if _, ok := a.values[name]; ok {
					events = &svcv2.SessionEventFilters{Type: a.text("event_type"), Level: a.text("level"), UrlSearch: a.text("url_contains"), MessageSearch: a.text("message_contains"), TraceId: a.text("trace_id")}
				}
			}
			if n := a.number("http_status_min"); n != nil {
				status := int32(*n)
				events.MinStatus = &status
			}
			offset, limit := a.integer("offset"), a.integer("limit")
			rows, more, err := collect(ctx, nil, offset, limit, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.SessionReplaySummary, *string, error) {
				res, err := s.clients.replays.SearchSessionReplays(ctx, &svcv2.SearchSessionReplaysRequest{
					StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, ServiceName: a.text("service"), Browser: a.text("browser"), Country: a.text("country"),
					DeviceType: a.text("device_type"), UserId: a.text("user_id"), UserSearch: a.text("user_search"), GroupName: a.text("group_name"), HasErrors: a.flag("has_errors"),
					DurationMinMs: a.number("duration_min_ms"), DurationMaxMs: a.number("duration_max_ms"), ActiveTimeMinMs: a.number("active_min_ms"), ActiveTimeMaxMs: a.number("active_max_ms"), Events: events,
				})
				return res.GetData(), nextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			p := newPagination(offset, limit, len(rows), more)
			res := sessionsResult{TimeRange: w, Sessions: []sessionRow{}, Pagination: p, Filters: a.echo(sessionFilterNames()...), EventFiltered: events != nil}
			var cells [][]string
			pick := ""
			for _, r := range rows {
				row := sessionRow{
					r.GetId(), r.GetUserId(), r.GetUserName(), r.GetUserEmail(), r.GetGroupId(), r.GetGroupName(), clock(r.GetStartTime().AsTime()), r.DurationMs, r.GetStatus(), r.GetBrowserName(), r.GetOsName(), r.GetDeviceType(),
					r.GetCountry(), r.GetServiceName(), int(r.GetPageViews()), int(r.GetClickCount()), int(r.GetErrorCount()), int(r.GetTraceCount()), clip(r.GetUrlInitial(), 1000), r.MatchCount,
				}
				res.Sessions = append(res.Sessions, row)
				if pick == "" || row.ErrorCount > 0 && rows[0].GetErrorCount() == 0 {
					pick = row.SessionID
				}
				who := row.UserName
				if who == "" {
					who = row.UserID
				}
				cells = append(cells, []string{row.SessionID, row.StartTime, who, row.BrowserName, row.Country, number(r.GetDurationMs() / 1000), number(float64(row.PageViews)), number(float64(row.ErrorCount)), clip(row.URLInitial, 100)})
			}
			text := page{scope: a.scope(w, sessionFilterNames()...), shown: p.shown(len(rows), "sessions")}
			text.blocks = []block{table("", "No session matches. Try a longer time range or fewer filters.", []string{"Session", "Start", "User", "Browser", "Country", "s", "Pages", "Errors", "First page"}, cells)}
			if pick != "" {
				text.next = append(text.next, suggestion{"get_session_transcript", map[string]any{"session_id": pick}, "what happened in one of them"}, suggestion{"get_session_traces", map[string]any{"session_id": pick}, "its traces"})
			}
			if p.NextOffset != nil {
				text.next = append(text.next, suggestion{"search_sessions", a.again(w, map[string]any{"offset": *p.NextOffset}, append(sessionFilterNames(), "limit")...), "the next page"})
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

func sessionEventTypes() []string {
	return []string{"navigation", "click", "input", "console", "network", "error", "custom"}
}

type transcriptResult struct {
	SessionID  string            `json:"sessionId"`
	Events     []transcriptEvent `json:"events"`
	Pagination pagination        `json:"pagination"`
	Filters    transcriptFilters `json:"filters"`
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
			status = number(float64(*e.NetStatus))
		}
		return e.NetMethod + " " + e.NetURL + " " + status
	case "click", "input":
		return strings.TrimSpace(e.TargetSelector + " " + e.TargetText)
	case "navigation":
		return e.URL
	}
	return strings.TrimSpace(e.Level + " " + e.Message)
}

func newGetSessionTranscript(s *Server) (*tool, error) {
	return define[transcriptResult](&tool{
		name: "get_session_transcript", title: "Session transcript",
		description: "Read what happened in one session, in order: pages, clicks, inputs, console, network, errors.",
		params: []param{
			sessionIDParam(),
			{name: "event_types", kind: kindList, enum: sessionEventTypes()},
			{name: "only_errors", kind: kindFlag},
			{name: "around_trace_id", kind: kindText, description: "Only events of this trace.", pattern: "^[0-9a-fA-F]{32}$", form: "32 hexadecimal digits", example: "4bf92f3577b34da6a3ce929d0e0e4736"},
			offsetParam(), limitParam(100, 250),
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			offset, limit := a.integer("offset"), a.integer("limit")
			rows, more, err := collect(ctx, nil, offset, limit, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.SessionReplayTranscriptEvent, *string, error) {
				res, err := s.clients.replays.GetSessionReplayTranscript(ctx, &svcv2.GetSessionReplayTranscriptRequest{
					Id: *a.text("session_id"), Limit: &limit, Cursor: cursor, Types: a.list("event_types"), ErrorsOnly: a.flag("only_errors"), TraceId: a.text("around_trace_id"),
				})
				return res.GetData(), nextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			p := newPagination(offset, limit, len(rows), more)
			res := transcriptResult{SessionID: *a.text("session_id"), Events: []transcriptEvent{}, Pagination: p, Filters: transcriptFilters{listOf(a.list("event_types")), a.isSet("only_errors"), a.text("around_trace_id")}}
			var cells [][]string
			trace := ""
			for _, r := range rows {
				e := transcriptEvent{
					clock(r.GetTimestamp().AsTime()), r.GetType(), clip(r.GetUrl(), 1000), r.GetTraceId(), r.GetLevel(), clip(r.GetMessage(), 2000), clip(r.GetTargetSelector(), 500), clip(r.GetTargetText(), 500),
					r.GetNetMethod(), clip(r.GetNetUrl(), 1000), r.NetStatus, r.NetDurationMs,
				}
				res.Events = append(res.Events, e)
				if e.TraceID != "" && (trace == "" || e.Type == "error") {
					trace = e.TraceID
				}
				cells = append(cells, []string{e.Timestamp, e.Type, clip(e.what(), 240), e.TraceID})
			}
			text := page{scope: []pair{{"Session", res.SessionID}}, shown: p.shown(len(rows), "events")}
			text.blocks = []block{table("", "No event of this session matches.", []string{"Time", "Type", "What", "Trace"}, cells)}
			if trace != "" {
				text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": trace}, "a trace that it began"})
			}
			if p.NextOffset != nil {
				args := map[string]any{"session_id": res.SessionID, "offset": *p.NextOffset, "limit": limit}
				for _, name := range []string{"event_types", "only_errors", "around_trace_id"} {
					if v, ok := a.values[name]; ok {
						args[name] = v
					}
				}
				text.next = append(text.next, suggestion{"get_session_transcript", args, "the next page"})
			}
			return &answer{data: res, text: text}, nil
		},
	})
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

func newGetSessionTraces(s *Server) (*tool, error) {
	return define[sessionTracesResult](&tool{
		name: "get_session_traces", title: "Session traces",
		description: "Read one session and the traces that it began.",
		params:      []param{sessionIDParam(), limitParam(50, 100)},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			id := *a.text("session_id")
			r, err := s.clients.replays.GetSessionReplay(ctx, &svcv2.GetSessionReplayRequest{Id: id})
			if err != nil {
				return nil, err
			}
			limit := int32(a.integer("limit"))
			list, err := s.clients.replays.ListSessionReplayTraces(ctx, &svcv2.ListSessionReplayTracesRequest{Id: id, Limit: &limit})
			if err != nil {
				return nil, err
			}
			res := sessionTracesResult{TotalTraceCount: len(r.GetTraceIds()), Traces: []sessionTrace{}, Session: sessionDetail{
				SessionID: id, StartTime: clock(r.GetStartTime().AsTime()), DurationMs: r.DurationMs, Status: r.GetStatus(), UserID: r.GetUserId(), URLInitial: clip(r.GetUrlInitial(), 1000), BrowserName: r.GetBrowserName(),
				OSName: r.GetOsName(), DeviceType: r.GetDeviceType(), Country: r.GetCountry(), ServiceName: r.GetServiceName(), PageViews: int(r.GetPageViews()), ClickCount: int(r.GetClickCount()),
				ErrorCount: int(r.GetErrorCount()), ActiveTimeMs: r.ActiveTimeMs, IdleTimeMs: r.IdleTimeMs,
			}}
			if r.GetEndTime() != nil {
				end := clock(r.GetEndTime().AsTime())
				res.Session.EndTime = &end
			}
			var cells [][]string
			pick := ""
			for _, t := range list.GetData() {
				row := sessionTrace{t.GetTraceId(), clock(t.GetStartTime().AsTime()), t.GetDurationMs(), clip(t.GetRootSpanName(), 300), t.GetRootServiceName(), int(t.GetSpanCount()), t.GetHasError()}
				res.Traces = append(res.Traces, row)
				failed := ""
				if row.HasError {
					failed = "error"
				}
				if pick == "" || row.HasError {
					pick = row.TraceID
				}
				cells = append(cells, []string{row.TraceID, row.StartTime, row.RootServiceName, clip(row.RootSpanName, 120), number(row.DurationMs), number(float64(row.SpanCount)), failed})
			}
			text := page{scope: []pair{{"Session", id}, {"Start", res.Session.StartTime}, {"User", res.Session.UserID}, {"Browser", res.Session.BrowserName}, {"First page", res.Session.URLInitial}}}
			text.blocks = []block{table("Traces", "No span of this session was found.", []string{"Trace", "Start", "Service", "Root span", "ms", "Spans", ""}, cells)}
			text.shown = shownOf(len(cells), list.GetHasMore(), "traces")
			if pick != "" {
				text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": pick}, "one of them in full"})
			}
			text.next = append(text.next, suggestion{"get_session_transcript", map[string]any{"session_id": id}, "what happened in the session"})
			return &answer{data: res, text: text}, nil
		},
	})
}

const productWindow = 7 * 24 * time.Hour
