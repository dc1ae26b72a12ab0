// Package agents has the tools for sessions of AI agents.
package agents

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newListAgentSessions,
		newGetAgentSession,
		newGetAgentSessionTranscript,
		newGetAgentToolsOverview,
		newGetAgentToolError,
	}
}
