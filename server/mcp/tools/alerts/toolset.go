// Package alerts has the tools for alert rules, their destinations and their incidents.
package alerts

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
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

// clock writes a time that may be missing.
func clock(t *timestamppb.Timestamp) *string {
	if t == nil {
		return nil
	}
	text := wording.Clock(t.AsTime().Truncate(time.Millisecond))
	return &text
}
