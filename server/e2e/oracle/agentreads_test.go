package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

var (
	inputKeys  = []string{"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"}
	outputKeys = []string{"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"}
	costKeys   = []string{"gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total"}
)

// checkAgents compares the sessions and the tools of agents.
func (a *audit) checkAgents() {
	windows := a.windows()[:3]
	for n, c := range []struct {
		arguments object
		meets     func(*row) bool
	}{
		{object{}, func(*row) bool { return true }},
		{object{"models": []string{"large"}}, func(r *row) bool { return r.firstOf("gen_ai.response.model", "gen_ai.request.model") == "large" }},
		{object{"tools": []string{"search"}}, func(r *row) bool { return r.attributes["gen_ai.tool.name"] == "search" }},
		{object{"vendors": []string{"other"}}, func(r *row) bool { return r.firstOf("gen_ai.provider.name", "gen_ai.system") == "other" }},
		{object{"has_errors": true}, func(r *row) bool { return r.failed }},
		{object{"environments": []string{"production"}}, func(r *row) bool { return r.environment == "production" }},
	} {
		a.checkAgentSessions(windows[n%3], c.arguments, c.meets)
	}
	middle := a.start.Add(a.end.Sub(a.start) / 2)
	for _, w := range append(windows, window{middle, a.end}) {
		a.checkAgentTools(w)
	}
}

func (a *audit) checkAgentSessions(w window, arguments object, meets func(*row) bool) {
	const read = "list_agent_sessions"
	sessions := a.sessionsOf(w)
	maps.DeleteFunc(sessions, func(_ string, rows []*row) bool { return !slices.ContainsFunc(rows, meets) })
	var got object
	a.call(read, in(w, merged(arguments, object{"limit": 100})), &got)
	withErrors, found := 0.0, []string{}
	for _, rows := range sessions {
		withErrors += truth(len(failed(rows)) > 0)
	}
	what := fmt.Sprintf("sessions of %v in %s", arguments, w)
	a.figure(read, "failing "+what, number64(got["withErrors"]), exactly(withErrors))
	for n, o := range list(got, "sessions") {
		id := fmt.Sprint(o["sessionId"])
		found = append(found, id)
		rows := sessions[id]
		if len(rows) == 0 {
			continue
		}
		for field, want := range agentFigures(rows) {
			a.figure(read, field+" of "+id+" of "+what, number64(o[field]), exactly(want))
		}
		if n < 3 && len(arguments) == 0 {
			a.checkAgentSession(w, id, rows)
		}
	}
	a.names(read, what, found, slices.Collect(maps.Keys(sessions)))
}

// agentFigures are the figures of a session.
func agentFigures(rows []*row) map[string]float64 {
	start := slices.MinFunc(rows, func(x, y *row) int { return x.at.Compare(y.at) }).at
	end := time.Time{}
	for _, r := range rows {
		if at := r.at.Add(r.duration); at.After(end) {
			end = at
		}
	}
	return map[string]float64{
		"durationMs": float64(end.Sub(start)) / 1e6, "spanCount": float64(len(rows)), "errorSpanCount": float64(len(failed(rows))),
		"traceCount":     float64(len(by(rows, func(r *row) string { return r.trace }))),
		"toolErrorCount": count(failed(rows), isTool), "turnErrorCount": count(failed(rows), isTurn), "turns": count(rows, isTurn),
		"llmCalls": count(rows, (*row).isModelCall), "toolCalls": count(rows, isTool),
		"totalTokens": spent(rows, inputKeys, outputKeys), "cost": spent(rows, costKeys),
	}
}

// checkAgentSession compares one session.
func (a *audit) checkAgentSession(w window, id string, rows []*row) {
	const read = "get_agent_session"
	var got object
	a.call(read, in(w, object{"session_id": id}), &got)
	work, _ := got["work"].(object)
	for field, want := range map[string]float64{
		"llmCalls": count(rows, (*row).isModelCall), "toolCalls": count(rows, isTool), "spans": float64(len(rows)),
		"traces": float64(len(by(rows, func(r *row) string { return r.trace }))),
	} {
		a.figure(read, field+" of "+id, number64(work[field]), exactly(want))
	}
	if cost, ok := got["cost"].(float64); ok {
		a.figure(read, "cost of "+id, cost, exactly(spent(rows, costKeys)))
	}
	tokens, _ := got["tokens"].(object)
	a.figure(read, "tokens of "+id, number64(tokens["input"])+number64(tokens["output"]), exactly(spent(rows, inputKeys, outputKeys)))
}

// checkAgentTools compares the calls of tools with those of the window before.
func (a *audit) checkAgentTools(w window) {
	const read = "get_agent_tools_overview"
	var got object
	a.call(read, in(w, nil), &got)
	ofSession := map[*row]string{}
	for id, rows := range a.sessionsOf(w) {
		for _, r := range rows {
			ofSession[r] = id
		}
	}
	compare := func(what string, o object, rows []*row, sessions bool) {
		var times []observation
		for _, r := range rows {
			times = append(times, observation{r.milliseconds(), r.weight})
		}
		a.figure(read, "calls of "+what, number64(o["calls"]), exactly(estimated(rows)))
		a.figure(read, "failed calls of "+what, number64(o["failed"]), exactly(estimated(failed(rows))))
		if len(rows) == 0 {
			return
		}
		a.figure(read, "error rate of "+what, number64(o["errorRate"]), exactly(errorRate(rows)))
		a.figure(read, "mean of "+what, number64(o["avgMs"]), exactly(weigh(rows, (*row).milliseconds)/estimated(rows)))
		a.figure(read, "p95 of "+what, number64(o["p95Ms"]), quantile(times, 0.95))
		if sessions {
			different := len(by(rows, func(r *row) string { return ofSession[r] }))
			a.figure(read, "sessions of "+what, number64(o["sessions"]), exactly(float64(different)))
		}
	}
	all := rowsIn(a.spans, w, isTool)
	tools, names := by(all, func(r *row) string { return r.attributes["gen_ai.tool.name"] }), []string{}
	for _, o := range list(got, "tools") {
		name := fmt.Sprint(o["name"])
		names = append(names, name)
		compare(name+" in "+w.String(), o, tools[name], true)
	}
	a.names(read, "tools in "+w.String(), names, slices.Collect(maps.Keys(tools)))
	current, _ := got["current"].(object)
	compare("all tools in "+w.String(), current, all, true)
	if previous, ok := got["previous"].(object); ok {
		before := window{w.start.Add(w.start.Sub(w.end)), w.start.Add(-time.Nanosecond)}
		compare("all tools before "+w.String(), previous, rowsIn(a.spans, before, isTool), false)
	}
}

// checkToolsOfReads compares tools whose reads REST has, too.
func (a *audit) checkToolsOfReads() {
	w := window{a.start, a.end.Add(-time.Nanosecond)}
	var metrics object
	a.call("list_metrics", in(w, object{"limit": 200}), &metrics)
	kinds := by(a.points, func(p *point) string { return p.kind })
	for _, o := range list(metrics, "summary") {
		kind := fmt.Sprint(o["metricType"])
		a.figure("list_metrics", "points of "+kind, number64(o["dataPointCount"]), exactly(float64(len(kinds[kind]))))
		different := len(by(kinds[kind], func(p *point) string { return p.name }))
		a.figure("list_metrics", "metrics of "+kind, number64(o["metricCount"]), exactly(float64(different)))
		delete(kinds, kind)
	}
	a.names("list_metrics", "missing types", slices.Collect(maps.Keys(kinds)), nil)
	metricsOf := by(a.points, func(p *point) string { return p.name + " " + p.service })
	for _, o := range list(metrics, "metrics") {
		name := fmt.Sprint(o["metricName"], " ", o["serviceName"])
		a.figure("list_metrics", "points of "+name, number64(o["dataPointCount"]), exactly(float64(len(metricsOf[name]))))
	}
	for _, w := range a.windows()[:3] {
		var patterns object
		a.call("mine_log_patterns", in(w, object{"environment": "production"}), &patterns)
		rows := rowsIn(a.records, w, func(r *row) bool { return r.environment == "production" })
		templates, found := by(rows, template), []string{}
		a.figure("mine_log_patterns", "records in "+w.String(), number64(patterns["totalCount"]), exactly(float64(len(rows))))
		for _, o := range list(patterns, "patterns") {
			name := fmt.Sprint(o["template"])
			found = append(found, name)
			a.figure("mine_log_patterns", fmt.Sprintf("count of %q in %s", name, w), number64(o["count"]), exactly(float64(len(templates[name]))))
		}
		a.names("mine_log_patterns", "patterns in "+w.String(), found, slices.Collect(maps.Keys(templates)))
	}
}
