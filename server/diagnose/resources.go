package diagnose

import (
	"context"
	"fmt"

	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/wording"
)

// resourceWords are parts of the names of metrics that measure a resource which can run out.
func resourceWords() []string {
	return []string{
		"memory", "heap", "rss", "queue", "lag", "backlog", "pending", "depth", "pool", "connections", "utilization", "saturation", "cpu",
		"threads", "goroutines", "disk", "filesystem", "inflight", "in_flight", "active_requests", "open_files", "descriptors", "waiting",
	}
}

// resources reads the gauges and up-down counters of resources. It leaves out those with too many points and says so.
func (e *Engine) resources(ctx context.Context, org principal.OrgID, s *search) ([]reads.ChangeSeriesRow, error) {
	metrics, err := read.All[reads.ResourceMetricRow](ctx, e.read.Warehouse, org,
		reads.ResourceMetrics(s.series.Window, resourceWords(), limits.IncidentMetrics+1))
	if err != nil {
		return nil, err
	}
	if len(metrics) > limits.IncidentMetrics {
		s.notSearched = append(s.notSearched, fmt.Sprintf("metrics of resources beyond %d", limits.IncidentMetrics))
		metrics = metrics[:limits.IncidentMetrics]
	}
	points := 0.0
	var gauges, levels []string
	for i, m := range metrics { // those with the fewest points come first
		if points += float64(m.Points); points > limits.IncidentPoints {
			s.notSearched = append(s.notSearched, fmt.Sprintf("%d metrics of resources with more than %s data points in all",
				len(metrics)-i, wording.Number(limits.IncidentPoints)))
			break
		}
		if m.Type == "gauge" {
			gauges = append(gauges, m.Name)
		} else {
			levels = append(levels, m.Name)
		}
	}
	var out, sums []reads.ChangeSeriesRow
	err = atonce.Run(
		func() (err error) {
			if len(gauges) > 0 {
				out, err = read.All[reads.ChangeSeriesRow](ctx, e.read.Warehouse, org, reads.GaugeChanges(s.series, gauges))
			}
			return err
		},
		func() (err error) {
			if len(levels) > 0 {
				sums, err = read.All[reads.ChangeSeriesRow](ctx, e.read.Warehouse, org, reads.LevelChanges(s.series, levels))
			}
			return err
		},
	)
	return append(out, sums...), err
}
