package telemetry

import (
	"errors"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
)

func TestMetricOfAnotherSourceIsNamed(t *testing.T) {
	for source, metric := range map[string]string{"logs": "p95_duration", "product_events": "avg", "traces": "increase", "metrics": "apdex"} {
		a := &tool.Arguments{Values: map[string]any{"source": source, "kind": "breakdown", "metric": metric}}
		_, _, err := spec(a, tool.TimeRange{})
		var input *tool.InputError
		if !errors.As(err, &input) || input.Parameter != "metric" || !strings.Contains(input.Message, metricsOf(source)[0]) {
			t.Errorf("%s with %s: %v", source, metric, err)
		}
	}
}
