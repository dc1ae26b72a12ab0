package telemetry

import (
	"errors"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
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
