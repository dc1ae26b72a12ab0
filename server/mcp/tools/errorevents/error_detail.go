package errorevents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type errorDetailResult struct {
	TimeRange       tool.TimeRange   `json:"timeRange"`
	FingerprintHash string           `json:"fingerprintHash"`
	IssueID         *string          `json:"issueId,omitempty"`
	Issue           *issueSummary    `json:"issue,omitempty"`
	Service         *string          `json:"service,omitempty"`
	Error           errorIdentity    `json:"error"`
	Summary         errorSummary     `json:"summary"`
	Anchored        bool             `json:"anchored,omitempty"`
	Related         []relatedError   `json:"related,omitempty"`
	Stacktrace      *string          `json:"stacktrace,omitempty" detail:"whole"`
	Sources         []frameSource    `json:"sources,omitempty"`
	SourceProblem   string           `json:"sourceProblem,omitempty"`
	SuspectCommits  []suspectCommit  `json:"suspectCommits,omitempty"`
	SuspectProblem  string           `json:"suspectProblem,omitempty"`
	Versions        []tool.NameCount `json:"versions"`
	Environments    []tool.NameCount `json:"environments"`
	Traces          []errorTrace     `json:"traces"`
	Timeseries      []countPoint     `json:"timeseries,omitempty"`
}

type errorIdentity struct {
	Label         string `json:"label"`
	ExceptionType string `json:"exceptionType"`
	Message       string `json:"message"`
	ServiceName   string `json:"serviceName"`
	TopFrame      string `json:"topFrame"`
}

// errorSummary has counts that are corrected for sampling, except Received and AffectedTraces.
type errorSummary struct {
	TimeRange        tool.TimeRange `json:"timeRange"`
	Occurrences      float64        `json:"occurrences"`
	Received         float64        `json:"receivedOccurrences"`
	AffectedTraces   float64        `json:"affectedTraces"`
	FirstSeen        string         `json:"firstSeen"`
	LastSeen         string         `json:"lastSeen"`
	Services         []string       `json:"services"`
	ServiceCount     int            `json:"serviceCount"`
	NoExceptionCount float64        `json:"noExceptionCount"`
	Burst            *errorBurst    `json:"burst,omitempty"`
}

// errorBurst is the time in which the error was far more frequent than in the rest of the window.
type errorBurst struct {
	tool.TimeRange
	Count float64 `json:"count"`
}

type countPoint struct {
	Bucket string  `json:"bucket"`
	Count  float64 `json:"count"`
}

type errorDetailArgs struct {
	Fingerprint *string `doc:"From find_errors." shape:"fingerprint" example:"9223372036854775808"`
	IssueID     *string `doc:"Instead: an issue, iss_…"`
	tool.Window
	Service           *string
	Environment       *string
	IncludeTimeseries bool `default:"false"`
	Limit             int  `default:"{DefaultErrorSamples}" of:"GetErrorEventRequest.sample_limit" clamp:""`
}

func newErrorDetail(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[errorDetailResult](&tool.Tool{
		Name: "error_detail", View: "/errors/{fingerprint}",
		Title: "Error",
		Description: "Read one error by its fingerprint: when and where it occurs, versions, stack trace, traces with their logs, and other " +
			"errors in these traces. Without times it reads the " + limits.Lasts(limits.ErrorContext) + " before the last occurrence.",
		Run: tool.With(func(ctx context.Context, a *errorDetailArgs) (*tool.Answer, error) {
			most := int32(a.Limit)
			issue, fingerprint, err := a.target(ctx, s)
			if err != nil {
				return nil, err
			}
			req := &svcv2.GetErrorEventRequest{
				Fingerprint:           fingerprint,
				ServiceName:           a.Service,
				DeploymentEnvironment: a.Environment,
				SampleLimit:           &most,
			}
			anchored := a.StartTime == nil && a.EndTime == nil // without a window the API takes one that ends with the last occurrence
			if !anchored {
				w, err := a.Range(limits.ErrorWindow)
				if err != nil {
					return nil, err
				}
				req.StartTime, req.EndTime = w.StartProto(), w.EndProto()
			}
			out, err := s.Errors.GetErrorEvent(ctx, req)
			if err != nil {
				return nil, err
			}
			res := toErrorDetail(a, out)
			res.Anchored = anchored
			if issue != nil {
				res.Issue = &issueSummary{
					issue.GetId(), issue.GetWorkflowState(), issue.Severity, issue.GetOccurrenceCount(), grouped(issue),
					fixOf(issue),
				}
				res.IssueID = &res.Issue.ID
				res.SuspectCommits, res.SuspectProblem = suspectsOf(issue), issue.GetSuspectProblem()
			}
			var text tool.Page
			if err := completeError(ctx, s, out, &res, &text); err != nil {
				return nil, err
			}
			errorText(a, out, &res, &text)
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

func toErrorDetail(a *errorDetailArgs, out *svcv2.ErrorEventDetail) errorDetailResult {
	w := tool.Period(out.GetStartTime().AsTime(), out.GetEndTime().AsTime())
	res := errorDetailResult{
		TimeRange:       w,
		FingerprintHash: out.GetFingerprintHash(),
		Service:         a.Service,
		Error: errorIdentity{
			Label:         wording.Clip(out.GetErrorLabel(), 300),
			ExceptionType: wording.Clip(out.GetExceptionType(), 300),
			Message:       wording.Clip(out.GetSampleMessage(), 2000),
			TopFrame:      wording.Clip(out.GetTopFrame(), 500),
		},
		Summary: errorSummary{
			TimeRange:        w,
			Occurrences:      out.GetEstimatedCount(),
			Received:         out.GetCount(),
			AffectedTraces:   out.GetAffectedTracesCount(),
			FirstSeen:        wording.Clock(out.GetFirstSeen().AsTime()),
			LastSeen:         wording.Clock(out.GetLastSeen().AsTime()),
			Services:         tool.NonNil(out.GetServices()),
			ServiceCount:     int(out.GetAffectedServicesCount()),
			NoExceptionCount: out.GetEstimatedNoExceptionCount(),
		},
		Related:      toRelated(out.GetRelatedErrors()),
		Versions:     []tool.NameCount{},
		Environments: []tool.NameCount{},
		Traces:       []errorTrace{},
	}
	if b := out.GetBurst(); b != nil {
		res.Summary.Burst = &errorBurst{tool.Period(b.GetStartTime().AsTime(), b.GetEndTime().AsTime()), b.GetEstimatedCount()}
	}
	// The latest occurrence represents the others, also in messages.
	if samples := out.GetSampleTraces(); len(samples) > 0 {
		res.Error.ServiceName = samples[0].GetServiceName()
	} else if len(res.Summary.Services) > 0 {
		res.Error.ServiceName = res.Summary.Services[0]
	}
	for _, v := range out.GetVersions() {
		res.Versions = append(res.Versions, tool.NameCount{Name: v.GetName(), Count: v.GetEstimatedCount()})
	}
	for _, v := range out.GetEnvironments() {
		res.Environments = append(res.Environments, tool.NameCount{Name: v.GetName(), Count: v.GetEstimatedCount()})
	}
	if st := out.GetStacktrace(); st != "" {
		cut := wording.Clip(st, tool.MaxValueText)
		res.Stacktrace = &cut
	}
	res.Sources, res.SourceProblem = sourcesOf(out), out.GetSourceProblem()
	if a.IncludeTimeseries {
		for _, p := range out.GetTimeseries() {
			res.Timeseries = append(res.Timeseries, countPoint{wording.Clock(p.GetBucket().AsTime()), p.GetEstimatedCount()})
		}
	}
	return res
}

func errorText(a *errorDetailArgs, out *svcv2.ErrorEventDetail, res *errorDetailResult, text *tool.Page) {
	text.Scope = append(a.Labels(res.TimeRange, &a.Service, &a.Environment), tool.Labeled("Error", res.Error.Label))
	text.Blocks = []tool.Block{{Heading: "Summary", Rows: summaryRows(res)}}
	if st := out.GetStacktrace(); st != "" {
		text.Blocks = append(
			text.Blocks,
			tool.Block{Heading: "Stack trace", Rows: []string{"```\n" + strings.ReplaceAll(wording.Clip(st, 3000), "```", "'''") + "\n```"}},
		)
	}
	text.Blocks = slices.Concat(text.Blocks, sourceBlocks(res), suspectBlocks(res), []tool.Block{errorTraceTable(res.Traces)})
	if len(res.Related) > 0 {
		var cells [][]string
		for _, r := range res.Related[:min(5, len(res.Related))] {
			cells = append(cells, []string{r.FingerprintHash, wording.Clip(r.Label, 120), r.ServiceName, fmt.Sprint(r.Traces)})
		}
		text.Blocks = append(
			text.Blocks,
			tool.Table("Other errors in these traces", "", []string{"Fingerprint", "Error", "Service", "Traces"}, cells),
		)
	}
	for _, t := range res.Traces {
		if len(t.Logs) > 0 {
			text.Blocks = append(text.Blocks, errorLogTable(t))
		}
	}
	if a.IncludeTimeseries {
		var points [][]string
		for _, p := range res.Timeseries {
			if p.Count > 0 {
				points = append(points, []string{p.Bucket, wording.Number(p.Count)})
			}
		}
		text.Blocks = append(
			text.Blocks,
			tool.Table(fmt.Sprintf("Over time, by %d s", out.GetBucketSeconds()), "The error did not occur.", []string{"Bucket", "Count"}, points),
		)
	}
	if len(res.Traces) > 0 {
		text.Next = append(
			text.Next,
			tool.Next(
				"inspect_trace",
				map[string]any{"trace_id": res.Traces[0].TraceID, "errors_only": true},
				"the failed spans of its latest trace",
			),
		)
	}
	if len(res.Sources) > 0 {
		first := res.Sources[0]
		text.Next = append(text.Next, tool.Next("read_source_file", map[string]any{
			"repository": first.Repository, "path": first.Path, "ref": first.CommitSHA,
		}, "the whole file in which it was thrown"))
	}
	// The period starts at the minute in which the error began, so the period before has no or few occurrences.
	around, why := wording.Clock(out.GetFirstSeen().AsTime().Truncate(time.Minute)), "changes at the time when it was first seen"
	if b := res.Summary.Burst; b != nil {
		around, why = b.Start, "changes at the time when it became frequent"
	}
	again := a.Chosen(&a.Environment)
	again["around_time"] = around
	text.Next = append(text.Next, tool.Next("compare_periods", again, why+": release, dependency, other services"))
	if len(res.Related) > 0 {
		text.Next = append(
			text.Next,
			tool.Next(
				"error_detail",
				a.Again(res.TimeRange, map[string]any{"fingerprint": res.Related[0].FingerprintHash}, &a.Environment),
				"the error that occurs with it most often: a cause or a consequence",
			),
		)
	}
}

// summaryRows are the facts about an error. An error without an exception has neither type nor frame.
func summaryRows(res *errorDetailResult) []string {
	var rows []string
	for _, fact := range [][2]string{
		{"Type", wording.OneLine(res.Error.ExceptionType)},
		{"Message", wording.Clip(wording.OneLine(res.Error.Message), 600)},
		{"Top frame", wording.OneLine(res.Error.TopFrame)},
	} {
		if fact[1] != "" {
			rows = append(rows, "- "+fact[0]+": "+fact[1])
		}
	}
	if i := res.Issue; i != nil {
		rows = append(rows, fmt.Sprintf("- Issue: %s, %s, severity %s, %s occurrences received in all. %s", i.ID, i.WorkflowState,
			tool.Or(i.Severity, "not set"), wording.Number(i.OccurrenceCount), i.Grouped))
		if i.Fix != "" {
			rows = append(rows, "- Fix: "+i.Fix)
		}
	}
	sum, received := res.Summary, ""
	if sum.Received != sum.Occurrences {
		received = ", corrected for sampling (" + wording.Number(sum.Received) + " received)"
	}
	rows = append(rows, fmt.Sprintf("- Occurrences: %s in %s traces, %s of them without an exception%s",
		wording.Number(sum.Occurrences), wording.Number(sum.AffectedTraces), wording.Number(sum.NoExceptionCount), received))
	if b := sum.Burst; b != nil {
		rows = append(rows, fmt.Sprintf("- Most frequent: from %s to %s, with %s of the occurrences", b.Start, b.End, wording.Number(b.Count)))
	}
	return append(rows,
		"- First seen: "+sum.FirstSeen+", last seen: "+sum.LastSeen,
		"- Services: "+wording.Clip(strings.Join(sum.Services, ", "), 500),
		"- Versions: "+counts(res.Versions),
		"- Environments: "+counts(res.Environments),
	)
}

func counts(list []tool.NameCount) string {
	var parts []string
	for _, v := range list[:min(len(list), 10)] {
		if v.Name == "" {
			v.Name = "(none)"
		}
		parts = append(parts, v.Name+" ("+wording.Number(v.Count)+")")
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
