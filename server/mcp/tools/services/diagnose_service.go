package services

import (
	"context"
	"fmt"
	"math"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tools/telemetry"
	"github.com/svc-observability/svc/server/wording"
)

type diagnosis struct {
	ServiceName  string               `json:"serviceName"`
	TimeRange    tool.TimeRange       `json:"timeRange"`
	Environment  *string              `json:"environment,omitempty"`
	Health       health               `json:"health"`
	Previous     *periodStats         `json:"previous,omitempty"`
	LikelyCauses []cause              `json:"likelyCauses"`
	TopErrors    []topError           `json:"topErrors"`
	RecentTraces []telemetry.TraceRow `json:"recentTraces" summary:"as of search_traces"`
	RecentLogs   []telemetry.LogRow   `json:"recentLogs" summary:"as of search_logs"`
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
	diagnosedTraces = limits.ToolDiagnosisTraces
	diagnosedLogs   = limits.ToolDiagnosisLogs
)

type diagnoseServiceArgs struct {
	Service string `required:"true" example:"checkout"`
	tool.Window
	Environment *string
}

func newDiagnoseService(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[diagnosis](&tool.Tool{
		Name: "diagnose_service", View: "/services/{service}",
		Title: "Diagnosis",
		Description: "Find the problem of one service in at most " + limits.Lasts(limits.SearchWindow) +
			": health beside the equally long time before, likely causes with figures (release, dependency, error, log pattern), top errors, " +
			"latest traces and logs.",
		Run: tool.With(func(ctx context.Context, a *diagnoseServiceArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			return diagnose(ctx, s, a, w)
		}),
	})
}

func diagnose(ctx context.Context, s *tool.Clients, a *diagnoseServiceArgs, w tool.TimeRange) (*tool.Answer, error) {
	var d *svcv2.ServiceDiagnosis
	var traces []*svcv2.TraceSummary
	var logs []*svcv2.Log
	heading := ""
	err := atonce.Run(
		func() (err error) {
			d, err = s.Diagnosis.DiagnoseService(
				ctx,
				&svcv2.DiagnoseServiceRequest{Name: a.Service, StartTime: w.StartProto(), EndTime: w.EndProto(), DeploymentEnvironment: a.Environment},
			)
			return err
		},
		func() (err error) {
			res, err := s.Traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
				StartTime: w.StartProto(),
				EndTime:   w.EndProto(),
				Limit:     new(int32(diagnosedTraces)),
				Filters:   &svcv2.TraceFilters{ServiceName: &a.Service, DeploymentEnvironment: a.Environment},
			})
			traces = res.GetData()
			return err
		},
		func() (err error) { logs, heading, err = tellingLogs(ctx, s, a, w); return err },
	)
	if err != nil {
		return nil, err
	}
	h, service := d.GetHealth(), a.Service
	res := diagnosis{
		ServiceName:  service,
		TimeRange:    w,
		Environment:  a.Environment,
		LikelyCauses: toCauses(d.GetCauses()),
		TopErrors:    []topError{},
		RecentTraces: []telemetry.TraceRow{},
		RecentLogs:   []telemetry.LogRow{},
		Health: health{
			h.GetThroughput(),
			h.GetErrorRate(),
			h.GetErrorCount(),
			h.GetP50LatencyMs(),
			h.GetP95LatencyMs(),
			h.GetP99LatencyMs(),
			h.GetApdexScore(),
		},
	}
	lines := tool.Block{Heading: "Health", Rows: []string{
		fmt.Sprintf(
			"- Throughput: %s spans/s. Counted are "+tool.EntrySpans+", corrected for sampling like all figures here",
			wording.Number(res.Health.Throughput),
		),
		fmt.Sprintf("- Errors: %s (%s spans)", wording.Percent(res.Health.ErrorRate), wording.Number(res.Health.ErrorCount)),
		fmt.Sprintf(
			"- Latency: p50 %s ms, p95 %s ms, p99 %s ms; apdex %s",
			wording.Number(res.Health.P50Ms),
			wording.Number(res.Health.P95Ms),
			wording.Number(res.Health.P99Ms),
			wording.Number(res.Health.Apdex),
		),
	}}
	if was := d.GetPrevious(); was == nil {
		lines.Rows = append(lines.Rows, "- Equally long time before: no spans of this service")
	} else {
		before := toPeriodStats(was)
		res.Previous = &before
		lines.Rows = append(lines.Rows, fmt.Sprintf("- Equally long time before: %s spans/s, errors %s, p95 %s ms",
			wording.Number(before.Throughput), wording.Percent(before.ErrorRate), wording.Number(before.P95Ms)))
	}
	now := covered{"time range", dataRange(d.GetDataStartTime(), d.GetDataEndTime()), w}
	earlier := covered{"time before", dataRange(d.GetPreviousDataStartTime(), d.GetPreviousDataEndTime()), w}
	text := tool.Page{
		Scope:  a.Labels(w, &a.Service, &a.Environment),
		Blocks: []tool.Block{lines, causeBlock(res.LikelyCauses, uncompared(now, earlier, d.GetPreviousIsThin()))},
		Notes:  coverageNotes(now, earlier),
	}
	if d.GetPreviousIsThin() {
		text.Notes = append(text.Notes, "The time before has too little data for a comparison, so no change counts as a finding.")
	}
	text.Notes = append(text.Notes, tool.MixedNotes("environment", d.GetDeploymentEnvironments())...)
	var cells [][]string
	for _, x := range d.GetTopErrors() {
		res.TopErrors = append(res.TopErrors, topError{x.GetFingerprintHash(), x.GetErrorLabel(), x.GetEstimatedCount()})
		cells = append(cells, []string{
			x.GetFingerprintHash(), wording.Clip(x.GetErrorLabel(), 160),
			wording.Number(math.Round(x.GetEstimatedCount())),
		})
	}
	if res.RecentTraces, err = telemetry.TraceRows(ctx, s, traces); err != nil {
		return nil, err
	}
	for _, l := range logs {
		res.RecentLogs = append(res.RecentLogs, telemetry.ToLogRow(l))
	}
	text.Blocks = append(
		text.Blocks,
		tool.Table("Top errors", "No span failed.", []string{"Fingerprint", "Error", "Count"}, cells),
		telemetry.TraceTable(
			"Latest traces",
			"No trace was found.",
			res.RecentTraces,
		),
		telemetry.LogTable(heading, "No log record was found.", res.RecentLogs),
	)
	if len(res.LikelyCauses) > 0 {
		c := res.LikelyCauses[0]
		if c.Kind == "logs" {
			text.Next = append(
				text.Next,
				tool.Next(
					"mine_log_patterns",
					tool.ClampWindow(a.Again(w, nil, &a.Service, &a.Environment), w, limits.PatternWindow),
					"its log patterns",
				),
			)
		}
		// The diagnosis of the called service explains failures in that service.
		if c.Kind == "dependency" && c.target != service && !strings.Contains(c.target, ":") {
			text.Next = append(
				text.Next,
				tool.Next(
					"diagnose_service",
					a.Again(w, map[string]any{"service": c.target}, &a.Environment),
					"the called service, which is the likeliest cause",
				),
			)
		}
	}
	if len(res.TopErrors) > 0 {
		text.Next = append(
			text.Next,
			tool.Next(
				"error_detail",
				a.Again(w, map[string]any{"fingerprint": res.TopErrors[0].FingerprintHash}, &a.Service, &a.Environment),
				"the most frequent error",
			),
		)
	}
	if mixed := d.GetDeploymentEnvironments(); len(mixed) > 1 {
		text.Next = append(text.Next,
			tool.Next("diagnose_service", a.Again(w, map[string]any{"environment": tool.Foremost(mixed)}, &a.Service), "this environment alone"))
	}
	text.Next = append(
		text.Next,
		tool.Next("find_slow_traces", a.Again(w, nil, &a.Service, &a.Environment), "the spans on which slow traces spend their time"),
		tool.Next("service_map", a.Again(w, nil, &a.Service, &a.Environment), "the service's callers and the services that it calls"),
	)
	return &tool.Answer{Data: res, Text: text}, nil
}

// tellingLogs returns the latest records that report a problem. Without one, it returns the latest records that are not for debugging.
func tellingLogs(ctx context.Context, s *tool.Clients, a *diagnoseServiceArgs, w tool.TimeRange) ([]*svcv2.Log, string, error) {
	const warn, info = 13, 9
	for _, of := range []struct {
		least   int32
		heading string
	}{{warn, "Latest logs of severity WARN and above"}, {info, "Latest logs, of which none is above INFO"}} {
		logs, _, err := tool.Collect(ctx, nil, 0, diagnosedLogs, telemetry.FetchLogs(s, w, &svcv2.LogFilters{
			ServiceName: &a.Service, DeploymentEnvironment: a.Environment, MinimumSeverity: &of.least,
		}))
		if err != nil || len(logs) > 0 {
			return logs, of.heading, err
		}
	}
	return nil, "Latest logs", nil
}

// ListServices lists the busiest services of a time range.
func ListServices(ctx context.Context, s *tool.Clients, environment *string, w tool.TimeRange) ([]*svcv2.Service, error) {
	rows, _, err := tool.Collect(ctx, nil, 0, 500, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Service, *string, error) {
		res, err := s.Services.ListServices(ctx, &svcv2.ListServicesRequest{
			StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, DeploymentEnvironment: environment,
		})
		return res.GetData(), tool.NextCursor(res), err
	})
	return rows, err
}
