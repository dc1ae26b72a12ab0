// Package services has the tools for services.
package services

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newFindIncidents,
		newListServices,
		newDiagnoseService,
		newGetServiceTopOperations,
		newServiceMap,
		newListReleases,
		newCreateMarker,
		newComparePeriods,
		newExplainDifference,
		newExploreAttributes,
		newListMetrics,
	}
}
