package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The support agent has conversations of several turns with a language model and tools. Its spans use OpenTelemetry's GenAI
// conventions.

type tool struct {
	name, description string
	arguments         func(r random) string
	result            string
	// fails is the rate and the kind of the tool's failures.
	fails   float64
	failure string
	message string
	run     func(t *trace, order string)
}

func tools() map[string]tool {
	order := func(r random) string { return `{"order_id":"o-` + r.digits(7) + `"}` }
	return map[string]tool{
		"lookup_order": {
			"lookup_order", "Find an order and its state.", order, `{"state":"shipped","items":2,"total":"84.80 EUR"}`, 0.03, "OrderNotFound",
			"no order with this id",
			func(t *trace, id string) { t.getOrder(id) },
		},
		"track_shipment": {
			"track_shipment", "Ask the carrier where a parcel is.", order, `{"carrier":"parcelway","state":"in_transit","eta_days":2}`, 0.12,
			"TimeoutError", "parcelway did not answer within 5 s",
			func(t *trace, _ string) { t.quote() },
		},
		"search_help": {
			"search_help", "Search the help pages.", func(random) string { return `{"query":"return an opened item"}` },
			`{"pages":["returns","refunds"]}`, 0.01, "SearchUnavailable", "the help index is being rebuilt",
			func(t *trace, _ string) {
				t.query(opensearch(`{"query": {"match": {"text": "?"}}}`), 22*ms, nil)
			},
		},
		"issue_refund": {
			"issue_refund", "Refund an order within 30 days.", order, `{"refund":"accepted","days":5}`, 0.2, "RefundWindowExpired",
			"the order is older than 30 days",
			func(t *trace, _ string) {
				t.grpc(payments, "shop.payments.v1.Payments/Refund", func() *failure {
					return t.query(postgres("payments", "INSERT", "refunds", "INSERT INTO refunds (order_id, amount) VALUES (?, ?)"), 8*ms, nil)
				})
			},
		},
	}
}

// question is a customer's question, with the tools that the answer needs.
type question struct {
	asks, answer string
	tools        []string
}

func questions() []question {
	return []question{
		{"Where is my order?", "Your parcel is on its way and should arrive in two days.", []string{"lookup_order", "track_shipment"}},
		{
			"I want my money back for the blanket.", "The refund is on its way; it takes about five days.",
			[]string{"lookup_order", "search_help", "issue_refund"},
		},
		{"Can I return something I have opened?", "Yes, within 30 days, if nothing is missing.", []string{"search_help"}},
		{"It still has not arrived!", "I am sorry. The carrier says it is in transit; I have asked for priority.", []string{"track_shipment"}},
		{"Thank you.", "You are welcome!", nil},
	}
}

const (
	chatModel  = "claude-sonnet-4-5"
	titleModel = "gpt-5-mini"
)

// talk is a conversation with one trace for each turn. In the pauses between turns the customer reads and writes.
func (g *slot) talk(r random, at int64) {
	u := g.visitor(r, false)
	conversation := "conv_" + r.hex(20)
	list := questions()
	turns := 1 + r.IntN(4)
	history := 900 + r.IntN(300)
	for turn := range turns {
		q := list[r.IntN(len(list)-1)]
		if turn > 0 && turn == turns-1 && r.chance(0.6) {
			q = list[len(list)-1]
		}
		t := g.begin(r, at, production, u)
		t.turn(conversation, q, turn, &history)
		t.end()
		at = t.latest + int64(r.between(12*time.Second, 75*time.Second))
		if at > g.start+8*nanosPerMinute { // a conversation that begins in a minute must end within the lead-in
			break
		}
	}
}

func (t *trace) turn(conversation string, q question, number int, history *int) {
	t.http(call{to: edge, method: "POST", route: "/api/support/chat"}, func() *failure {
		t.work(ms)
		return t.http(call{to: agent, method: "POST", route: "/v1/chat"}, func() *failure {
			sc := t.open(
				t.running, internal, "invoke_agent support-agent", text("gen_ai.operation.name", "invoke_agent"),
				text("gen_ai.agent.name", "support-agent"),
				text("gen_ai.agent.id", "agt_support_eu"), text("gen_ai.agent.version", "0.14.2"), text("gen_ai.conversation.id", conversation),
				text("gen_ai.provider.name", "anthropic"),
				text("gen_ai.request.model", chatModel),
				text("gen_ai.input.messages", messages("user", q.asks)),
			)
			before := *history
			input, output, cost := 0, 0, 0.0
			*history += 12 + len(q.asks)/4
			if number == 0 {
				asked := 60 + len(q.asks)/4
				o, c := t.model(conversation, titleModel, "openai", asked, 0, 8, messages("user", "Title for: "+q.asks),
					messages("assistant", strings.TrimSuffix(q.asks, "?")), "stop")
				input, output, cost = input+asked, output+o, cost+c
			}
			var failed *failure
			for _, name := range q.tools {
				use := tools()[name]
				arguments := use.arguments(t.r)
				callID := "toolu_" + t.r.hex(16)
				o, c := t.model(conversation, chatModel, "anthropic", *history, before, 40+t.r.IntN(60), messages("user", q.asks),
					toolCall(callID, name, arguments), "tool_calls")
				input, output, cost = input+*history, output+o, cost+c
				*history += o + 90
				if f := t.use(conversation, use, callID, arguments); f != nil {
					failed = f
				}
			}
			answer := q.answer
			if failed != nil {
				answer = "I could not do that: " + failed.message + ". A colleague will write to you."
			}
			f := t.overloaded(conversation)
			if f == nil {
				o, c := t.model(conversation, chatModel, "anthropic", *history, before, 60+t.r.IntN(160), messages("user", q.asks),
					messages("assistant", answer), "stop")
				input, output, cost, *history = input+*history, output+o, cost+c, *history+o
				t.add(text("gen_ai.output.messages", messages("assistant", answer)))
			} else {
				t.log(levelError, "turn failed: "+f.message, text("gen_ai.conversation.id", conversation), text("exception.type", f.kind))
				t.add(text("error.type", f.kind))
			}
			t.add(whole("gen_ai.usage.input_tokens", input), whole("gen_ai.usage.output_tokens", output), decimal("gen_ai.usage.cost", cost))
			t.shut(sc, f)
			return f
		})
	})
}

// model is one call of a language model. It returns the tokens of the answer and their cost.
func (t *trace) model(conversation, model, provider string, input, cached, output int, in, out, reason string) (int, float64) {
	address := "api." + provider + ".com"
	sc := t.open(
		t.running, client, "chat "+model, text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", provider),
		text("gen_ai.request.model", model),
		text("gen_ai.response.model", map[string]string{chatModel: "claude-sonnet-4-5-20250929", titleModel: "gpt-5-mini-2025-08-07"}[model]),
		text("gen_ai.conversation.id", conversation), text("gen_ai.agent.name", "support-agent"), text("gen_ai.response.id", "msg_"+t.r.hex(18)),
		texts("gen_ai.response.finish_reasons", reason), whole("gen_ai.request.max_tokens", 1024),
		decimal("gen_ai.request.temperature", 0.2), text("gen_ai.output.type", "text"),
		text("server.address", address), whole("server.port", 443), text("peer.service", address), text("gen_ai.input.messages", in),
		text("gen_ai.output.messages", out),
	)
	began := t.now
	first := t.r.near(380*ms, 0.35)
	t.wait(first)
	t.wait(time.Duration(float64(output) / 65 * float64(time.Second)))
	cost := float64(input-cached)*3e-6 + float64(cached)*0.3e-6 + float64(output)*15e-6
	t.add(
		whole("gen_ai.usage.input_tokens", input), whole("gen_ai.usage.output_tokens", output),
		whole("gen_ai.usage.cache_read.input_tokens", cached),
		decimal("gen_ai.usage.cost", cost), decimal("gen_ai.response.time_to_first_chunk", first.Seconds()),
	)
	a := []attribute{text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", provider), text("gen_ai.request.model", model)}
	t.observe("gen_ai.client.operation.duration", seconds(t.now-began), a...)
	t.observe("gen_ai.client.token.usage", float64(input), append(a[:3:3], text("gen_ai.token.type", "input"))...)
	t.observe("gen_ai.client.token.usage", float64(output), append(a[:3:3], text("gen_ai.token.type", "output"))...)
	t.shut(sc, nil)
	return output, cost
}

// overloaded is a call of a language model that fails. One turn in a hundred ends with one.
func (t *trace) overloaded(conversation string) *failure {
	if !t.r.chance(0.01) {
		return nil
	}
	sc := t.open(
		t.running, client, "chat "+chatModel, text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", "anthropic"),
		text("gen_ai.request.model", chatModel),
		text("gen_ai.conversation.id", conversation), text("gen_ai.agent.name", "support-agent"),
		text("server.address", "api.anthropic.com"), whole("server.port", 443),
		text("peer.service", "api.anthropic.com"),
	)
	t.work(2 * time.Second)
	f := &failure{
		kind: "anthropic.APIStatusError", message: "overloaded_error: the model is overloaded",
		stack: stack(t.running, "anthropic.APIStatusError", "overloaded_error: the model is overloaded",
			"run_turn"), http: 503, grpc: 14,
	}
	t.add(text("error.type", f.kind))
	t.observe(
		"gen_ai.client.operation.duration", seconds(t.now-int64(sc.span.StartTimeUnixNano)), text("gen_ai.operation.name", "chat"),
		text("gen_ai.provider.name", "anthropic"),
		text("gen_ai.request.model", chatModel), text("error.type", f.kind),
	)
	t.shut(sc, f)
	return f
}

// use calls a tool.
func (t *trace) use(conversation string, u tool, callID, arguments string) *failure {
	sc := t.open(
		t.running, internal, "execute_tool "+u.name, text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", u.name),
		text("gen_ai.tool.type", "function"),
		text("gen_ai.tool.description", u.description), text("gen_ai.tool.call.id", callID), text("gen_ai.tool.call.arguments", arguments),
		text("gen_ai.conversation.id", conversation),
		text("gen_ai.agent.name", "support-agent"),
	)
	var parsed struct {
		OrderID string `json:"order_id"`
	}
	_ = json.Unmarshal([]byte(arguments), &parsed) // arguments was made above; without an order the id stays empty
	u.run(t, parsed.OrderID)
	var f *failure
	if t.r.chance(u.fails) {
		f = &failure{kind: u.failure, message: u.message, http: 500, grpc: 13}
		f.stack = stack(t.running, f.kind, f.message, u.name,
			"run_tool", "run_turn 2")
		t.add(text("error.type", u.failure), text("gen_ai.tool.call.result", fmt.Sprintf(`{"error":%q}`, u.message)))
		t.log(levelWarn, fmt.Sprintf("tool %s failed: %s", u.name, u.message), text("gen_ai.tool.name", u.name),
			text("gen_ai.conversation.id", conversation))
	} else {
		t.add(text("gen_ai.tool.call.result", u.result))
	}
	t.shut(sc, f)
	return f
}

func messages(role, content string) string {
	return fmt.Sprintf(`[{"role":%q,"parts":[{"type":"text","content":%q}]}]`, role, content)
}

func toolCall(id, name, arguments string) string {
	return fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"tool_call","id":%q,"name":%q,"arguments":%s}]}]`, id, name, arguments)
}
