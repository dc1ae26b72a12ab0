package services

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/wording"
)

type metricsResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	// Summary covers every metric of the service, or of all services. The other filters do not apply to it.
	Summary    []metricTypeRow `json:"summary"`
	Metrics    []metricRow     `json:"metrics"`
	Filters    metricsFilters  `json:"filters" summary:""`
	Pagination tool.Pagination `json:"pagination"`
}

type metricTypeRow struct {
	MetricType     string  `json:"metricType"`
	MetricCount    int32   `json:"metricCount"`
	DataPointCount float64 `json:"dataPointCount"`
}

type metricRow struct {
	MetricName     string  `json:"metricName"`
	MetricType     string  `json:"metricType"`
	ServiceName    string  `json:"serviceName"`
	MetricUnit     string  `json:"metricUnit"`
	IsMonotonic    bool    `json:"isMonotonic"`
	DataPointCount float64 `json:"dataPointCount"`
}

type metricsFilters struct {
	Service    *string `json:"service,omitempty"`
	Search     *string `json:"search,omitempty"`
	MetricType *string `json:"metricType,omitempty"`
}

type listMetricsArgs struct {
	tool.Window
	Service    *string
	Search     *string `doc:"Text in the name; letter case is ignored."`
	MetricType *string `of:"ListMetricsRequest.metric_type"`
	Offset     int     `default:"0" clamp:"0..{SearchOffset}"`
	Limit      int     `default:"{DefaultToolNames}" clamp:"1..{ToolNames}"`
}

func newListMetrics(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[metricsResult](&tool.Tool{
		Name: "list_metrics", View: "/metrics?q={search}",
		Title: "Metrics",
		Description: "List the metrics that received data points in at most " + limits.Lasts(limits.MetricWindow) +
			": name, type, service, unit. Use it to find the exact names of metrics.",
		Run: tool.With(func(ctx context.Context, a *listMetricsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.MetricWindow)
			if err != nil {
				return nil, err
			}
			offset, limit := a.Offset, a.Limit
			var first *string
			if offset > 0 {
				cursor := paging.FormatOffset(offset)
				first = &cursor
			}
			var rows []*svcv2.Metric
			var more bool
			var types *svcv2.SummarizeMetricsResponse
			err = atonce.Run(
				func() (err error) {
					rows, more, err = tool.Collect(
						ctx,
						first,
						0,
						limit,
						func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Metric, *string, error) {
							res, err := s.Metrics.ListMetrics(ctx, &svcv2.ListMetricsRequest{
								StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor,
								ServiceName: a.Service, MetricType: a.MetricType, Search: a.Search,
							})
							return res.GetData(), tool.NextCursor(res), err
						},
					)
					return err
				},
				func() (err error) {
					types, err = s.Metrics.SummarizeMetrics(
						ctx,
						&svcv2.SummarizeMetricsRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), ServiceName: a.Service},
					)
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			return metricsAnswer(a, w, rows, types, tool.NewPagination(offset, limit, len(rows), more)), nil
		}),
	})
}

func metricsAnswer(
	a *listMetricsArgs,
	w tool.TimeRange,
	rows []*svcv2.Metric,
	types *svcv2.SummarizeMetricsResponse,
	p tool.Pagination,
) *tool.Answer {
	res := metricsResult{
		TimeRange: w, Summary: []metricTypeRow{}, Metrics: []metricRow{}, Pagination: p,
		Filters: metricsFilters{Service: a.Service, Search: a.Search, MetricType: a.MetricType},
	}
	var cells [][]string
	for _, r := range rows {
		res.Metrics = append(
			res.Metrics,
			metricRow{r.GetName(), r.GetType(), r.GetServiceName(), r.GetUnit(), r.GetIsMonotonic(), r.GetDataPointCount()},
		)
		cells = append(cells, []string{r.GetName(), r.GetType(), r.GetServiceName(), r.GetUnit(), wording.Number(r.GetDataPointCount())})
	}
	var counted []string
	for _, t := range types.GetData() {
		res.Summary = append(res.Summary, metricTypeRow{t.GetType(), t.GetMetricCount(), t.GetDataPointCount()})
		counted = append(counted, fmt.Sprintf("%d %s (%s points)", t.GetMetricCount(), t.GetType(), wording.Number(t.GetDataPointCount())))
	}
	text := tool.Page{Scope: a.Labels(w, &a.Service, &a.Search, &a.MetricType), Shown: p.Shown(len(rows), "metrics")}
	if len(counted) > 0 {
		text.Scope = append(text.Scope, tool.Labeled("In all", strings.Join(counted, ", ")))
	}
	text.Blocks = []tool.Block{
		tool.Table(
			"",
			"No metric matches. Try a longer time range or fewer filters.",
			[]string{"Metric", "Type", "Service", "Unit", "Data points"},
			cells,
		),
	}
	if len(rows) > 0 {
		first := rows[0]
		text.Next = append(
			text.Next,
			tool.Next(
				"query_data",
				a.Again(
					w,
					map[string]any{"source": "metrics", "kind": "timeseries", "metric_name": first.GetName(), "metric_type": first.GetType()},
					&a.Service,
				),
				"the first of these over time",
			),
			tool.Next(
				"explore_attributes",
				a.Again(w, map[string]any{"source": "metrics"}, &a.Service),
				"the attributes by which metrics can be grouped",
			),
		)
	}
	if p.NextOffset != nil {
		text.Next = append(
			text.Next,
			tool.Next(
				"list_metrics",
				a.Again(w, map[string]any{"offset": *p.NextOffset}, &a.Service, &a.Search, &a.MetricType, &a.Limit),
				"the next page",
			),
		)
	}
	if len(rows) == 0 {
		text.Next = append(text.Next, tool.Next("list_services", a.Again(w, nil), "the services that send data"))
	}
	return &tool.Answer{Data: res, Text: text}
}
