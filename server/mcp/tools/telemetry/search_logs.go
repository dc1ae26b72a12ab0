package telemetry

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// MaxBodyText limits the characters that one log record adds to a result.
const MaxBodyText = 4000

type logsResult struct {
	TimeRange  tool.TimeRange     `json:"timeRange"`
	TotalCount float64            `json:"totalCount"`
	BySeverity map[string]float64 `json:"bySeverity"`
	Logs       []LogRow           `json:"logs"`
	Filters    logsFilters        `json:"filters" summary:""`
	Pagination tool.Pagination    `json:"pagination"`
}

type LogRow struct {
	Timestamp    string  `json:"timestamp"`
	SeverityText string  `json:"severityText"`
	ServiceName  string  `json:"serviceName"`
	Body         string  `json:"body"`
	TraceID      *string `json:"traceId,omitempty"`
	SpanID       *string `json:"spanId,omitempty"`
}

type logsFilters struct {
	Service     *string `json:"service,omitempty"`
	Environment *string `json:"environment,omitempty"`
	Severity    *string `json:"severity,omitempty"`
	Search      *string `json:"search,omitempty"`
	TraceID     *string `json:"traceId,omitempty"`
	SpanID      *string `json:"spanId,omitempty"`
}

type searchLogsArgs struct {
	tool.Window
	Service     *string `doc:"Exact name."`
	Environment *string
	Severity    *string `of:"LogFilters.severity"`
	Search      *string `doc:"Text in the body; letter case is ignored."`
	TraceID     *string `shape:"trace"`
	SpanID      *string `shape:"span"`
	Offset      int     `default:"0" clamp:"0..{SearchOffset}"`
	Limit       int     `default:"{DefaultToolLogs}" clamp:"1..{ToolRows}"`
}

func (a *searchLogsArgs) filters() []any {
	return []any{&a.Service, &a.Environment, &a.Severity, &a.Search, &a.TraceID, &a.SpanID}
}

func newSearchLogs(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[logsResult](&tool.Tool{
		Name:  "search_logs",
		Title: "Logs",
		Description: "Search log records by service, environment, severity, text of the body, trace or span. " +
			"The latest records come first. The window is at most " + limits.Lasts(limits.SearchWindow) + ".",
		Run: tool.With(func(ctx context.Context, a *searchLogsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			filters := &svcv2.LogFilters{
				ServiceName: a.Service, DeploymentEnvironment: a.Environment, Severity: a.Severity, BodySearch: a.Search,
				TraceId: a.TraceID, SpanId: a.SpanID,
			}
			offset, limit := a.Offset, a.Limit
			var rows []*svcv2.Log
			var more bool
			var counts *svcv2.LogBreakdown
			err = tool.Parallel(
				func() (err error) {
					rows, more, err = tool.Collect(ctx, nil, offset, limit, FetchLogs(s, w, filters))
					return err
				},
				func() (err error) {
					most := int32(100)
					counts, err = s.Logs.QueryLogBreakdown(
						ctx,
						&svcv2.QueryLogBreakdownRequest{
							StartTime:   w.StartProto(),
							EndTime:     w.EndProto(),
							Aggregation: "count",
							GroupBy:     "severity",
							Limit:       &most,
							Filters:     filters,
						},
					)
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			return logsAnswer(a, w, rows, counts, tool.NewPagination(offset, limit, len(rows), more)), nil
		}),
	})
}

func FetchLogs(s *tool.Clients, w tool.TimeRange, filters *svcv2.LogFilters) tool.Fetch[*svcv2.Log] {
	return func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Log, *string, error) {
		res, err := s.Logs.SearchLogs(ctx, &svcv2.SearchLogsRequest{
			StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, Filters: filters,
		})
		return res.GetData(), tool.NextCursor(res), err
	}
}

func ToLogRow(l *svcv2.Log) LogRow {
	return LogRow{
		wording.Clock(l.GetTimestamp().AsTime()),
		l.GetSeverityText(),
		l.GetServiceName(),
		wording.Clip(l.GetBody(), MaxBodyText),
		l.TraceId,
		l.SpanId,
	}
}

// LogTable shows the start of each body. The structured content has more.
func LogTable(heading, empty string, logs []LogRow) tool.Block {
	var cells [][]string
	for _, l := range logs {
		trace := ""
		if l.TraceID != nil {
			trace = *l.TraceID
		}
		cells = append(cells, []string{l.Timestamp, l.SeverityText, l.ServiceName, wording.Clip(l.Body, 300), trace})
	}
	return tool.Table(heading, empty, []string{"Time", "Severity", "Service", "Body", "Trace"}, cells)
}

func logsAnswer(a *searchLogsArgs, w tool.TimeRange, rows []*svcv2.Log, counts *svcv2.LogBreakdown, p tool.Pagination) *tool.Answer {
	res := logsResult{TimeRange: w, Logs: []LogRow{}, Pagination: p, Filters: logsFilters{
		Service: a.Service, Environment: a.Environment, Severity: a.Severity, Search: a.Search,
		TraceID: a.TraceID, SpanID: a.SpanID,
	}}
	res.BySeverity = map[string]float64{}
	var parts []string
	for _, c := range counts.GetData() {
		name := c.GetName()
		if name == "" {
			name = "none"
		}
		res.TotalCount += c.GetValue()
		res.BySeverity[name] += c.GetValue()
		parts = append(parts, name+" "+wording.Number(c.GetValue()))
	}
	trace := ""
	for _, r := range rows {
		res.Logs = append(res.Logs, ToLogRow(r))
		if trace == "" {
			trace = r.GetTraceId()
		}
	}
	text := tool.Page{Scope: a.Labels(w, a.filters()...), Shown: p.Shown(len(rows), "records")}
	if len(rows) > 0 {
		text.Scope = append(text.Scope, tool.Labeled("Matching", wording.Number(res.TotalCount)+" records ("+strings.Join(parts, ", ")+")"))
	}
	text.Blocks = []tool.Block{LogTable("", "No record matches. Try a longer time range, a shorter search text or fewer filters.", res.Logs)}
	if trace != "" {
		text.Next = append(
			text.Next,
			tool.Next("inspect_trace", map[string]any{"trace_id": trace}, "the trace of the latest record that has one"),
		)
	}
	if p.NextOffset != nil {
		text.Next = append(
			text.Next,
			tool.Next("search_logs", a.Again(w, map[string]any{"offset": *p.NextOffset}, append(a.filters(), &a.Limit)...), "the next page"),
		)
	}
	if len(rows) == 0 {
		text.Next = append(text.Next, tool.Next("list_services", a.Again(w, nil, &a.Environment), "the services that send data"))
	}
	return &tool.Answer{Data: res, Text: text}
}
