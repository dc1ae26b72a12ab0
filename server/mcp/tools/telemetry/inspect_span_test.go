package telemetry

import (
	"strings"
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func TestSpanOfAnAgent(t *testing.T) {
	chat := aiOf(&svcv2.Span{Attributes: map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conv_1",
		"gen_ai.input.messages":  `[{"role":"user","parts":[{"type":"text","content":"Where is my order?"}]}]`,
		"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"tool_call","name":"lookup_order","arguments":{"id":7}}]}]`,
	}}, 200)
	if chat.Kind != "decoded" || chat.SessionID != "conv_1" || !strings.Contains(chat.Markdown, "**user**: Where is my order?") ||
		!strings.Contains(chat.Markdown, `→ lookup_order {"id":7}`) {
		t.Errorf("%+v", chat)
	}
	called := aiOf(&svcv2.Span{Attributes: map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t",
		"gen_ai.tool.call.arguments": strings.Repeat("x", 500), "gen_ai.tool.call.result": "ok",
	}}, 100)
	if called.Kind != "decoded" || !strings.Contains(called.Markdown, "400 more characters") ||
		!strings.Contains(called.Markdown, "**result**: ok") {
		t.Errorf("%+v", called)
	}
	events := aiOf(&svcv2.Span{
		Attributes: map[string]string{"gen_ai.operation.name": "chat"},
		Events:     []*svcv2.SpanEvent{{Name: "gen_ai.user.message", Attributes: map[string]string{"content": "Hello"}}},
	}, 100)
	if events.Markdown != "**user**: Hello" {
		t.Errorf("%+v", events)
	}
	if silent := aiOf(&svcv2.Span{Attributes: map[string]string{"gen_ai.operation.name": "chat"}}, 100); silent.Kind != "undecoded" ||
		silent.Reason == "" || silent.block().Empty == "" {
		t.Errorf("%+v", silent)
	}
	if other := aiOf(&svcv2.Span{Attributes: map[string]string{"http.route": "/"}}, 100); other != nil {
		t.Errorf("%+v", other)
	}
}
