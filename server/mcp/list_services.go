package mcp

import (
	"context"
	"fmt"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

const (
	maxServices = 100
	// countedServices is up to how many they are counted.
	countedServices = 1000
)

type servicesResult struct {
	TimeRange timeRange    `json:"timeRange"`
	Total     *int         `json:"total,omitempty" jsonschema:"how many services there are; left out when there are more than 1000; the 100 busiest are listed"`
	Services  []serviceRow `json:"services" jsonschema:"busiest first"`
}

type serviceRow struct {
	Name       string  `json:"name"`
	Throughput float64 `json:"throughput" jsonschema:"entry spans per second, corrected for sampling"`
	ErrorRate  float64 `json:"errorRate" jsonschema:"0 to 1"`
	P95Ms      float64 `json:"p95Ms" jsonschema:"95th percentile of the duration in milliseconds"`
}

func newListServices(s *Server) (*tool, error) {
	output, err := outputOf[servicesResult](nil)
	if err != nil {
		return nil, err
	}
	return &tool{
		name: "list_services", title: "Services",
		description: "List the services that sent spans in a time range of at most 365 days, busiest first, with throughput, error rate and p95 latency. A good first call.",
		params:      append(windowParams(), environmentParam()),
		output:      output,
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(365 * 24 * time.Hour)
			if err != nil {
				return nil, err
			}
			rows, more, err := collect(ctx, nil, 0, countedServices, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Service, *string, error) {
				res, err := s.clients.services.ListServices(ctx, &svcv2.ListServicesRequest{
					StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, DeploymentEnvironment: a.text("environment"),
				})
				return res.GetData(), nextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			return servicesAnswer(a, w, rows, more), nil
		},
	}, nil
}

func servicesAnswer(a *arguments, w timeRange, rows []*svcv2.Service, more bool) *answer {
	res := servicesResult{TimeRange: w, Services: []serviceRow{}}
	if total := len(rows); !more {
		res.Total = &total
	}
	if len(rows) > maxServices {
		rows, more = rows[:maxServices], true
	}
	text := page{scope: a.scope(w, "environment")}
	var cells [][]string
	for _, r := range rows {
		res.Services = append(res.Services, serviceRow{r.GetName(), r.GetThroughput(), r.GetErrorRate(), r.GetP95LatencyMs()})
		cells = append(cells, []string{r.GetName(), number(r.GetThroughput()), number(100*r.GetErrorRate()) + " %", number(r.GetP95LatencyMs())})
	}
	text.blocks = []block{table("", "No service sent spans in this time range. Try a longer one, for example start_time=now-7d, or leave out the environment.",
		[]string{"Service", "Spans/s", "Errors", "p95 ms"}, cells)}
	if len(rows) > 0 {
		text.shown = fmt.Sprintf("Shown: %d services, which are all.", len(rows))
		if more {
			text.shown = fmt.Sprintf("Shown: the %d busiest services; there are more. Narrow the time range or the environment to see others.", len(rows))
		}
		worst := rows[0]
		for _, r := range rows {
			if r.GetErrorRate() > worst.GetErrorRate() {
				worst = r
			}
		}
		if worst.GetErrorRate() > 0 {
			args := a.again(w, map[string]any{"service": worst.GetName(), "has_error": true}, "environment")
			text.next = append(text.next, suggestion{"search_traces", clampWindow(args, w, 7), "failed traces of the service with the highest error rate"})
		}
		text.next = append(text.next, suggestion{"search_logs", clampWindow(a.again(w, map[string]any{"service": rows[0].GetName()}), w, 7), "logs of the busiest service"})
	}
	return &answer{data: res, text: text}
}

// clampWindow moves the start of a suggested call so that the other tool takes it.
func clampWindow(args map[string]any, w timeRange, days int) map[string]any {
	if longest := time.Duration(days) * 24 * time.Hour; w.end.Sub(w.start) > longest {
		args["start_time"] = clock(w.end.Add(-longest))
	}
	return args
}

// nextCursor is nil on the last page and after a failure.
func nextCursor(res interface {
	GetHasMore() bool
	GetNextCursor() string
},
) *string {
	if !res.GetHasMore() {
		return nil
	}
	next := res.GetNextCursor()
	return &next
}
