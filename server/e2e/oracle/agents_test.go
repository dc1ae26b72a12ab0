package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// addAgents adds traces of agents. A session has several traces. In some traces, only one span names the session, and in others
// none does. It uses random numbers of its own.
func (t *telemetry) addAgents(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 16))
	for n := range 24 {
		session := fmt.Sprint("conversation-", n)
		if n%6 == 5 {
			session = ""
		}
		o := t.origins[r.IntN(len(t.origins))]
		for range 1 + r.IntN(3) {
			t.addAgentTrace(r, o, session)
		}
	}
}

func (t *telemetry) addAgentTrace(r *rand.Rand, o *origin, session string) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	trace, at := t.hexID(32), t.start.Add(2*time.Minute+time.Duration(r.Int64N(int64(t.end.Sub(t.start)-4*time.Minute))))
	key := pick("svc_ai.session.id", "gen_ai.conversation.id", "session.id")
	everySpan, turn, measured := r.IntN(2) == 0, "", r.IntN(4) > 0
	model, agent, vendor := pick("large", "small"), pick("planner", "writer"), pick("gen_ai.provider.name", "gen_ai.system")
	weight := []float64{1, 1, 4, 2.5}[r.IntN(4)]
	operations := []string{"invoke_agent"}
	if r.IntN(4) == 0 {
		operations = nil
	}
	for range 1 + r.IntN(6) {
		operations = append(operations, pick("chat", "chat", "execute_tool", "execute_tool", "text_completion", "invoke_agent"))
	}
	for n, operation := range operations {
		s := &row{
			origin: o, trace: trace, id: t.hexID(16), parent: turn, weight: weight, kind: "Internal", status: pick("Unset", "Unset", "Ok", "Error"),
			at: at.Add(time.Duration(n) * time.Millisecond), duration: time.Duration(1+r.IntN(2000)) * time.Millisecond, name: operation,
			attributes: map[string]string{"gen_ai.operation.name": operation, "gen_ai.agent.name": agent},
		}
		if weight != 1 {
			s.sampleRate = fmt.Sprint(weight)
			s.attributes["SampleRate"] = s.sampleRate
		}
		s.root = s.parent == ""
		s.entry, s.failed = s.root, s.status == "Error"
		if n == 0 {
			turn = s.id
		}
		if session != "" && (everySpan || n == 0) {
			s.attributes[key] = session
		}
		if operation == "execute_tool" {
			s.attributes["gen_ai.tool.name"] = pick("search", "read file", "söarch")
		} else {
			s.attributes["gen_ai."+pick("response", "request")+".model"] = model
			s.attributes[vendor] = pick("maker", "other")
			if measured || operation == "invoke_agent" {
				s.attributes[pick("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")] = strconv.Itoa(r.IntN(5000))
				s.attributes[pick("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")] = strconv.Itoa(r.IntN(900))
				s.attributes[pick("gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total")] = fmt.Sprint(float64(r.IntN(1000)) / 1024)
			}
		}
		t.spans = append(t.spans, s)
	}
}

// firstOf is the first of the attributes that a span has.
func (r *row) firstOf(keys ...string) string {
	for _, k := range keys {
		if v := r.attributes[k]; v != "" {
			return v
		}
	}
	return ""
}

func (r *row) operation() string { return r.attributes["gen_ai.operation.name"] }

func (r *row) isModelCall() bool {
	return r.operation() == "chat" || r.operation() == "text_completion"
}

// sessionsOf divides the spans of agents in a window into sessions. A span that names no session belongs to that of its trace.
func (t *telemetry) sessionsOf(w window) map[string][]*row {
	agents := rowsIn(t.spans, w, func(r *row) bool { return r.operation() != "" })
	named := map[string]string{}
	own := func(r *row) string { return r.firstOf("svc_ai.session.id", "gen_ai.conversation.id", "session.id") }
	for _, r := range agents {
		named[r.trace] = first(own(r), named[r.trace])
	}
	return by(agents, func(r *row) string { return first(own(r), named[r.trace], "trace:"+r.trace) })
}

func sumOf(rows []*row, meets func(*row) bool, keys ...string) (total float64) {
	for _, r := range rows {
		if n, ok := number(r.firstOf(keys...)); ok && meets(r) {
			total += n
		}
	}
	return total
}

func count(rows []*row, meets func(*row) bool) (n float64) {
	for _, r := range rows {
		n += truth(meets(r))
	}
	return n
}

func isTurn(r *row) bool { return r.operation() == "invoke_agent" }

func isTool(r *row) bool { return r.operation() == "execute_tool" }

// spent is the amount that the model calls report, or else that of the turns.
func spent(rows []*row, keys ...[]string) (total float64) {
	for _, meets := range []func(*row) bool{(*row).isModelCall, isTurn} {
		for _, k := range keys {
			total += sumOf(rows, meets, k...)
		}
		if total > 0 {
			return total
		}
	}
	return 0
}
