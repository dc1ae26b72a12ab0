// Package setup has the tools for the setup of the instrumentation.
package setup

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newAuditSetup,
		newGetInstrumentationRecommendations,
		newListIntegrations,
		newSyncPlatformA,
		newSyncPlatformB,
	}
}
