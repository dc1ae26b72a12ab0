package contract

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/limits"
)

var (
	longestWindow = regexp.MustCompile(`at most (\d+ (?:days|hours)) later|window of at most (\d+ (?:days|hours))`)
	figure        = regexp.MustCompile(`\d[\d,]* (?:days|hours|minutes|MiB|KiB|GiB)`)
)

// windowOf returns the longest window of each method whose comments, or whose request's comments, name one.
func windowOf(method string) time.Duration {
	for _, w := range []struct {
		longest time.Duration
		methods string
	}{
		{limits.SearchWindow, "SearchTraces SearchLogs SearchTraceFacets SearchLogFacets SearchAgentSessions GetAgentToolsOverview GetAgentToolError DiagnoseService ComparePeriods SearchSlowerOperations"},
		{limits.PatternWindow, "SearchLogPatterns"},
		{limits.MetricWindow, "ListMetrics SummarizeMetrics CountMetrics GetMetric GetMetricDetail"},
		{limits.ServiceWindow, "ListServices GetService GetServiceOverview ListServiceOperations GetServiceApdex ListServiceReleases GetServiceMap ListEnvironments"},
		{limits.TimeseriesWindow, "QueryTraceTimeseries QueryLogTimeseries QueryMetricsTimeseries QueryProductEventTimeseries QueryTimeseries SummarizeTraces ResolveShareWidgetData"},
		{limits.BreakdownWindow, "QueryTraceBreakdown QueryLogBreakdown QueryMetricBreakdown QueryProductEventBreakdown QueryBreakdown"},
		{limits.ActivityWindow, "ListProductEvents SearchProductEvents SearchProductEventFunnel SearchProductEventPaths SearchSessionReplays SearchSessionReplayFacets ListSessionReplaysForTrace"},
		{limits.AgentSessionWindow, "GetAgentSession GetAgentSessionVerdict"},
		{limits.ErrorWindow, "SearchErrorEvents GetErrorEvent"},
		{limits.AttributeWindow, "ListAttributeKeys ListAttributeValues"},
		{limits.SQLWindow, "RunSql"},
	} {
		if slices.Contains(strings.Fields(w.methods), method) {
			return w.longest
		}
	}
	return 0
}

// TestFigures compares the figures in the comments of the contract with limits. The longest window of a method, in its comment or
// in that of its request, is bound to the constant of that method. Every other figure with a unit of time or size must be the
// value of some limit.
func TestFigures(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, g := range limits.Table() {
		for _, l := range g.Limits {
			known[l.Text()] = true
		}
	}
	windows, figures := 0, 0
	check := func(d protoreflect.Descriptor, method string) {
		text := Comment(d)
		for _, m := range longestWindow.FindAllStringSubmatch(text, -1) {
			got := m[1] + m[2]
			windows++
			if longest := windowOf(method); got != limits.Lasts(longest) {
				t.Errorf("%s says %q; the limit of %s is %s", d.FullName(), m[0], method, limits.Lasts(longest))
			}
		}
		for _, f := range figure.FindAllString(text, -1) {
			figures++
			if !known[f] {
				t.Errorf("%s says %q, which is no value of limits", d.FullName(), f)
			}
		}
	}
	for _, m := range c.Methods() {
		name := string(m.Descriptor.Name())
		check(m.Descriptor, name)
		fields := m.Descriptor.Input().Fields()
		for i := range fields.Len() {
			check(fields.Get(i), name)
		}
	}
	if windows < 40 || figures < windows {
		t.Errorf("%d windows and %d figures were found", windows, figures)
	}
}
