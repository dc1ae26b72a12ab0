package services

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

func TestServicesBeyondThoseListed(t *testing.T) {
	var rows []*svcv2.Service
	for i := range 150 {
		rows = append(rows, &svcv2.Service{Name: fmt.Sprint("s", i)})
	}
	for more, total := range map[bool]*int{false: new(150), true: nil} {
		got := servicesAnswer(&listServicesArgs{}, tool.TimeRange{}, rows, more).Data.(servicesResult)
		if diff := cmp.Diff(total, got.Total); diff != "" || len(got.Services) != limits.ToolServices {
			t.Errorf("%d listed, total (-want +got):\n%s", len(got.Services), diff)
		}
	}
}

// TestSpansThatCount: a service without entry spans is measured by all its spans, so no answer says that only entry spans count.
func TestSpansThatCount(t *testing.T) {
	t.Parallel()
	w := tool.Period(tooltest.Now().Add(-time.Hour), tooltest.Now())
	releases := &svcv2.ReleaseList{Data: []*svcv2.Release{{ServiceName: "cron", Version: "1"}}}
	operations := []*svcv2.ServiceOperationDetail{{Name: "run", EstimatedSpanCount: 3}}
	for name, a := range map[string]*tool.Answer{
		"list_services": servicesAnswer(&listServicesArgs{}, w, []*svcv2.Service{{Name: "cron", Throughput: 1}}, false),
		"list_releases": releasesAnswer(&listReleasesArgs{}, w, releases, &svcv2.ListMarkersResponse{}),
		"get_service_top_operations": operationsAnswer(
			&getServiceTopOperationsArgs{Service: "cron", Metric: "count"}, w, operations, false, nil,
		),
	} {
		text := a.Text.Render(name)
		for _, want := range []string{
			"Counted: entry spans, or all spans of a service that has no entry spans, weighted by sampling; percentiles ≈", "Spans",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, text)
			}
		}
		if strings.Contains(text, "| Entry spans") {
			t.Errorf("%s has a column of entry spans:\n%s", name, text)
		}
	}
	if got := tool.Weighted("calls"); got != tool.Labeled("Counted", "calls, weighted by sampling") {
		t.Errorf("calls are labeled %v", got)
	}
}

// TestNothingToCompare: without spans in a period, or with few, an answer says that nothing was compared, not that nothing changed.
func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	w := tool.Period(tooltest.Now().Add(-time.Hour), tooltest.Now())
	before := tool.Period(w.From.Add(-time.Hour), w.From)
	for name, c := range map[string]struct {
		current, previous *tool.TimeRange
		thin              bool
		want              string
	}{
		"both":        {&w, &before, false, "No cause was found"},
		"no current":  {nil, &before, false, "Nothing could be compared: the current period has no spans."},
		"no previous": {&w, nil, true, "Nothing could be compared: the previous period has no spans."},
		"neither":     {nil, nil, false, "Nothing could be compared: the current period has no spans."},
		"thin":        {&w, &before, true, "Nothing could be compared: the previous period has too little data."},
	} {
		text := comparisonText(&comparePeriodsArgs{}, comparison{
			CurrentPeriod: w, PreviousPeriod: before, PreviousIsThin: c.thin,
			Overall: overallPair{overallStats{Data: c.current}, overallStats{Data: c.previous}},
		})
		got := text.Render("compare_periods")
		if !strings.Contains(got, c.want) || strings.Contains(got, "No cause was found") != strings.HasPrefix(c.want, "No cause") {
			t.Errorf("%s: no %q in\n%s", name, c.want, got)
		}
	}
}
