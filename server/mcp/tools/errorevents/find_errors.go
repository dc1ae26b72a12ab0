package errorevents

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type errorsResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	// PreviousIsThin is true if the time before has too little data to say which error rose.
	PreviousIsThin bool        `json:"previousIsThin"`
	Errors         []errorRow  `json:"errors"`
	Totals         errorTotals `json:"totals"`
	Identity       string      `json:"identity"`
	EmptyHints     []string    `json:"emptyHints,omitempty"`
}

type errorRow struct {
	FingerprintHash string `json:"fingerprintHash"`
	Label           string `json:"label"`
	SampleMessage   string `json:"sampleMessage"`
	// Count and PreviousCount are corrected for sampling. ReceivedCount is the number of stored spans.
	Count         float64 `json:"count"`
	ReceivedCount float64 `json:"receivedCount"`
	PreviousCount float64 `json:"previousCount"`
	// Environments split Count if the answer covers several environments.
	Environments          []tool.NameCount `json:"environments,omitempty"`
	Services              []string         `json:"services"`
	AffectedServicesCount int              `json:"affectedServicesCount"`
	FirstSeen             string           `json:"firstSeen"`
	LastSeen              string           `json:"lastSeen"`

	typed bool // the span has an exception with a type: it was raised there and not passed on
	// previousReceived is the number of stored spans in the time before.
	previousReceived float64
}

// errorTotals are corrected for sampling, except ReceivedOccurrences.
type errorTotals struct {
	Occurrences         float64          `json:"occurrences"`
	ReceivedOccurrences float64          `json:"receivedOccurrences"`
	Fingerprints        int              `json:"fingerprints"`
	NoExceptionCount    float64          `json:"noExceptionCount"`
	Environments        []tool.NameCount `json:"environments"`
}

func toErrorRow(e *svcv2.ErrorEvent) errorRow {
	return errorRow{
		FingerprintHash:       e.GetFingerprintHash(),
		Label:                 wording.Clip(e.GetErrorLabel(), 300),
		SampleMessage:         wording.Clip(e.GetSampleMessage(), 1000),
		Count:                 e.GetEstimatedCount(),
		ReceivedCount:         e.GetCount(),
		Services:              append([]string{}, e.GetServices()...),
		AffectedServicesCount: int(e.GetAffectedServicesCount()),
		FirstSeen:             wording.Clock(e.GetFirstSeen().AsTime()),
		LastSeen:              wording.Clock(e.GetLastSeen().AsTime()),
		typed:                 e.GetExceptionType() != "",
	}
}

func searchErrors(
	ctx context.Context,
	s *tool.Clients,
	w tool.TimeRange,
	service, environment *string,
	most int32,
) (*svcv2.SearchErrorEventsResponse, error) {
	return s.Errors.SearchErrorEvents(ctx, &svcv2.SearchErrorEventsRequest{
		StartTime: w.StartProto(),
		EndTime:   w.EndProto(),
		Limit:     &most,
		OrderBy:   new("estimated_count"),
		Filters:   &svcv2.ErrorEventFilters{ServiceName: service, DeploymentEnvironment: environment},
	})
}

func errorTable(heading, empty string, rows []errorRow) tool.Block {
	var cells [][]string
	for _, e := range rows {
		shown := wording.Number(e.Count)
		if len(e.Environments) > 0 {
			shown += ": " + wording.Clip(namedCounts(e.Environments), 120)
		}
		cells = append(
			cells,
			[]string{
				e.FingerprintHash,
				wording.Clip(e.Label, 120),
				shown,
				wording.Number(e.PreviousCount),
				wording.Clip(strings.Join(e.Services, ", "), 120),
				e.FirstSeen,
				e.LastSeen,
				wording.Clip(e.SampleMessage, 200),
			},
		)
	}
	return tool.Table(
		heading,
		empty,
		[]string{"Fingerprint", "Error", "Count", "Before", "Services", "First seen", "Last seen", "Message"},
		cells,
	)
}

// byEnvironment are occurrences by environment, corrected for sampling.
func byEnvironment(list []*svcv2.ErrorEventCount) []tool.NameCount {
	out := []tool.NameCount{}
	for _, e := range list {
		out = append(out, tool.NameCount{Name: e.GetName(), Count: e.GetEstimatedCount()})
	}
	return out
}

// namedCounts writes "production 60, staging 6".
func namedCounts(list []tool.NameCount) string {
	var parts []string
	for _, e := range list {
		name := e.Name
		if name == "" {
			name = "(none)"
		}
		parts = append(parts, name+" "+wording.Number(e.Count))
	}
	return strings.Join(parts, ", ")
}

type findErrorsArgs struct {
	tool.Window
	Service     *string
	Environment *string
	Limit       int `default:"{DefaultPage}" of:"SearchErrorEventsRequest.limit" clamp:""`
}

func newFindErrors(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[errorsResult](&tool.Tool{
		Name: "find_errors", View: "/errors?tab=window",
		Title: "Errors",
		Description: "List the errors of spans in at most " + limits.Lasts(limits.SearchWindow) +
			", grouped by fingerprint, the most frequent first, with their counts in the equally long time before.",
		Run: tool.With(func(ctx context.Context, a *findErrorsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			var out *svcv2.SearchErrorEventsResponse
			var base diagnose.Baseline
			err = atonce.Run(
				func() (err error) {
					out, err = searchErrors(ctx, s, w, a.Service, a.Environment, int32(a.Limit))
					return err
				},
				func() (err error) {
					engine := diagnose.New(diagnose.Readers{Query: figuresOf{s.Query}})
					base, err = engine.Baseline(ctx, diagnose.Period{Start: w.From, End: w.To}, a.Environment)
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			res := toErrors(w, out)
			res.PreviousIsThin = base.Thin
			if err := countBefore(ctx, s, a, w, res.Errors); err != nil {
				return nil, err
			}
			text := tool.Page{Scope: a.Labels(w, &a.Service, &a.Environment)}
			if len(res.Errors) == 0 {
				res.EmptyHints = []string{
					"Try a longer time range, for example start_time=now-24h.",
					"Leave out service and environment, or look up their exact names with list_services.",
					"Find errors that are only in logs with search_logs and severity=ERROR.",
				}
				text.Next = append(
					text.Next,
					tool.Next("compare_periods", tool.Compared(w, a.Service, a.Environment), "changes other than failed spans"),
					tool.Next("search_logs", a.Again(w, map[string]any{"severity": "ERROR"}, &a.Service, &a.Environment), "errors in logs"),
				)
			} else {
				text.Shown = shownErrors(&res)
				text.Notes = append(text.Notes, baselineNotes(base)...)
				if names := res.Totals.Environments; len(names) > 1 {
					text.Notes = append(text.Notes, "The counts are of several environments: "+wording.Clip(namedCounts(names), 300)+
						". Give environment to see one of them.")
				}
				pick, rose := base.Telling(changesOf(res.Errors))
				detail := tool.Next(
					"error_detail",
					a.Again(w, map[string]any{"fingerprint": res.Errors[pick].FingerprintHash}, &a.Service, &a.Environment),
					"the error that rose most and has a message, with traces, versions and its stack trace",
				)
				switch {
				case rose:
					text.Next = append(text.Next, detail)
				case base.Thin:
					detail.Reason = "the most frequent error that has a message"
					text.Next = append(text.Next, detail)
				default:
					text.Notes = append(
						text.Notes,
						"No error is clearly more frequent than in the equally long time before. The change may not show in failed spans.",
					)
					detail.Reason = "the most frequent error that has a message"
					text.Next = append(
						text.Next,
						tool.Next(
							"compare_periods",
							tool.Compared(w, a.Service, a.Environment),
							"other changes: latency, releases, dependencies, log patterns",
						),
						detail,
					)
				}
			}
			text.Blocks = []tool.Block{errorTable("", "No span failed. "+strings.Join(res.EmptyHints, " "), res.Errors)}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// countBefore fills in the number of occurrences in the period of equal length before.
func countBefore(ctx context.Context, s *tool.Clients, a *findErrorsArgs, w tool.TimeRange, rows []errorRow) error {
	if len(rows) == 0 {
		return nil
	}
	at, most := map[string]int{}, int32(len(rows))
	filters := &svcv2.ErrorEventFilters{ServiceName: a.Service, DeploymentEnvironment: a.Environment}
	for i, e := range rows {
		at[e.FingerprintHash] = i
		filters.FingerprintHashes = append(filters.FingerprintHashes, e.FingerprintHash)
	}
	prev := w.Before()
	out, err := s.Errors.SearchErrorEvents(
		ctx,
		&svcv2.SearchErrorEventsRequest{StartTime: prev.StartProto(), EndTime: prev.EndProto(), Limit: &most, Filters: filters},
	)
	for _, e := range out.GetData() {
		if i, ok := at[e.GetFingerprintHash()]; ok {
			rows[i].PreviousCount, rows[i].previousReceived = e.GetEstimatedCount(), e.GetCount()
		}
	}
	return err
}

// toErrors is the result without the counts of the time before.
func toErrors(w tool.TimeRange, out *svcv2.SearchErrorEventsResponse) errorsResult {
	totals := out.GetTotals()
	res := errorsResult{
		TimeRange: w, Errors: []errorRow{}, Identity: "all",
		Totals: errorTotals{
			Occurrences: totals.GetEstimatedOccurrences(), ReceivedOccurrences: totals.GetOccurrences(),
			Fingerprints: int(totals.GetFingerprints()), NoExceptionCount: totals.GetEstimatedNoExceptionCount(),
			Environments: byEnvironment(totals.GetEnvironments()),
		},
	}
	for _, e := range out.GetData() {
		row := toErrorRow(e)
		if len(res.Totals.Environments) > 1 {
			row.Environments = byEnvironment(e.GetEnvironments())
		}
		res.Errors = append(res.Errors, row)
	}
	return res
}

func shownErrors(res *errorsResult) string {
	all := wording.Number(res.Totals.Occurrences) + " occurrences in all"
	if res.Totals.Occurrences != res.Totals.ReceivedOccurrences {
		all += ", corrected for sampling (" + wording.Number(res.Totals.ReceivedOccurrences) + " received)"
	}
	return fmt.Sprintf("Shown: %d of %d errors; %s.", len(res.Errors), res.Totals.Fingerprints, all)
}

// baselineNotes say how far the counts of the time before can be trusted.
func baselineNotes(base diagnose.Baseline) []string {
	before := base.Previous
	switch {
	case base.Previous.End.IsZero():
		return []string{"No service sent spans in the time before, so the column Before has no meaning and no error counts as new."}
	case base.Thin:
		return []string{fmt.Sprintf("The time before has spans only from %s to %s. That is too little to say which error rose.",
			wording.Clock(before.Start), wording.Clock(before.End))}
	case 10*before.End.Sub(before.Start) < 9*base.Current.End.Sub(base.Current.Start):
		return []string{fmt.Sprintf("The time before has spans only from %s to %s, and the column Before counts this time.",
			wording.Clock(before.Start), wording.Clock(before.End))}
	}
	return nil
}

// figuresOf reads figures through the API.
type figuresOf struct{ svcv2.QueryServiceClient }

func (f figuresOf) QueryBreakdown(ctx context.Context, req *svcv2.QueryBreakdownRequest) (*svcv2.QueryBreakdownResponse, error) {
	return f.QueryServiceClient.QueryBreakdown(ctx, req)
}

func (f figuresOf) QueryTimeseries(ctx context.Context, req *svcv2.QueryTimeseriesRequest) (*svcv2.QueryTimeseriesResponse, error) {
	return f.QueryServiceClient.QueryTimeseries(ctx, req)
}

// changesOf are the figures of errors that the diagnosis compares.
func changesOf(rows []errorRow) (out []diagnose.ErrorChange) {
	for _, e := range rows {
		out = append(out, diagnose.ErrorChange{
			Label: e.Label, Message: e.SampleMessage, Raised: e.typed,
			Count: e.Count, Received: e.ReceivedCount, Before: e.PreviousCount, BeforeReceived: e.previousReceived,
		})
	}
	return out
}
