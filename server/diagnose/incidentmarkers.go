package diagnose

import (
	"context"
	"fmt"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// incidentMarkers reads the markers around an incident: those of its services, and those for all services. Incidents are found in
// telemetry, so a database that cannot give the markers does not hide them.
func (e *Engine) incidentMarkers(ctx context.Context, i *incident) error {
	most := int32(limits.LargestPage)
	list, err := e.read.Markers.ListMarkers(ctx, &svcv2.ListMarkersRequest{
		StartTime: Period{i.window.Start.Add(-limits.MarkerBefore), i.window.End}.start(), EndTime: i.window.end(), Limit: &most,
		DeploymentEnvironment: i.environment,
	})
	if err != nil {
		i.search.unmarked.Store(true)
		return ctx.Err()
	}
	i.markers = slices.DeleteFunc(slices.Clone(list.GetData()), func(m *svcv2.Marker) bool {
		return m.ServiceName != nil && !slices.Contains(i.names, m.GetServiceName())
	})
	return nil
}

// marker is the event nearest to the begin of the incident. One that names the service of the cause is likelier than one for all.
func (i *incident) marker() finding {
	var best finding
	nearest := limits.MarkerBefore + 1
	for _, m := range i.markers {
		away := i.window.Start.Sub(m.GetOccurredAt().AsTime())
		if m.GetKind() == "note" || away > limits.MarkerBefore || away < -limits.MarkerAfter {
			continue
		}
		f := finding{kind: "marker", target: m.GetId(), confidence: 0.64}
		if m.ServiceName != nil {
			f.confidence = 0.7
		}
		if m.GetServiceName() == i.service {
			f.confidence = 0.8
		}
		f.statement = fmt.Sprintf("%s at %s: %s.", map[string]string{
			"deploy": "Deployment", "flag": "Change of a flag",
			"configuration": "Change of configuration",
		}[m.GetKind()],
			wording.Clock(m.GetOccurredAt().AsTime()), wording.Clip(wording.OneLine(m.GetTitle()), 200))
		if f.confidence > best.confidence || f.confidence == best.confidence && away.Abs() < nearest {
			best, nearest = f, away.Abs()
		}
	}
	return best
}
