package errorevents

import (
	"context"
	"fmt"
	"math"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type errorsResult struct {
	TimeRange  tool.TimeRange `json:"timeRange"`
	Errors     []errorRow     `json:"errors"`
	Totals     errorTotals    `json:"totals"`
	Identity   string         `json:"identity"`
	EmptyHints []string       `json:"emptyHints,omitempty"`
}

type errorRow struct {
	FingerprintHash       string   `json:"fingerprintHash"`
	Label                 string   `json:"label"`
	SampleMessage         string   `json:"sampleMessage"`
	Count                 float64  `json:"count"`
	PreviousCount         float64  `json:"previousCount"`
	Services              []string `json:"services"`
	AffectedServicesCount int      `json:"affectedServicesCount"`
	FirstSeen             string   `json:"firstSeen"`
	LastSeen              string   `json:"lastSeen"`

	typed bool // the span has an exception with a type: it was raised there and not passed on
}

type errorTotals struct {
	Occurrences      float64 `json:"occurrences"`
	Fingerprints     int     `json:"fingerprints"`
	NoExceptionCount float64 `json:"noExceptionCount"`
}

func toErrorRow(e *svcv2.ErrorEvent) errorRow {
	return errorRow{
		FingerprintHash: e.GetFingerprintHash(),
		Label:           wording.Clip(e.GetErrorLabel(), 300),
		SampleMessage:   wording.Clip(e.GetSampleMessage(), 1000),
		Count:           e.GetCount(),
		Services:        append([]string{}, e.GetServices()...),
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
				wording.Number(e.Count),
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
				Totals: errorTotals{totals.GetOccurrences(), int(totals.GetFingerprints()), totals.GetNoExceptionCount()},
			}
			for _, e := range out.GetData() {
				res.Errors = append(res.Errors, toErrorRow(e))
			}
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
				text.Shown = fmt.Sprintf(
					"Shown: %d of %d errors; %s occurrences in all.",
					len(res.Errors),
					res.Totals.Fingerprints,
					wording.Number(res.Totals.Occurrences),
				)
				pick, rose := telling(res.Errors)
				detail := tool.Next(
					"error_detail",
					a.Again(w, map[string]any{"fingerprint": res.Errors[pick].FingerprintHash}, &a.Service, &a.Environment),
					"the error that rose most and has a message, with traces, versions and its stack trace",
				)
				if rose {
					text.Next = append(text.Next, detail)
				} else {
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
			rows[i].PreviousCount = e.GetCount()
		}
	}
	return err
}

// telling picks the error to examine first: the one that rose most. If that one does not say what failed, it picks another that
// says so and rose about as much, and prefers one that was raised where it occurred. rose reports whether the rise exceeds
// chance.
func telling(rows []errorRow) (pick int, rose bool) {
	more := func(e errorRow) float64 { return e.Count - e.PreviousCount }
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
	rose = more(first) >= deviations*math.Sqrt(first.Count+first.PreviousCount)
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
