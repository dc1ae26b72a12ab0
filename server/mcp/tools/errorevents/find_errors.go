package errorevents

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type errorsResult struct {
	TimeRange      tool.TimeRange `json:"timeRange"`
	Errors         []errorRow     `json:"errors"`
	Totals         errorTotals    `json:"totals"`
	Identity       string         `json:"identity"`
	PreviousIsThin bool           `json:"previousIsThin"`
	EmptyHints     []string       `json:"emptyHints,omitempty"`
}

type errorRow struct {
	FingerprintHash       string   `json:"fingerprintHash"`
	Label                 string   `json:"label"`
	SampleMessage         string   `json:"sampleMessage"`
	Count                 float64  `json:"count"`
	EstimatedCount        float64  `json:"estimatedCount"`
	PreviousCount         *float64 `json:"previousCount"`
	PreviousEstimated     *float64 `json:"previousEstimatedCount"`
	Services              []string `json:"services"`
	AffectedServicesCount int      `json:"affectedServicesCount"`
	FirstSeen             string   `json:"firstSeen"`
	LastSeen              string   `json:"lastSeen"`

	typed bool // the span has an exception with a type: it was raised there and not passed on
}

type errorTotals struct {
	Occurrences      float64 `json:"occurrences"`
	Estimated        float64 `json:"estimatedOccurrences"`
	Fingerprints     int     `json:"fingerprints"`
	NoExceptionCount float64 `json:"noExceptionCount"`
}

func toErrorRow(e *svcv2.ErrorEvent) errorRow {
	return errorRow{
		FingerprintHash:   e.GetFingerprintHash(),
		Label:             wording.Clip(e.GetErrorLabel(), 300),
		SampleMessage:     wording.Clip(e.GetSampleMessage(), 1000),
		Count:             e.GetCount(),
		EstimatedCount:    e.GetEstimatedCount(),
		PreviousCount:     e.BaselineCount,
		PreviousEstimated: e.BaselineEstimatedCount,
		Services:          append([]string{}, e.GetServices()...),
		AffectedServicesCount: int(
			e.GetAffectedServicesCount(),
		),
		FirstSeen: wording.Clock(e.GetFirstSeen().AsTime()),
		LastSeen:  wording.Clock(e.GetLastSeen().AsTime()),
		typed:     e.GetExceptionType() != "",
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
		Baseline:  new("previous"),
		Filters:   &svcv2.ErrorEventFilters{ServiceName: service, DeploymentEnvironment: environment},
	})
}

func errorTable(heading, empty string, rows []errorRow) tool.Block {
	var cells [][]string
	for _, e := range rows {
		cells = append(
			cells,
			[]string{
				e.FingerprintHash,
				wording.Clip(e.Label, 120),
				wording.Number(math.Round(e.EstimatedCount)),
				before(e.PreviousEstimated),
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

// before words a figure of the earlier period, which is nil if that period has too few spans.
func before(count *float64) string {
	if count == nil {
		return "unknown"
	}
	return wording.Number(math.Round(*count))
}

type findErrorsArgs struct {
	tool.Window
	Service     *string `doc:"Exact name."`
	Environment *string
	Limit       int `default:"20" of:"SearchErrorEventsRequest.limit" clamp:""`
}

func newFindErrors(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[errorsResult](&tool.Tool{
		Name:  "find_errors",
		Title: "Errors",
		Description: "List the errors of spans in at most " + limits.Lasts(
			limits.SearchWindow,
		) + ", grouped by fingerprint, the most frequent first, with their counts in the equally long time before.",
		Run: tool.With(func(ctx context.Context, a *findErrorsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			out, err := searchErrors(ctx, s, w, a.Service, a.Environment, int32(a.Limit))
			if err != nil {
				return nil, err
			}
			totals := out.GetTotals()
			res := errorsResult{
				TimeRange: w, Errors: []errorRow{}, Identity: "all",
				Totals:         errorTotals{totals.GetOccurrences(), totals.GetEstimatedOccurrences(), int(totals.GetFingerprints()), totals.GetNoExceptionCount()},
				PreviousIsThin: out.GetBaselineIsThin(),
			}
			var environments []string
			for _, e := range out.GetData() {
				res.Errors = append(res.Errors, toErrorRow(e))
				environments = append(environments, e.GetDeploymentEnvironments()...)
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
				slices.Sort(environments)
				text.Notes = append(text.Notes, tool.MixedNotes("environment", slices.Compact(environments))...)
				occurrences := wording.Number(math.Round(res.Totals.Estimated))
				if math.Round(res.Totals.Estimated) != res.Totals.Occurrences {
					text.Notes = append(text.Notes, "The counts are corrected for sampling: "+wording.Number(res.Totals.Occurrences)+
						" received spans stand for "+occurrences+" failures.")
				}
				if res.PreviousIsThin {
					text.Notes = append(text.Notes, "The equally long time before has too few spans to tell which errors are new or rose.")
				}
				text.Shown = fmt.Sprintf("Shown: %d of %d errors; %s occurrences in all.", len(res.Errors), res.Totals.Fingerprints, occurrences)
				pick, rose := telling(res.Errors)
				detail := tool.Next(
					"error_detail",
					a.Again(w, map[string]any{"fingerprint": res.Errors[pick].FingerprintHash}, &a.Service, &a.Environment),
					"the error that rose most and has a message, with traces, versions and its stack trace",
				)
				if rose {
					text.Next = append(text.Next, detail)
				} else {
					if !res.PreviousIsThin {
						text.Notes = append(
							text.Notes,
							"No error is clearly more frequent than in the equally long time before. The change may not show in failed spans.",
						)
					}
					detail.Reason = "the most frequent error that has a message"
					if res.PreviousIsThin {
						text.Next = append(text.Next, detail)
					} else {
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
			}
			text.Blocks = []tool.Block{errorTable("", "No span failed. "+strings.Join(res.EmptyHints, " "), res.Errors)}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// telling picks the error to examine first: the one that rose most. If that one does not say what failed, it picks another that
// says so and rose about as much, and prefers one that was raised where it occurred. rose reports whether the rise exceeds
// chance. If the counts before are unknown, no error is said to have risen.
func telling(rows []errorRow) (pick int, rose bool) {
	earlier := func(e errorRow) float64 {
		if e.PreviousCount == nil {
			return e.Count
		}
		return *e.PreviousCount
	}
	more := func(e errorRow) float64 { return e.Count - earlier(e) }
	says := func(e errorRow) bool { return strings.TrimSpace(e.SampleMessage) != "" && e.Label != "Unknown Error" }
	for i, e := range rows {
		if more(e) > more(rows[pick]) {
			pick = i
		}
	}
	least := more(rows[pick]) / 2
	if least <= 0 { // if none rose, pick the most frequent
		pick, least = 0, more(rows[0])
	}
	first := rows[pick]
	// Counts of rare events vary by about their square root.
	const deviations = 3
	rose = more(first) > 0 && more(first) >= deviations*math.Sqrt(first.Count+earlier(first))
	about := func(e errorRow) bool { return more(e) >= least && e.Count >= first.Count/2 && says(e) }
	if !says(first) {
		for i, e := range rows {
			if about(e) {
				pick = i
				break
			}
		}
	}
	for i, e := range rows {
		if !rows[pick].typed && e.typed && about(e) && e.SampleMessage == rows[pick].SampleMessage {
			pick = i
		}
	}
	return pick, rose
}
