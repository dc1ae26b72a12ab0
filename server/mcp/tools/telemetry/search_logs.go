package telemetry

import (
	"cmp"
	"context"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/severity"
	"github.com/svc-observability/svc/server/wording"
)

// MaxBodyText limits the characters that one log record adds to a result.
const MaxBodyText = limits.ToolValue

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
	MinSeverity *string `json:"minSeverity,omitempty"`
	Search      *string `json:"search,omitempty"`
	TraceID     *string `json:"traceId,omitempty"`
	SpanID      *string `json:"spanId,omitempty"`
}

type searchLogsArgs struct {
	tool.Window
	Service     *string
	Environment *string
	Severity    *string `doc:"Only this one." of:"LogFilters.severity"`
	MinSeverity *string `doc:"This one and above." of:"LogFilters.severity"`
	Search      *string `doc:"Text in the body; letter case is ignored."`
	TraceID     *string `shape:"trace"`
	SpanID      *string `shape:"span"`
	Offset      int     `default:"0" clamp:"0..{SearchOffset}"`
	Limit       int     `default:"{DefaultToolLogs}" clamp:"1..{ToolRows}"`
}

func (a *searchLogsArgs) filters() []any {
	return []any{&a.Service, &a.Environment, &a.Severity, &a.MinSeverity, &a.Search, &a.TraceID, &a.SpanID}
}

func newSearchLogs(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[logsResult](&tool.Tool{
		Name: "search_logs", View: "/logs?q:service.name = {service}&q:severity = {severity}&q:severity >= {min_severity}&q:trace_id = " +
			"{trace_id}&q:span_id = {span_id}&q:{search}",
		Title: "Logs",
		Description: "Search log records by service, environment, severity, text of the body, trace or span. " +
			"The latest records come first. The window is at most " + limits.Lasts(limits.SearchWindow) + ".",
		Run: tool.With(func(ctx context.Context, a *searchLogsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			filters := &svcv2.LogFilters{
				ServiceName: a.Service, DeploymentEnvironment: a.Environment, Severity: a.Severity, MinimumSeverity: lowest(a.MinSeverity),
				BodySearch: a.Search, TraceId: a.TraceID, SpanId: a.SpanID,
			}
			offset, limit := a.Offset, a.Limit
			var rows []*svcv2.Log
			var more bool
			var counts []*svcv2.TelemetryGroup
			err = atonce.Run(
				func() (err error) {
					rows, more, err = tool.Collect(ctx, nil, offset, limit, FetchLogs(s, w, filters))
					return err
				},
				func() (err error) { counts, err = severityCounts(ctx, s, w, filters); return err },
			)
			if err != nil {
				return nil, err
			}
			return logsAnswer(a, w, rows, counts, tool.NewPagination(offset, limit, len(rows), more)), nil
		}),
	})
}

// severityCounts counts the records of a time range by severity. A breakdown of more than a day may be refused, so each day is read by
// itself.
func severityCounts(ctx context.Context, s *tool.Clients, w tool.TimeRange, filters *svcv2.LogFilters) ([]*svcv2.TelemetryGroup, error) {
	var days []tool.TimeRange
	for from := w.From; from.Before(w.To); from = from.Add(limits.UnfilteredBreakdownWindow) {
		end := from.Add(limits.UnfilteredBreakdownWindow - 1) // the end of a window belongs to it
		if !end.Before(w.To) {
			end = w.To
		}
		days = append(days, tool.Period(from, end))
	}
	parts := make([]*svcv2.LogBreakdown, len(days))
	most := int32(100)
	var reads []func() error
	for i, day := range days {
		reads = append(reads, func() (err error) {
			parts[i], err = s.Logs.QueryLogBreakdown(ctx, &svcv2.QueryLogBreakdownRequest{
				StartTime: day.StartProto(), EndTime: day.EndProto(), Aggregation: "count", GroupBy: "severity", Limit: &most, Filters: filters,
			})
			return err
		})
	}
	if err := tool.InTurns(reads); err != nil {
		return nil, err
	}
	var sum []*svcv2.TelemetryGroup
	for _, p := range parts {
		for _, row := range p.GetData() {
			at := slices.IndexFunc(sum, func(r *svcv2.TelemetryGroup) bool { return r.GetName() == row.GetName() })
			if at < 0 {
				sum = append(sum, row)
			} else {
				sum[at].Value += row.GetValue()
			}
		}
	}
	slices.SortStableFunc(sum, func(x, y *svcv2.TelemetryGroup) int { return cmp.Compare(y.GetValue(), x.GetValue()) })
	return sum, nil
}

// lowest is the lowest number of a severity text, or nil without one.
func lowest(text *string) *int32 {
	if text == nil {
		return nil
	}
	return new(int32(severity.Number(strings.ToUpper(*text))))
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

func logsAnswer(a *searchLogsArgs, w tool.TimeRange, rows []*svcv2.Log, counts []*svcv2.TelemetryGroup, p tool.Pagination) *tool.Answer {
	res := logsResult{TimeRange: w, Logs: []LogRow{}, Pagination: p, Filters: logsFilters{
		Service: a.Service, Environment: a.Environment, Severity: a.Severity, MinSeverity: a.MinSeverity, Search: a.Search,
		TraceID: a.TraceID, SpanID: a.SpanID,
	}}
	res.BySeverity = map[string]float64{}
	var parts []string
	for _, c := range counts {
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
	if a.Severity != nil && len(severity.From(int(*lowest(a.Severity)))) > 1 {
		text.Notes = append(text.Notes, "severity is exact: records of a higher severity are left out. min_severity takes them, too.")
	}
	switch {
	case trace != "":
		text.Next = append(
			text.Next,
			tool.Next("inspect_trace", map[string]any{"trace_id": trace}, "the trace of the latest record that has one"),
		)
	case len(rows) > 0 && rows[0].GetServiceName() != "":
		text.Next = append(text.Next, tool.Next("diagnose_service",
			a.Again(w, map[string]any{"service": rows[0].GetServiceName()}, &a.Environment),
			"what else changed in the service of the latest record"))
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
