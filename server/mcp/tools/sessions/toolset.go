// Package sessions has the tools for browser sessions and product events.
package sessions

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newSearchSessions,
		newGetSessionTranscript,
		newGetSessionTraces,
		newListProductEvents,
		newQueryFunnel,
	}
}
