package services

import (
	"context"
	"fmt"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type servicesResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Total     *int           `json:"total,omitempty"`
	Services  []serviceRow   `json:"services"`
}

type serviceRow struct {
	Name       string  `json:"name"`
	Throughput float64 `json:"throughput"`
	ErrorRate  float64 `json:"errorRate"`
	P95Ms      float64 `json:"p95Ms"`
}

type listServicesArgs struct {
	tool.Window
	Environment *string
}

func newListServices(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[servicesResult](&tool.Tool{
		Name: "list_services", View: "/services",
		Title: "Services",
		Description: "List the services that sent spans in at most " + limits.Lasts(limits.ServiceWindow) +
			", the busiest first, with throughput, error rate and p95 latency. A good first call.",
		Run: tool.With(func(ctx context.Context, a *listServicesArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.ServiceWindow)
			if err != nil {
				return nil, err
			}
			rows, more, err := tool.Collect(
				ctx,
				nil,
				0,
				limits.ToolServicesCounted,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Service, *string, error) {
					res, err := s.Services.ListServices(ctx, &svcv2.ListServicesRequest{
						StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, DeploymentEnvironment: a.Environment,
					})
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			return servicesAnswer(a, w, rows, more), nil
		}),
	})
}

func servicesAnswer(a *listServicesArgs, w tool.TimeRange, rows []*svcv2.Service, more bool) *tool.Answer {
	res := servicesResult{TimeRange: w, Services: []serviceRow{}}
	if total := len(rows); !more {
		res.Total = &total
	}
	if len(rows) > limits.ToolServices {
		rows, more = rows[:limits.ToolServices], true
	}
	text := tool.Page{Scope: append(a.Labels(w, &a.Environment), tool.Estimated(tool.EntrySpans))}
	var cells [][]string
	var environments []string
	for _, r := range rows {
		environments = append(environments, r.GetDeploymentEnvironments()...)
		res.Services = append(res.Services, serviceRow{r.GetName(), r.GetThroughput(), r.GetErrorRate(), r.GetP95LatencyMs()})
		cells = append(
			cells,
			[]string{
				r.GetName(),
				wording.Number(r.GetThroughput()),
				wording.Percent(r.GetErrorRate()),
				wording.Number(r.GetP95LatencyMs()),
			},
		)
	}
	text.Blocks = []tool.Block{
		tool.Table("", "No service sent spans in this time range. Try a longer one, for example start_time=now-7d, or leave out the environment.",
			[]string{"Service", "Spans/s", "Errors", "p95 ms"}, cells),
	}
	if a.Environment == nil {
		slices.Sort(environments)
		text.Notes = append(text.Notes, tool.MixedNotes("environment", slices.Compact(environments))...)
	}
	if len(rows) > 0 {
		text.Shown = fmt.Sprintf("Shown: %d services, which are all.", len(rows))
		if more {
			text.Shown = fmt.Sprintf(
				"Shown: the %d busiest services; there are more. Narrow the time range or the environment to see others.",
				len(rows),
			)
		}
		worst := rows[0]
		for _, r := range rows {
			if r.GetErrorRate() > worst.GetErrorRate() {
				worst = r
			}
		}
		if worst.GetErrorRate() > 0 {
			args := a.Again(w, map[string]any{"service": worst.GetName(), "has_error": true}, &a.Environment)
			text.Next = append(
				text.Next,
				tool.Next("search_traces", tool.ClampWindow(args, w, limits.SearchWindow), "failed traces of the service with the highest error rate"),
			)
		}
		text.Next = append(
			text.Next,
			tool.Next(
				"search_logs",
				tool.ClampWindow(a.Again(w, map[string]any{"service": rows[0].GetName()}), w, limits.SearchWindow),
				"logs of the busiest service",
			),
		)
	}
	return &tool.Answer{Data: res, Text: text}
}
