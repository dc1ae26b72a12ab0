package mcp

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type diagnosis struct {
	ServiceName  string       `json:"serviceName"`
	TimeRange    timeRange    `json:"timeRange"`
	Environment  *string      `json:"environment,omitempty"`
	Health       health       `json:"health"`
	Previous     *periodStats `json:"previous,omitempty" jsonschema:"the equally long time before"`
	LikelyCauses []cause      `json:"likelyCauses"`
	TopErrors    []topError   `json:"topErrors"`
	RecentTraces []traceRow   `json:"recentTraces"`
	RecentLogs   []logRow     `json:"recentLogs"`
}

type health struct {
	Throughput float64 `json:"throughput"`
	ErrorRate  float64 `json:"errorRate"`
	ErrorCount float64 `json:"errorCount"`
	P50Ms      float64 `json:"p50Ms"`
	P95Ms      float64 `json:"p95Ms"`
	P99Ms      float64 `json:"p99Ms"`
	Apdex      float64 `json:"apdex"`
}

type topError struct {
	FingerprintHash string  `json:"fingerprintHash"`
	Label           string  `json:"label"`
	Count           float64 `json:"count"`
}

const (
	diagnosedTraces = 5
	diagnosedLogs   = 15
	diagnosedErrors = 10
)

func newDiagnoseService(s *Server) (*tool, error) {
	return define[diagnosis](&tool{
		name: "diagnose_service", title: "Diagnosis",
		description: "What is wrong with one service in at most 7 days: health against the time before, likely causes with figures (release, dependency, error, log pattern), top errors, latest traces and logs.",
		params:      append([]param{requiredService()}, append(windowParams(), environmentParam())...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(maxSearch)
			if err != nil {
				return nil, err
			}
			return s.diagnose(ctx, a, w)
		},
	})
}

func (s *Server) diagnose(ctx context.Context, a *arguments, w timeRange) (*answer, error) {
	service, prev := *a.text("service"), w.before()
	var e *evidence
	var apdex *svcv2.ServiceApdex
	var traces []*svcv2.TraceSummary
	var logs []*svcv2.Log
	var row, was *svcv2.Service
	err := parallel(
		func() (err error) { e, err = s.gather(ctx, a, service, w, prev); return err },
		func() (err error) { row, err = s.serviceRow(ctx, a, service, w); return err },
		func() (err error) { was, err = s.serviceRow(ctx, a, service, prev); return err },
		func() (err error) {
			apdex, err = s.clients.services.GetServiceApdex(ctx, &svcv2.GetServiceApdexRequest{Name: service, StartTime: w.startProto(), EndTime: w.endProto(), DeploymentEnvironment: a.text("environment")})
			return err
		},
		func() (err error) {
			most := int32(diagnosedTraces)
			res, err := s.clients.traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{StartTime: w.startProto(), EndTime: w.endProto(), Limit: &most, Filters: &svcv2.TraceFilters{ServiceName: &service, DeploymentEnvironment: a.text("environment")}})
			traces = res.GetData()
			return err
		},
		func() (err error) {
			logs, _, err = collect(ctx, nil, 0, diagnosedLogs, s.fetchLogs(w, &svcv2.LogFilters{ServiceName: &service, DeploymentEnvironment: a.text("environment")}))
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	res := diagnosis{
		ServiceName: service, TimeRange: w, Environment: a.text("environment"), LikelyCauses: append([]cause{}, e.causes()...), TopErrors: []topError{}, RecentTraces: []traceRow{}, RecentLogs: []logRow{},
		Health: health{row.GetThroughput(), row.GetErrorRate(), row.GetErrorCount(), row.GetP50LatencyMs(), row.GetP95LatencyMs(), row.GetP99LatencyMs(), apdex.GetApdexScore()},
	}
	res.LikelyCauses = res.LikelyCauses[:min(len(res.LikelyCauses), 8)]
	before := periodStats{was.GetThroughput(), was.GetErrorRate(), was.GetP95LatencyMs()}
	lines := block{heading: "Health", rows: []string{
		fmt.Sprintf("- Throughput: %s spans/s", number(res.Health.Throughput)), fmt.Sprintf("- Errors: %s (%s spans)", percent(res.Health.ErrorRate), number(res.Health.ErrorCount)),
		fmt.Sprintf("- Latency: p50 %s ms, p95 %s ms, p99 %s ms; apdex %s", number(res.Health.P50Ms), number(res.Health.P95Ms), number(res.Health.P99Ms), number(res.Health.Apdex)),
	}}
	if was == nil {
		lines.rows = append(lines.rows, fmt.Sprintf("- The %s before: it sent no spans, so whatever is found counts as new", w.end.Sub(w.start)))
	} else {
		res.Previous = &before
		lines.rows = append(lines.rows, fmt.Sprintf("- The %s before: %s spans/s, errors %s, p95 %s ms", w.end.Sub(w.start), number(before.Throughput), percent(before.ErrorRate), number(before.P95Ms)))
	}
	text := page{scope: a.scope(w, "service", "environment"), blocks: []block{lines, causeBlock(res.LikelyCauses)}}
	var cells [][]string
	for _, x := range e.errors.GetData()[:min(len(e.errors.GetData()), diagnosedErrors)] {
		res.TopErrors = append(res.TopErrors, topError{x.GetFingerprintHash(), clip(x.GetErrorLabel(), 300), x.GetCount()})
		cells = append(cells, []string{x.GetFingerprintHash(), clip(x.GetErrorLabel(), 160), number(x.GetCount())})
	}
	if res.RecentTraces, err = s.traceRows(ctx, traces); err != nil {
		return nil, err
	}
	for _, l := range logs {
		res.RecentLogs = append(res.RecentLogs, toLogRow(l))
	}
	text.blocks = append(text.blocks, table("Top errors", "No span failed.", []string{"Fingerprint", "Error", "Count"}, cells),
		traceTable("Latest traces", "No trace.", res.RecentTraces), logTable("Latest logs", "No log record.", res.RecentLogs))
	if len(res.LikelyCauses) > 0 {
		c := res.LikelyCauses[0]
		if c.Kind == "logs" {
			text.next = append(text.next, suggestion{"mine_log_patterns", clampWindow(a.again(w, nil, "service", "environment"), w, 1), "its log patterns"})
		}
		// What fails in a service that it calls is explained there.
		if c.Kind == "dependency" && c.target != service && !strings.Contains(c.target, ":") {
			text.next = append(text.next, suggestion{"diagnose_service", a.again(w, map[string]any{"service": c.target}, "environment"), "the service that it calls, where the likeliest cause lies"})
		}
	}
	if len(res.TopErrors) > 0 {
		text.next = append(text.next, suggestion{"error_detail", a.again(w, map[string]any{"fingerprint": res.TopErrors[0].FingerprintHash}, "service", "environment"), "the most frequent error"})
	}
	text.next = append(text.next, suggestion{"find_slow_traces", a.again(w, nil, "service", "environment"), "on what slow traces spend their time"},
		suggestion{"service_map", a.again(w, nil, "service", "environment"), "what it calls and who calls it"})
	return &answer{data: res, text: text}, nil
}

// serviceRow is the row of a service in the list, nil when it has no spans then.
func (s *Server) serviceRow(ctx context.Context, a *arguments, service string, w timeRange) (*svcv2.Service, error) {
	rows, err := s.services(ctx, a, w)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.GetName() == service {
			return r, nil
		}
	}
	return nil, nil
}

func (s *Server) services(ctx context.Context, a *arguments, w timeRange) ([]*svcv2.Service, error) {
	rows, _, err := collect(ctx, nil, 0, 500, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Service, *string, error) {
		res, err := s.clients.services.ListServices(ctx, &svcv2.ListServicesRequest{
			StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, DeploymentEnvironment: a.text("environment"),
		})
		return res.GetData(), nextCursor(res), err
	})
	return rows, err
}
