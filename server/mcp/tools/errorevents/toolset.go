// Package errorevents has the tools for errors.
package errorevents

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newFindErrors,
		newErrorDetail,
	}
}
