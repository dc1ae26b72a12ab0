// Package dashboards has the tools for dashboards.
package dashboards

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newListDashboards,
		newGetDashboard,
		newDescribeDashboardSchema,
		newInspectChartData,
		newCreateDashboard,
		newUpdateDashboard,
		newDeleteDashboard,
		newAddDashboardWidget,
		newUpdateDashboardWidget,
		newRemoveDashboardWidget,
		newReorderDashboardWidgets,
		newReplaceDashboardWidgets,
	}
}
