package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/paging"
)

type metricsResult struct {
	TimeRange timeRange `json:"timeRange"`
	// Summary has every metric of the service, or of all, whatever the other filters.
	Summary    []metricTypeRow `json:"summary"`
	Metrics    []metricRow     `json:"metrics" jsonschema:"by name, type and service"`
	Filters    metricsFilters  `json:"filters"`
	Pagination pagination      `json:"pagination"`
}

type metricTypeRow struct {
	MetricType     string  `json:"metricType"`
	MetricCount    int32   `json:"metricCount"`
	DataPointCount float64 `json:"dataPointCount"`
}

type metricRow struct {
	MetricName     string  `json:"metricName"`
	MetricType     string  `json:"metricType" jsonschema:"sum, gauge, histogram, exponential_histogram or summary"`
	ServiceName    string  `json:"serviceName"`
	MetricUnit     string  `json:"metricUnit"`
	IsMonotonic    bool    `json:"isMonotonic" jsonschema:"true for a sum that only grows"`
	DataPointCount float64 `json:"dataPointCount"`
}

type metricsFilters struct {
	Service    *string `json:"service,omitempty"`
	Search     *string `json:"search,omitempty"`
	MetricType *string `json:"metricType,omitempty"`
}

func newListMetrics(s *Server) (*tool, error) {
	output, err := outputOf[metricsResult](nil)
	if err != nil {
		return nil, err
	}
	return &tool{
		name: "list_metrics", title: "Metrics",
		description: "List the metrics that received data points in a time range of at most 30 days: name, type, service, unit. Use it to find exact metric names.",
		params: append(windowParams(), serviceParam(),
			param{name: "search", kind: kindText, description: "Text in the name, any letter case."},
			param{name: "metric_type", kind: kindText, enum: []string{"sum", "gauge", "histogram", "exponential_histogram", "summary"}},
			offsetParam(), limitParam(50, 500)),
		output: output,
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(30 * 24 * time.Hour)
			if err != nil {
				return nil, err
			}
			offset, limit := a.integer("offset"), a.integer("limit")
			var first *string
			if offset > 0 {
				cursor := paging.FormatOffset(offset)
				first = &cursor
			}
			var rows []*svcv2.Metric
			var more bool
			var types *svcv2.SummarizeMetricsResponse
			err = parallel(
				func() (err error) {
					rows, more, err = collect(ctx, first, 0, limit, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Metric, *string, error) {
						res, err := s.clients.metrics.ListMetrics(ctx, &svcv2.ListMetricsRequest{
							StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor,
							ServiceName: a.text("service"), MetricType: a.text("metric_type"), Search: a.text("search"),
						})
						return res.GetData(), nextCursor(res), err
					})
					return err
				},
				func() (err error) {
					types, err = s.clients.metrics.SummarizeMetrics(ctx, &svcv2.SummarizeMetricsRequest{StartTime: w.startProto(), EndTime: w.endProto(), ServiceName: a.text("service")})
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			return metricsAnswer(a, w, rows, types, newPagination(offset, limit, len(rows), more)), nil
		},
	}, nil
}

func metricsAnswer(a *arguments, w timeRange, rows []*svcv2.Metric, types *svcv2.SummarizeMetricsResponse, p pagination) *answer {
	res := metricsResult{
		TimeRange: w, Summary: []metricTypeRow{}, Metrics: []metricRow{}, Pagination: p,
		Filters: metricsFilters{Service: a.text("service"), Search: a.text("search"), MetricType: a.text("metric_type")},
	}
	var cells [][]string
	for _, r := range rows {
		res.Metrics = append(res.Metrics, metricRow{r.GetName(), r.GetType(), r.GetServiceName(), r.GetUnit(), r.GetIsMonotonic(), r.GetDataPointCount()})
		cells = append(cells, []string{r.GetName(), r.GetType(), r.GetServiceName(), r.GetUnit(), number(r.GetDataPointCount())})
	}
	var counted []string
	for _, t := range types.GetData() {
		res.Summary = append(res.Summary, metricTypeRow{t.GetType(), t.GetMetricCount(), t.GetDataPointCount()})
		counted = append(counted, fmt.Sprintf("%d %s (%s points)", t.GetMetricCount(), t.GetType(), number(t.GetDataPointCount())))
	}
	text := page{scope: a.scope(w, "service", "search", "metric_type"), shown: p.shown(len(rows), "metrics")}
	if len(counted) > 0 {
		text.scope = append(text.scope, pair{"In all", strings.Join(counted, ", ")})
	}
	text.blocks = []block{table("", "No metric matches. Try a longer time range or fewer filters.", []string{"Metric", "Type", "Service", "Unit", "Data points"}, cells)}
	if len(rows) > 0 {
		first := rows[0]
		text.next = append(text.next, suggestion{"query_data", a.again(w, map[string]any{"source": "metrics", "kind": "timeseries", "metric_name": first.GetName(), "metric_type": first.GetType()}, "service"), "the first of these over time"},
			suggestion{"explore_attributes", a.again(w, map[string]any{"source": "metrics"}, "service"), "the attributes by which metrics can be grouped"})
	}
	if p.NextOffset != nil {
		text.next = append(text.next, suggestion{"list_metrics", a.again(w, map[string]any{"offset": *p.NextOffset}, "service", "search", "metric_type", "limit"), "the next page"})
	}
	if len(rows) == 0 {
		text.next = append(text.next, suggestion{"list_services", a.again(w, nil), "which services send data at all"})
	}
	return &answer{data: res, text: text}
}
