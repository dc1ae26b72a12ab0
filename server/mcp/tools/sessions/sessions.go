package sessions

import (
	"context"

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
