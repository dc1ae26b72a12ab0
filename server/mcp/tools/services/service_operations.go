package services

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type operationsResult struct {
	TimeRange   tool.TimeRange `json:"timeRange"`
	ServiceName string         `json:"serviceName"`
	Metric      string         `json:"metric"`
	Total       int            `json:"total"`
	Operations  []operationRow `json:"operations"`
}

type operationRow struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	Spans     float64 `json:"spans"`
	ErrorRate float64 `json:"errorRate"`
	P95Ms     float64 `json:"p95Ms"`
}

type getServiceTopOperationsArgs struct {
	Service string `required:"true" example:"checkout"`
	tool.Window
	Environment *string
	Metric      string `doc:"Rank by this, the highest first; the lowest apdex comes first." default:"count" of:"ListServiceOperationsRequest.order_by" except:"total_duration" also:"apdex"`
	Limit       int    `default:"{DefaultPage}" clamp:"1..{ToolNames}"`
}

func newGetServiceTopOperations(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[operationsResult](&tool.Tool{
		Name: "get_service_top_operations", View: "/services/{service}?tab=operations",
		Title: "Top operations",
		Description: "List the operations (span names) of one service in at most " + limits.Lasts(limits.SearchWindow) +
			", ranked by a metric: the busiest, slowest or most failing ones first.",
		Run: tool.With(func(ctx context.Context, a *getServiceTopOperationsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			order := a.Metric
			if order == "apdex" {
				order = "p95_duration" // the API does not sort by apdex; slow operations have a low one
			}
			var rows []*svcv2.ServiceOperationDetail
			var more bool
			var notes []string
			err = atonce.Run(
				func() (err error) {
					rows, more, err = tool.Collect(ctx, nil, 0, a.Limit, fetchOperations(s, w, a.Service, a.Environment, order))
					return err
				},
				func() (err error) { notes, err = tool.ReadMixed(ctx, s, w, &a.Service, a.Environment); return err },
			)
			if err != nil {
				return nil, err
			}
			return operationsAnswer(a, w, rows, more, notes), nil
		}),
	})
}

func operationsAnswer(
	a *getServiceTopOperationsArgs, w tool.TimeRange, rows []*svcv2.ServiceOperationDetail, more bool, notes []string,
) *tool.Answer {
	res := operationsResult{TimeRange: w, ServiceName: a.Service, Metric: a.Metric, Total: len(rows), Operations: []operationRow{}}
	heads, further := []string{"Operation", "Spans", "Errors", "p95 ms"}, rankColumn(a.Metric)
	if further != "" {
		heads = append(heads, further)
	}
	var cells [][]string
	for _, r := range rows {
		o := operationRow{r.GetName(), operationValue(r, a.Metric), r.GetEstimatedSpanCount(), r.GetErrorRate(), r.GetP95LatencyMs()}
		res.Operations = append(res.Operations, o)
		line := []string{wording.Clip(o.Name, 120), wording.Number(o.Spans), wording.Percent(o.ErrorRate), wording.Number(o.P95Ms)}
		if further != "" {
			line = append(line, wording.Number(o.Value))
		}
		cells = append(cells, line)
	}
	text := tool.Page{
		Scope: append(a.Labels(w, &a.Service, &a.Environment, &a.Metric), tool.Estimated(tool.EntrySpans)), Notes: notes,
	}
	text.Blocks = []tool.Block{
		tool.Table("", "The service has no spans in this time range.", heads, cells),
	}
	if len(rows) > 0 {
		text.Shown = fmt.Sprintf("Shown: %d operations, which are all.", len(rows))
		if more {
			text.Shown = fmt.Sprintf("Shown: the first %d operations; there are more. Raise limit to see them.", len(rows))
		}
		text.Next = append(
			text.Next,
			tool.Next(
				"search_traces",
				a.Again(w, map[string]any{"span_name": rows[0].GetName()}, &a.Service, &a.Environment),
				"traces of the first operation",
			),
		)
	}
	text.Next = append(text.Next, tool.Next("diagnose_service", a.Again(w, nil, &a.Service, &a.Environment), "changes in this service"))
	return &tool.Answer{Data: res, Text: text}
}

// rankColumn is the heading of the column for the metric by which operations are ranked. It is empty for a metric that has a column
// in every answer.
func rankColumn(metric string) string {
	switch metric {
	case "count", "error_rate", "p95_duration":
		return ""
	case "apdex":
		return metric
	default:
		return strings.TrimSuffix(metric, "_duration") + " ms"
	}
}

func fetchOperations(
	s *tool.Clients,
	w tool.TimeRange,
	service string,
	environment *string,
	order string,
) tool.Fetch[*svcv2.ServiceOperationDetail] {
	return func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.ServiceOperationDetail, *string, error) {
		res, err := s.Services.ListServiceOperations(ctx, &svcv2.ListServiceOperationsRequest{
			Name: service, StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor,
			DeploymentEnvironment: environment, OrderBy: &order,
		})
		return res.GetData(), tool.NextCursor(res), err
	}
}

func operationValue(o *svcv2.ServiceOperationDetail, metric string) float64 {
	switch metric {
	case "avg_duration":
		return o.GetAvgLatencyMs()
	case "p50_duration":
		return o.GetP50LatencyMs()
	case "p95_duration":
		return o.GetP95LatencyMs()
	case "p99_duration":
		return o.GetP99LatencyMs()
	case "error_rate":
		return o.GetErrorRate()
	case "apdex":
		return o.GetApdex()
	default:
		return o.GetEstimatedSpanCount()
	}
}
