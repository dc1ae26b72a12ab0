package telemetry

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
)

func TestMetricOfAnotherSourceIsNamed(t *testing.T) {
	for source, metric := range map[string]string{"logs": "p95_duration", "product_events": "avg", "traces": "increase", "metrics": "apdex"} {
		a, err := tool.Read[queryDataArgs](`{"source":"`+source+`","kind":"breakdown","metric":"`+metric+`"}`, now())
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
	for _, g := range groupings() {
		field := groupField(g[0], "http.route")
		known := strings.HasPrefix(field, "attr.") || strings.HasPrefix(field, "resource.")
		for _, s := range []query.Source{query.Traces, query.Logs, query.Metrics, query.ProductEvents} {
			f, err := query.ParseField(s, field)
			known = known || err == nil && f.Scope == query.Builtin
		}
		if !known {
			t.Errorf("%s is the field %s, which no source has", g[0], field)
		}
	}
}

func TestMetricsNeedNoField(t *testing.T) {
	for source, want := range map[string]string{"traces": "p95_duration", "logs": "error_count", "metrics": "increase", "product_events": "visitors"} {
		if got := metricsOf(source); !slices.Contains(got, want) || slices.Contains(got, "count_distinct") {
			t.Errorf("%s: %v", source, got)
		}
	}
}
