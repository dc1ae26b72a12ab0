package telemetry

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
)

// TestMetricTypes compares the types of metrics in the contract with those that queries compute.
func TestMetricTypes(t *testing.T) {
	got, err := tool.Choices("QueryMetric.type")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(query.MetricTypes(), got); diff != "" {
		t.Errorf("types in the contract (-queries +contract):\n%s", diff)
	}
}
