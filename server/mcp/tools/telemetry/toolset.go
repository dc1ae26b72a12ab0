// Package telemetry has the tools for traces, logs and queries.
package telemetry

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newSearchTraces,
		newFindSlowTraces,
		newInspectTrace,
		newInspectSpan,
		newSearchLogs,
		newMineLogPatterns,
		newQueryData,
		newRunSQL,
		newDescribeWarehouseTables,
	}
}
