package agents

import (
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/diagnose"
)

// asked is the user's first message in the turn.
func asked(t *diagnose.AgentTurn) string {
	for _, sp := range append([]*svcv2.AgentSpan{t.Anchor}, t.Spans...) {
		if sp == nil || sp.GetOperation() == diagnose.OperationTool {
			continue
		}
		for _, m := range MessagesOf(sp.GetInput()) {
			if m.Role == "user" && m.Text != "" {
				return m.Text
			}
		}
	}
	return ""
}
