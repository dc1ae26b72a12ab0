package mcp

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type operationsResult struct {
	TimeRange   timeRange      `json:"timeRange"`
	ServiceName string         `json:"serviceName"`
	Metric      string         `json:"metric"`
	Total       int            `json:"total" jsonschema:"operations listed"`
	Operations  []operationRow `json:"operations"`
}

type operationRow struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value" jsonschema:"of the metric"`
	Spans     float64 `json:"spans" jsonschema:"corrected for sampling"`
	ErrorRate float64 `json:"errorRate" jsonschema:"0 to 1"`
	P95Ms     float64 `json:"p95Ms"`
}

func requiredService() param {
	p := serviceParam()
	p.required, p.example = true, "checkout"
	return p
}

func newGetServiceTopOperations(s *Server) (*tool, error) {
	return define[operationsResult](&tool{
		name: "get_service_top_operations", title: "Top operations",
		description: "List the operations of one service in at most 7 days, ranked by a metric: the busiest, slowest or most failing span names.",
		params: append([]param{requiredService()}, append(windowParams(), environmentParam(), param{
			name: "metric", kind: kindText, description: "What to rank by; the lowest apdex comes first.", fallback: "count",
			enum: []string{"count", "avg_duration", "p50_duration", "p95_duration", "p99_duration", "error_rate", "apdex"},
		}, limitParam(20, 500))...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(maxSearch)
			if err != nil {
				return nil, err
			}
			metric, order := a.textOr("metric", "count"), a.textOr("metric", "count")
			if metric == "apdex" {
				order = "p95_duration" // the API does not rank by apdex; what is slow is not content
			}
			rows, more, err := collect(ctx, nil, 0, a.integer("limit"), s.fetchOperations(a, w, *a.text("service"), order))
			if err != nil {
				return nil, err
			}
			res := operationsResult{TimeRange: w, ServiceName: *a.text("service"), Metric: metric, Total: len(rows), Operations: []operationRow{}}
			var cells [][]string
			for _, r := range rows {
				o := operationRow{r.GetName(), operationValue(r, metric), r.GetEstimatedSpanCount(), r.GetErrorRate(), r.GetP95LatencyMs()}
				res.Operations = append(res.Operations, o)
				cells = append(cells, []string{clip(o.Name, 120), number(o.Value), number(o.Spans), percent(o.ErrorRate), number(o.P95Ms)})
			}
			text := page{scope: a.scope(w, "service", "environment", "metric")}
			text.blocks = []block{table("", "The service has no spans in this time range.", []string{"Operation", metric, "Spans", "Errors", "p95 ms"}, cells)}
			if len(rows) > 0 {
				text.shown = fmt.Sprintf("Shown: %d operations, which are all.", len(rows))
				if more {
					text.shown = fmt.Sprintf("Shown: the first %d operations; there are more. Raise limit to see them.", len(rows))
				}
				text.next = append(text.next, suggestion{"search_traces", a.again(w, map[string]any{"span_name": rows[0].GetName()}, "service", "environment"), "traces of the first operation"})
			}
			text.next = append(text.next, suggestion{"diagnose_service", a.again(w, nil, "service", "environment"), "what changed in this service"})
			return &answer{data: res, text: text}, nil
		},
	})
}

func (s *Server) fetchOperations(a *arguments, w timeRange, service, order string) fetch[*svcv2.ServiceOperationDetail] {
	return func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.ServiceOperationDetail, *string, error) {
		res, err := s.clients.services.ListServiceOperations(ctx, &svcv2.ListServiceOperationsRequest{
			Name: service, StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor,
			DeploymentEnvironment: a.text("environment"), OrderBy: &order,
		})
		return res.GetData(), nextCursor(res), err
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

func percent(rate float64) string { return number(100*rate) + " %" }
