package mcp

import (
	"context"
	"fmt"
	"math"
	"strings"

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
	PreviousCount         float64  `json:"previousCount"`
	Services              []string `json:"services"`
	AffectedServicesCount int      `json:"affectedServicesCount"`
	FirstSeen             string   `json:"firstSeen"`
	LastSeen              string   `json:"lastSeen"`

	typed bool // the span has an exception with a type: it was raised there, not handed on
}

type errorTotals struct {
	Occurrences      float64 `json:"occurrences"`
	Fingerprints     int     `json:"fingerprints"`
	NoExceptionCount float64 `json:"noExceptionCount"`
}

func toErrorRow(e *svcv2.ErrorEvent) errorRow {
	return errorRow{
		FingerprintHash: e.GetFingerprintHash(), Label: clip(e.GetErrorLabel(), 300), SampleMessage: clip(e.GetSampleMessage(), 1000), Count: e.GetCount(), Services: append([]string{}, e.GetServices()...),
		AffectedServicesCount: int(e.GetAffectedServicesCount()), FirstSeen: clock(e.GetFirstSeen().AsTime()), LastSeen: clock(e.GetLastSeen().AsTime()), typed: e.GetExceptionType() != "",
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
		cells = append(cells, []string{e.FingerprintHash, clip(e.Label, 120), number(e.Count), number(e.PreviousCount), clip(strings.Join(e.Services, ", "), 120), e.FirstSeen, e.LastSeen, clip(e.SampleMessage, 200)})
	}
	return table(heading, empty, []string{"Fingerprint", "Error", "Count", "Before", "Services", "First seen", "Last seen", "Message"}, cells)
}

func newFindErrors(s *Server) (*tool, error) {
	return define[errorsResult](&tool{
		name: "find_errors", title: "Errors",
		description: "List the errors of spans in a time range, grouped by fingerprint, most frequent first, with their counts before.",
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
			if err := s.countBefore(ctx, a, w, res.Errors); err != nil {
				return nil, err
			}
			text := page{scope: a.scope(w, "service", "environment")}
			if len(res.Errors) == 0 {
				res.EmptyHints = []string{"Try a longer time range, for example start_time=now-24h.", "Leave out service and environment, or look up their exact names with list_services.", "Errors in logs only are found with search_logs severity=ERROR."}
				text.next = append(text.next, suggestion{"compare_periods", a.compared(w), "what changed that is not in failed spans"}, suggestion{"search_logs", a.again(w, map[string]any{"severity": "ERROR"}, "service", "environment"), "errors in logs"})
			} else {
				text.shown = fmt.Sprintf("Shown: %d of %d errors; %s occurrences in all.", len(res.Errors), res.Totals.Fingerprints, number(res.Totals.Occurrences))
				pick, rose := telling(res.Errors)
				detail := suggestion{"error_detail", a.again(w, map[string]any{"fingerprint": res.Errors[pick].FingerprintHash}, "service", "environment"), "the error that rose most and says what failed, with traces, versions and its stack trace"}
				if rose {
					text.next = append(text.next, detail)
				} else {
					text.notes = append(text.notes, "No error is clearly more frequent than in the equally long time before: what changed may not be in failed spans.")
					detail.reason = "the most frequent error that says what failed"
					text.next = append(text.next, suggestion{"compare_periods", a.compared(w), "what else changed: latency, releases, dependencies, log patterns"}, detail)
				}
			}
			text.blocks = []block{errorTable("", "No span failed. "+strings.Join(res.EmptyHints, " "), res.Errors)}
			return &answer{data: res, text: text}, nil
		},
	})
}

// countBefore fills in how often the errors occurred in the equally long time before.
func (s *Server) countBefore(ctx context.Context, a *arguments, w timeRange, rows []errorRow) error {
	if len(rows) == 0 {
		return nil
	}
	at, most := map[string]int{}, int32(len(rows))
	filters := &svcv2.ErrorEventFilters{ServiceName: a.text("service"), DeploymentEnvironment: a.text("environment")}
	for i, e := range rows {
		at[e.FingerprintHash] = i
		filters.FingerprintHashes = append(filters.FingerprintHashes, e.FingerprintHash)
	}
	prev := w.before()
	out, err := s.clients.errors.SearchErrorEvents(ctx, &svcv2.SearchErrorEventsRequest{StartTime: prev.startProto(), EndTime: prev.endProto(), Limit: &most, Filters: filters})
	for _, e := range out.GetData() {
		if i, ok := at[e.GetFingerprintHash()]; ok {
			rows[i].PreviousCount = e.GetCount()
		}
	}
	return err
}

// telling is the error to look at first: the one that rose most, or one that rose about as much and says what failed where that does not, best where
// it was raised; and whether it rose by more than chance would have it.
func telling(rows []errorRow) (pick int, rose bool) {
	more := func(e errorRow) float64 { return e.Count - e.PreviousCount }
	says := func(e errorRow) bool { return strings.TrimSpace(e.SampleMessage) != "" && e.Label != "Unknown Error" }
	for i, e := range rows {
		if more(e) > more(rows[pick]) {
			pick = i
		}
	}
	least := more(rows[pick]) / 2
	if least <= 0 { // none rose: the most frequent
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
