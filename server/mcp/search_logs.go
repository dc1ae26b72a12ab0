package mcp

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// maxBodyText bounds what one log record may add to a result.
const maxBodyText = 4000

type logsResult struct {
	TimeRange  timeRange          `json:"timeRange"`
	TotalCount float64            `json:"totalCount"`
	BySeverity map[string]float64 `json:"bySeverity"`
	Logs       []logRow           `json:"logs" jsonschema:"latest first"`
	Filters    logsFilters        `json:"filters"`
	Pagination pagination         `json:"pagination"`
}

type logRow struct {
	Timestamp    string  `json:"timestamp" jsonschema:"RFC 3339"`
	SeverityText string  `json:"severityText"`
	ServiceName  string  `json:"serviceName"`
	Body         string  `json:"body" jsonschema:"the message; one of more than 4000 characters is cut and says so"`
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

func logFilterNames() []string {
	return []string{"service", "environment", "severity", "search", "trace_id", "span_id"}
}

func traceIDParam(description string, required bool) param {
	return param{
		name: "trace_id", kind: kindText, description: description, required: required, pattern: "^[0-9a-fA-F]{32}$", form: "32 hexadecimal digits",
		example: "4bf92f3577b34da6a3ce929d0e0e4736",
	}
}

func newSearchLogs(s *Server) (*tool, error) {
	output, err := outputOf[logsResult](nil)
	if err != nil {
		return nil, err
	}
	return &tool{
		name: "search_logs", title: "Logs",
		description: "Search log records in a time range of at most 7 days, latest first, by service, severity, text of the body, or trace.",
		params: append(windowParams(), serviceParam(), environmentParam(),
			param{name: "severity", kind: kindText, enum: []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}},
			param{name: "search", kind: kindText, description: "Text in the body, any letter case."},
			traceIDParam("", false), spanIDParam("", false),
			offsetParam(), limitParam(30, 200)),
		output: output,
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(maxSearch)
			if err != nil {
				return nil, err
			}
			filters := &svcv2.LogFilters{
				ServiceName: a.text("service"), DeploymentEnvironment: a.text("environment"), Severity: a.text("severity"), BodySearch: a.text("search"),
				TraceId: a.text("trace_id"), SpanId: a.text("span_id"),
			}
			offset, limit := a.integer("offset"), a.integer("limit")
			var rows []*svcv2.Log
			var more bool
			var counts *svcv2.LogBreakdown
			err = parallel(
				func() (err error) {
					rows, more, err = collect(ctx, nil, offset, limit, s.fetchLogs(w, filters))
					return err
				},
				func() (err error) {
					most := int32(100)
					counts, err = s.clients.logs.QueryLogBreakdown(ctx, &svcv2.QueryLogBreakdownRequest{StartTime: w.startProto(), EndTime: w.endProto(), Aggregation: "count", GroupBy: "severity", Limit: &most, Filters: filters})
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			return logsAnswer(a, w, rows, counts, newPagination(offset, limit, len(rows), more)), nil
		},
	}, nil
}

func (s *Server) fetchLogs(w timeRange, filters *svcv2.LogFilters) fetch[*svcv2.Log] {
	return func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Log, *string, error) {
		res, err := s.clients.logs.SearchLogs(ctx, &svcv2.SearchLogsRequest{
			StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, Filters: filters,
		})
		return res.GetData(), nextCursor(res), err
	}
}

func toLogRow(l *svcv2.Log) logRow {
	return logRow{clock(l.GetTimestamp().AsTime()), l.GetSeverityText(), l.GetServiceName(), clip(l.GetBody(), maxBodyText), l.TraceId, l.SpanId}
}

// logTable shows the start of each body; the structured content has more.
func logTable(heading, empty string, logs []logRow) block {
	var cells [][]string
	for _, l := range logs {
		trace := ""
		if l.TraceID != nil {
			trace = *l.TraceID
		}
		cells = append(cells, []string{l.Timestamp, l.SeverityText, l.ServiceName, clip(l.Body, 300), trace})
	}
	return table(heading, empty, []string{"Time", "Severity", "Service", "Body", "Trace"}, cells)
}

func logsAnswer(a *arguments, w timeRange, rows []*svcv2.Log, counts *svcv2.LogBreakdown, p pagination) *answer {
	res := logsResult{TimeRange: w, Logs: []logRow{}, Pagination: p, Filters: logsFilters{
		Service: a.text("service"), Environment: a.text("environment"), Severity: a.text("severity"), Search: a.text("search"),
		TraceID: a.text("trace_id"), SpanID: a.text("span_id"),
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
		parts = append(parts, name+" "+number(c.GetValue()))
	}
	trace := ""
	for _, r := range rows {
		res.Logs = append(res.Logs, toLogRow(r))
		if trace == "" {
			trace = r.GetTraceId()
		}
	}
	text := page{scope: a.scope(w, logFilterNames()...), shown: p.shown(len(rows), "records")}
	if len(rows) > 0 {
		text.scope = append(text.scope, pair{"Matching", number(res.TotalCount) + " records (" + strings.Join(parts, ", ") + ")"})
	}
	text.blocks = []block{logTable("", "No record matches. Try a longer time range, a shorter search text or fewer filters.", res.Logs)}
	if trace != "" {
		text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": trace}, "the trace of the latest of these records that has one"})
	}
	if p.NextOffset != nil {
		text.next = append(text.next, suggestion{"search_logs", a.again(w, map[string]any{"offset": *p.NextOffset}, append(logFilterNames(), "limit")...), "the next page"})
	}
	if len(rows) == 0 {
		text.next = append(text.next, suggestion{"list_services", a.again(w, nil, "environment"), "which services send data"})
	}
	return &answer{data: res, text: text}
}
