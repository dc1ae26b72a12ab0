// Package feedback has the tools for feedback.
package feedback

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newSendFeedback,
	}
}
