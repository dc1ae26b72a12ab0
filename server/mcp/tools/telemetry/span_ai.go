package telemetry

import (
	"cmp"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/genai"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// spanAI is the content of an agent's span. If it was decoded it has markdown, otherwise a reason.
type spanAI struct {
	Kind      string `json:"kind"`
	Markdown  string `json:"markdown,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// aiOf reads the messages of a model call, or the arguments and the result of a tool call (semantic conventions for generative
// AI). It is nil for other spans.
func aiOf(sp *svcv2.Span, most int) *spanAI {
	attributes := sp.GetAttributes()
	operation := attributes["gen_ai.operation.name"]
	if operation == "" {
		return nil
	}
	out := &spanAI{
		Kind:      "decoded",
		SessionID: cmp.Or(attributes["svc_ai.session.id"], attributes["gen_ai.conversation.id"], attributes["session.id"]),
	}
	var parts []string
	add := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, "**"+name+"**: "+wording.Clip(text, most))
		}
	}
	if operation == genai.OperationTool {
		add("arguments of "+cmp.Or(attributes["gen_ai.tool.name"], "the tool"), attributes["gen_ai.tool.call.arguments"])
		add("result", attributes["gen_ai.tool.call.result"])
	}
	said := func(raw string) {
		for _, m := range genai.Messages(raw) {
			add(cmp.Or(m.Role, "message"), m.Text)
		}
	}
	said(attributes["gen_ai.system_instructions"])
	said(attributes["gen_ai.input.messages"])
	for _, e := range sp.GetEvents() { // older conventions send messages as events
		if strings.HasPrefix(e.GetName(), "gen_ai.") {
			add(
				strings.TrimSuffix(strings.TrimPrefix(e.GetName(), "gen_ai."), ".message"),
				cmp.Or(e.GetAttributes()["content"], e.GetAttributes()["gen_ai.event.content"], e.GetAttributes()["message"]),
			)
		}
	}
	said(attributes["gen_ai.output.messages"])
	if len(parts) == 0 {
		out.Kind, out.Reason = "undecoded", "The span of the operation "+operation+
			" carries no messages: the agent must record them (gen_ai.input.messages and gen_ai.output.messages)."
	}
	out.Markdown = strings.Join(parts, "\n\n")
	return out
}

func (ai *spanAI) block() tool.Block {
	b := tool.Block{Heading: "Messages", Empty: ai.Reason}
	if ai.Markdown != "" {
		b.Rows = strings.Split(ai.Markdown, "\n")
	}
	return b
}
