package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type errorsResult struct {
	TimeRange  timeRange   `json:"timeRange"`
	Errors     []errorRow  `json:"errors" jsonschema:"most frequent first"`
	Totals     errorTotals `json:"totals"`
	Identity   string      `json:"identity" jsonschema:"which errors: all"`
	EmptyHints []string    `json:"emptyHints,omitempty"`
}

type errorRow struct {
	FingerprintHash       string   `json:"fingerprintHash"`
	Label                 string   `json:"label"`
	SampleMessage         string   `json:"sampleMessage"`
	Count                 float64  `json:"count"`
	Services              []string `json:"services"`
	AffectedServicesCount int      `json:"affectedServicesCount"`
	FirstSeen             string   `json:"firstSeen"`
	LastSeen              string   `json:"lastSeen"`
}

type errorTotals struct {
	Occurrences      float64 `json:"occurrences"`
	Fingerprints     int     `json:"fingerprints"`
	NoExceptionCount float64 `json:"noExceptionCount"`
}

func toErrorRow(e *svcv2.ErrorEvent) errorRow {
	return errorRow{
		e.GetFingerprintHash(), clip(e.GetErrorLabel(), 300), clip(e.GetSampleMessage(), 1000), e.GetCount(), append([]string{}, e.GetServices()...),
		int(e.GetAffectedServicesCount()), clock(e.GetFirstSeen().AsTime()), clock(e.GetLastSeen().AsTime()),
	}
}

func (s *Server) searchErrors(ctx context.Context, w timeRange, service, environment *string, most int32) (*svcv2.SearchErrorEventsResponse, error) {
	return s.clients.errors.SearchErrorEvents(ctx, &svcv2.SearchErrorEventsRequest{
		StartTime: w.startProto(), EndTime: w.endProto(), Limit: &most, Filters: &svcv2.ErrorEventFilters{ServiceName: service, DeploymentEnvironment: environment},
	})
}

func errorTable(heading, empty string, rows []errorRow) block {
	var cells [][]string
	for _, e := range rows {
		cells = append(cells, []string{e.FingerprintHash, clip(e.Label, 120), number(e.Count), clip(strings.Join(e.Services, ", "), 120), e.FirstSeen, e.LastSeen, clip(e.SampleMessage, 200)})
	}
	return table(heading, empty, []string{"Fingerprint", "Error", "Count", "Services", "First seen", "Last seen", "Message"}, cells)
}

func newFindErrors(s *Server) (*tool, error) {
	return define[errorsResult](&tool{
		name: "find_errors", title: "Errors",
		description: "List the errors of spans in a time range, grouped by fingerprint, most frequent first.",
		params:      append(windowParams(), serviceParam(), environmentParam(), limitParam(20, 100)),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(maxSearch)
			if err != nil {
				return nil, err
			}
			out, err := s.searchErrors(ctx, w, a.text("service"), a.text("environment"), int32(a.integer("limit")))
			if err != nil {
				return nil, err
			}
			totals := out.GetTotals()
			res := errorsResult{
				TimeRange: w, Errors: []errorRow{}, Identity: "all",
				Totals: errorTotals{totals.GetOccurrences(), int(totals.GetFingerprints()), totals.GetNoExceptionCount()},
			}
			for _, e := range out.GetData() {
				res.Errors = append(res.Errors, toErrorRow(e))
			}
			text := page{scope: a.scope(w, "service", "environment")}
			if len(res.Errors) == 0 {
				res.EmptyHints = []string{"Try a longer time range, for example start_time=now-24h.", "Leave out service and environment, or look up their exact names with list_services.", "Errors in logs only are found with search_logs severity=ERROR."}
				text.next = append(text.next, suggestion{"search_logs", a.again(w, map[string]any{"severity": "ERROR"}, "service", "environment"), "errors in logs"})
			} else {
				text.shown = fmt.Sprintf("Shown: %d of %d errors; %s occurrences in all.", len(res.Errors), res.Totals.Fingerprints, number(res.Totals.Occurrences))
				pick, which := telling(res.Errors), "the most frequent error"
				if pick != 0 {
					which = "the most frequent error that says what failed (those above are probably the same failure, seen by its callers)"
				}
				text.next = append(text.next, suggestion{"error_detail", a.again(w, map[string]any{"fingerprint": res.Errors[pick].FingerprintHash}, "service", "environment"), which + ", with traces, versions and its stack trace"})
			}
			text.blocks = []block{errorTable("", "No span failed. "+strings.Join(res.EmptyHints, " "), res.Errors)}
			return &answer{data: res, text: text}, nil
		},
	})
}

// telling is the error to look at first: the most frequent, or one about as frequent that says what failed where the first does not.
func telling(rows []errorRow) int {
	says := func(e errorRow) bool { return strings.TrimSpace(e.SampleMessage) != "" && e.Label != "Unknown Error" }
	for i, e := range rows {
		if e.Count < rows[0].Count/2 {
			break
		}
		if says(e) {
			return i
		}
	}
	return 0
}

type errorDetailResult struct {
	TimeRange       timeRange     `json:"timeRange"`
	FingerprintHash string        `json:"fingerprintHash"`
	Service         *string       `json:"service,omitempty"`
	Error           errorIdentity `json:"error"`
	Summary         errorSummary  `json:"summary"`
	Stacktrace      *string       `json:"stacktrace,omitempty"`
	Versions        []nameCount   `json:"versions"`
	Environments    []nameCount   `json:"environments"`
	Traces          []errorSample `json:"traces"`
	Timeseries      []countPoint  `json:"timeseries,omitempty"`
}

type errorIdentity struct {
	Label         string `json:"label"`
	ExceptionType string `json:"exceptionType"`
	Message       string `json:"message"`
	TopFrame      string `json:"topFrame"`
}

type errorSummary struct {
	Occurrences    float64  `json:"occurrences"`
	AffectedTraces float64  `json:"affectedTraces"`
	FirstSeen      string   `json:"firstSeen"`
	LastSeen       string   `json:"lastSeen"`
	Services       []string `json:"services"`
	ServiceCount   int      `json:"serviceCount"`
}

type errorSample struct {
	TraceID     string   `json:"traceId"`
	SpanID      string   `json:"spanId"`
	SpanName    string   `json:"spanName"`
	ServiceName string   `json:"serviceName"`
	StartTime   string   `json:"startTime"`
	DurationMs  float64  `json:"durationMs"`
	Message     string   `json:"errorMessage"`
	Logs        []logRow `json:"logs,omitempty"`
}

type countPoint struct {
	Bucket string  `json:"bucket"`
	Count  float64 `json:"count"`
}

func newErrorDetail(s *Server) (*tool, error) {
	return define[errorDetailResult](&tool{
		name: "error_detail", title: "Error",
		description: "Read one error by its fingerprint: when and where it occurs, versions, stack trace, traces with their logs. Without times, the last 24 hours, or else 30 days.",
		params: append([]param{
			{name: "fingerprint", kind: kindText, description: "From find_errors.", required: true, pattern: "^[0-9]{1,20}$", form: "a whole number as text", example: "9223372036854775808"},
		}, append(windowParams(), serviceParam(), environmentParam(), param{name: "include_timeseries", kind: kindFlag, fallback: false}, limitParam(5, 20))...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			_, started := a.values["start_time"]
			_, ended := a.values["end_time"]
			spans := []time.Duration{24 * time.Hour, 30 * 24 * time.Hour}
			var out *svcv2.ErrorEventDetail
			var err error
			var w timeRange
			for _, span := range spans {
				if !started && !ended {
					a.values["start_time"] = a.now.Add(-span)
				}
				if w, err = a.window(30 * 24 * time.Hour); err != nil {
					return nil, err
				}
				most := int32(a.integer("limit"))
				out, err = s.clients.errors.GetErrorEvent(ctx, &svcv2.GetErrorEventRequest{
					Fingerprint: *a.text("fingerprint"), StartTime: w.startProto(), EndTime: w.endProto(), ServiceName: a.text("service"),
					DeploymentEnvironment: a.text("environment"), SampleLimit: &most,
				})
				if err == nil || started || ended || !isNotFound(err) {
					break
				}
			}
			if err != nil {
				return nil, err
			}
			res, text := errorAnswer(a, w, out)
			for i := range res.Traces[:min(3, len(res.Traces))] {
				s.addErrorLogs(ctx, &res.Traces[i], &text)
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

func isNotFound(err error) bool {
	return strings.Contains(apiFailure(&tool{}, err).Tag, "NotFound")
}

func errorAnswer(a *arguments, w timeRange, out *svcv2.ErrorEventDetail) (errorDetailResult, page) {
	res := errorDetailResult{
		TimeRange: w, FingerprintHash: out.GetFingerprintHash(), Service: a.text("service"),
		Error:    errorIdentity{clip(out.GetErrorLabel(), 300), clip(out.GetExceptionType(), 300), clip(out.GetSampleMessage(), 2000), clip(out.GetTopFrame(), 500)},
		Summary:  errorSummary{out.GetCount(), out.GetAffectedTracesCount(), clock(out.GetFirstSeen().AsTime()), clock(out.GetLastSeen().AsTime()), append([]string{}, out.GetServices()...), int(out.GetAffectedServicesCount())},
		Versions: []nameCount{}, Environments: []nameCount{}, Traces: []errorSample{},
	}
	for _, v := range out.GetVersions() {
		res.Versions = append(res.Versions, nameCount{v.GetName(), v.GetCount()})
	}
	for _, v := range out.GetEnvironments() {
		res.Environments = append(res.Environments, nameCount{v.GetName(), v.GetCount()})
	}
	text := page{scope: append(a.scope(w, "service", "environment"), pair{"Error", res.Error.Label})}
	facts := block{heading: "Summary", rows: []string{
		"- Type: " + oneLine(res.Error.ExceptionType), "- Message: " + clip(oneLine(res.Error.Message), 600), "- Top frame: " + oneLine(res.Error.TopFrame),
		fmt.Sprintf("- Occurrences: %s in %s traces", number(res.Summary.Occurrences), number(res.Summary.AffectedTraces)),
		"- First seen: " + res.Summary.FirstSeen + ", last seen: " + res.Summary.LastSeen, "- Services: " + clip(strings.Join(res.Summary.Services, ", "), 500),
		"- Versions: " + counts(res.Versions), "- Environments: " + counts(res.Environments),
	}}
	text.blocks = []block{facts}
	if st := out.GetStacktrace(); st != "" {
		cut := clip(st, maxValueText)
		res.Stacktrace = &cut
		text.blocks = append(text.blocks, block{heading: "Stack trace", rows: []string{"```\n" + strings.ReplaceAll(clip(st, 3000), "```", "'''") + "\n```"}})
	}
	var cells [][]string
	for _, t := range out.GetSampleTraces() {
		sample := errorSample{TraceID: t.GetTraceId(), SpanID: t.GetSpanId(), SpanName: clip(t.GetSpanName(), 300), ServiceName: t.GetServiceName(), StartTime: clock(t.GetTimestamp().AsTime()), DurationMs: t.GetDurationMs(), Message: clip(t.GetExceptionMessage(), 1000)}
		res.Traces = append(res.Traces, sample)
		cells = append(cells, []string{sample.TraceID, sample.SpanID, sample.StartTime, sample.ServiceName, clip(sample.SpanName, 120), number(sample.DurationMs), clip(sample.Message, 200)})
	}
	text.blocks = append(text.blocks, table("Traces", "No trace of it was kept.", []string{"Trace", "Span", "Start", "Service", "Span name", "ms", "Message"}, cells))
	if a.isSet("include_timeseries") {
		var points [][]string
		for _, p := range out.GetTimeseries() {
			res.Timeseries = append(res.Timeseries, countPoint{clock(p.GetBucket().AsTime()), p.GetCount()})
			if p.GetCount() > 0 {
				points = append(points, []string{clock(p.GetBucket().AsTime()), number(p.GetCount())})
			}
		}
		text.blocks = append(text.blocks, table(fmt.Sprintf("Over time, by %d s", out.GetBucketSeconds()), "It did not occur.", []string{"Bucket", "Count"}, points))
	}
	if len(res.Traces) > 0 {
		text.next = append(text.next, suggestion{"inspect_trace", map[string]any{"trace_id": res.Traces[0].TraceID, "errors_only": true}, "how the failure came about"})
	}
	return res, text
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

// addErrorLogs adds the records around a failed span; without the scope for logs there are none, which a note says.
func (s *Server) addErrorLogs(ctx context.Context, t *errorSample, text *page) {
	at, err := time.Parse(time.RFC3339Nano, t.StartTime)
	if err != nil {
		return
	}
	w := timeRange{start: at.Add(-time.Hour), end: at.Add(time.Hour)}
	rows, _, err := collect(ctx, nil, 0, 5, s.fetchLogs(w, &svcv2.LogFilters{TraceId: &t.TraceID}))
	if err != nil {
		text.notes = append(text.notes, "The logs of trace "+t.TraceID+" could not be read: "+apiFailure(&tool{}, err).Message)
		return
	}
	for _, r := range rows {
		t.Logs = append(t.Logs, toLogRow(r))
	}
	if len(t.Logs) > 0 {
		text.blocks = append(text.blocks, logTable("Logs of trace "+t.TraceID, "", t.Logs))
	}
}
