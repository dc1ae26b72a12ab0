package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type errorDetailResult struct {
	TimeRange       timeRange      `json:"timeRange"`
	FingerprintHash string         `json:"fingerprintHash"`
	Service         *string        `json:"service,omitempty"`
	Error           errorIdentity  `json:"error"`
	Summary         errorSummary   `json:"summary"`
	Anchored        bool           `json:"anchored,omitempty"`
	Related         []relatedError `json:"related,omitempty"`
	Stacktrace      *string        `json:"stacktrace,omitempty"`
	Versions        []nameCount    `json:"versions"`
	Environments    []nameCount    `json:"environments"`
	Traces          []errorTrace   `json:"traces"`
	Timeseries      []countPoint   `json:"timeseries,omitempty"`
}

type errorIdentity struct {
	Label         string `json:"label"`
	ExceptionType string `json:"exceptionType"`
	Message       string `json:"message"`
	ServiceName   string `json:"serviceName"`
	TopFrame      string `json:"topFrame"`
}

type errorSummary struct {
	TimeRange        timeRange `json:"timeRange"`
	Occurrences      float64   `json:"occurrences"`
	AffectedTraces   float64   `json:"affectedTraces"`
	FirstSeen        string    `json:"firstSeen"`
	LastSeen         string    `json:"lastSeen"`
	Services         []string  `json:"services"`
	ServiceCount     int       `json:"serviceCount"`
	NoExceptionCount float64   `json:"noExceptionCount"`
}

type countPoint struct {
	Bucket string  `json:"bucket"`
	Count  float64 `json:"count"`
}

func newErrorDetail(s *Server) (*tool, error) {
	return define[errorDetailResult](&tool{
		name: "error_detail", title: "Error",
		description: "Read one error by its fingerprint: when and where it occurs, versions, stack trace, traces with their logs, other errors in them. Without times, the 24 hours before it last occurred.",
		params: append([]param{
			{name: "fingerprint", kind: kindText, description: "From find_errors.", required: true, pattern: "^[0-9]{1,20}$", form: "a whole number as text", example: "9223372036854775808"},
		}, append(windowParams(), serviceParam(), environmentParam(), param{name: "include_timeseries", kind: kindFlag, fallback: false}, limitParam(5, 20))...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			most := int32(a.integer("limit"))
			req := &svcv2.GetErrorEventRequest{Fingerprint: *a.text("fingerprint"), ServiceName: a.text("service"), DeploymentEnvironment: a.text("environment"), SampleLimit: &most}
			_, started := a.values["start_time"]
			_, ended := a.values["end_time"]
			anchored := !started && !ended // without a window, the API takes the one that ends with the last occurrence
			if !anchored {
				w, err := a.window(30 * 24 * time.Hour)
				if err != nil {
					return nil, err
				}
				req.StartTime, req.EndTime = w.startProto(), w.endProto()
			}
			out, err := s.clients.errors.GetErrorEvent(ctx, req)
			if err != nil {
				return nil, err
			}
			res := toErrorDetail(a, out)
			res.Anchored = anchored
			var text page
			if err := s.completeError(ctx, out, &res, &text); err != nil {
				return nil, err
			}
			errorText(a, out, &res, &text)
			return &answer{data: res, text: text}, nil
		},
	})
}

func isNotFound(err error) bool {
	return strings.Contains(apiFailure(&tool{}, err).Tag, "NotFound")
}

func toErrorDetail(a *arguments, out *svcv2.ErrorEventDetail) errorDetailResult {
	w := period(out.GetStartTime().AsTime(), out.GetEndTime().AsTime())
	res := errorDetailResult{
		TimeRange: w, FingerprintHash: out.GetFingerprintHash(), Service: a.text("service"),
		Error: errorIdentity{Label: clip(out.GetErrorLabel(), 300), ExceptionType: clip(out.GetExceptionType(), 300), Message: clip(out.GetSampleMessage(), 2000), TopFrame: clip(out.GetTopFrame(), 500)},
		Summary: errorSummary{
			TimeRange: w, Occurrences: out.GetCount(), AffectedTraces: out.GetAffectedTracesCount(), FirstSeen: clock(out.GetFirstSeen().AsTime()), LastSeen: clock(out.GetLastSeen().AsTime()),
			Services: listOf(out.GetServices()), ServiceCount: int(out.GetAffectedServicesCount()), NoExceptionCount: out.GetNoExceptionCount(),
		},
		Related:  toRelated(out.GetRelatedErrors()),
		Versions: []nameCount{}, Environments: []nameCount{}, Traces: []errorTrace{},
	}
	// The latest occurrence speaks for the others, in messages as well.
	if samples := out.GetSampleTraces(); len(samples) > 0 {
		res.Error.ServiceName = samples[0].GetServiceName()
	} else if len(res.Summary.Services) > 0 {
		res.Error.ServiceName = res.Summary.Services[0]
	}
	for _, v := range out.GetVersions() {
		res.Versions = append(res.Versions, nameCount{v.GetName(), v.GetCount()})
	}
	for _, v := range out.GetEnvironments() {
		res.Environments = append(res.Environments, nameCount{v.GetName(), v.GetCount()})
	}
	if st := out.GetStacktrace(); st != "" {
		cut := clip(st, maxValueText)
		res.Stacktrace = &cut
	}
	if a.isSet("include_timeseries") {
		for _, p := range out.GetTimeseries() {
			res.Timeseries = append(res.Timeseries, countPoint{clock(p.GetBucket().AsTime()), p.GetCount()})
		}
	}
	return res
}

func errorText(a *arguments, out *svcv2.ErrorEventDetail, res *errorDetailResult, text *page) {
	text.scope = append(a.scope(res.TimeRange, "service", "environment"), pair{"Error", res.Error.Label})
	facts := block{heading: "Summary", rows: []string{
		"- Type: " + oneLine(res.Error.ExceptionType), "- Message: " + clip(oneLine(res.Error.Message), 600), "- Top frame: " + oneLine(res.Error.TopFrame),
		fmt.Sprintf("- Occurrences: %s in %s traces, %s of them without an exception", number(res.Summary.Occurrences), number(res.Summary.AffectedTraces), number(res.Summary.NoExceptionCount)),
		"- First seen: " + res.Summary.FirstSeen + ", last seen: " + res.Summary.LastSeen, "- Services: " + clip(strings.Join(res.Summary.Services, ", "), 500),
		"- Versions: " + counts(res.Versions), "- Environments: " + counts(res.Environments),
	}}
	text.blocks = []block{facts}
	if st := out.GetStacktrace(); st != "" {
		text.blocks = append(text.blocks, block{heading: "Stack trace", rows: []string{"```\n" + strings.ReplaceAll(clip(st, 3000), "```", "'''") + "\n```"}})
	}
	text.blocks = append(text.blocks, errorTraceTable(res.Traces))
	if len(res.Related) > 0 {
		var cells [][]string
		for _, r := range res.Related[:min(5, len(res.Related))] {
			cells = append(cells, []string{r.FingerprintHash, clip(r.Label, 120), r.ServiceName, fmt.Sprint(r.Traces)})
		}
		text.blocks = append(text.blocks, table("Other errors in these traces", "", []string{"Fingerprint", "Error", "Service", "Traces"}, cells))
	}
	for _, t := range res.Traces {
		if len(t.Logs) > 0 {
			text.blocks = append(text.blocks, errorLogTable(t))
		}
	}
	if a.isSet("include_timeseries") {
		var points [][]string
		for _, p := range res.Timeseries {
			if p.Count > 0 {
				points = append(points, []string{p.Bucket, number(p.Count)})
			}
		}
		text.blocks = append(text.blocks, table(fmt.Sprintf("Over time, by %d s", out.GetBucketSeconds()), "It did not occur.", []string{"Bucket", "Count"}, points))
	}
	if len(res.Traces) > 0 {
		text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": res.Traces[0].TraceID, "errors_only": true}, "how the failure came about"})
	}
	// From the minute in which it began, so that the time before has none of it.
	text.next = append(text.next, suggestion{"compare_periods", map[string]any{"around_time": clock(out.GetFirstSeen().AsTime().Truncate(time.Minute))}, "what changed when it was first seen: release, dependency, other services"})
	if len(res.Related) > 0 {
		text.next = append(text.next, suggestion{"error_detail", a.again(res.TimeRange, map[string]any{"fingerprint": res.Related[0].FingerprintHash}, "environment"), "the error that comes with it most often: cause or consequence"})
	}
}

func counts(list []nameCount) string {
	var parts []string
	for _, v := range list[:min(len(list), 10)] {
		parts = append(parts, v.Name+" ("+number(v.Count)+")")
	}
	if len(parts) == 0 {
		return "none named"
	}
	return strings.Join(parts, ", ")
}
