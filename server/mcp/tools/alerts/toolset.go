// Package alerts has the tools for alert rules, their destinations and their incidents.
package alerts

import (
	"github.com/svc-observability/svc/server/mcp/tool"
)

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newListAlertRules,
		newGetAlertRule,
		newListAlertChecks,
		newPreviewAlertRule,
		newCreateAlertRule,
		newUpdateAlertRule,
		newDeleteAlertRule,
		newListAlertDestinations,
		newListAlertIncidents,
		newGetIncidentTimeline,
	}
}
