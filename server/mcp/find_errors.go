package mcp

import (
	"context"
	"fmt"
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
