package telemetry

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
	"github.com/svc-observability/svc/server/query"
)

func TestMetricOfAnotherSourceIsNamed(t *testing.T) {
	for source, metric := range map[string]string{"logs": "p95_duration", "product_events": "avg", "traces": "increase", "metrics": "apdex"} {
		a, err := tool.Read[queryDataArgs](`{"source":"`+source+`","kind":"breakdown","metric":"`+metric+`"}`, tooltest.Now())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = spec(a, tool.TimeRange{})
		var input *tool.InputError
		if !errors.As(err, &input) || input.Parameter != "metric" || !strings.Contains(input.Message, metricsOf(source)[0]) {
			t.Errorf("%s with %s: %v", source, metric, err)
		}
	}
}

// TestGroupsAreFieldsOfTheQueryLanguage parses the field of every way to group for a source that has it.
func TestGroupsAreFieldsOfTheQueryLanguage(t *testing.T) {
	if len(groupings()) < 10 {
		t.Errorf("groupings: %v", groupings())
	}
	for _, g := range groupings() {
		known := false
		for _, s := range query.Sources() {
			field := groupField(s, g, "http.route")
			f, err := query.ParseField(s, field)
			known = known || err == nil && (f.Scope == query.Builtin || ofAttribute(g))
		}
		if !known {
			t.Errorf("no source has a field for %s", g)
		}
	}
	// A field that the source does not have keeps its name, so the query reads the attribute of that name.
	for _, tc := range []struct {
		source      query.Source
		group, want string
	}{
		{query.Traces, "kind", "span.kind"},
		{query.ProductEvents, "kind", "event.kind"},
		{query.Logs, "http_method", "http.method"},
		{query.Metrics, "resource_attribute", "resource.k"},
	} {
		if got := groupField(tc.source, tc.group, "k"); got != tc.want {
			t.Errorf("%s by %s: %s", tc.source, tc.group, got)
		}
	}
}

func TestMetricsNeedNoField(t *testing.T) {
	for source, want := range map[string]string{
		"traces": "p95_duration", "logs": "error_count", "metrics": "increase",
		"product_events": "visitors",
	} {
		if got := metricsOf(source); !slices.Contains(got, want) || slices.Contains(got, "count_distinct") {
			t.Errorf("%s: %v", source, got)
		}
	}
}
