package oracle_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkTraceRow compares a trace in the list of a tool.
func (a *audit) checkTraceRow(read, what string, o object, spans []*row) {
	from := seenFrom(spans)
	a.figure(read, "durationMs of "+what, number64(o["durationMs"]), exactly(from.milliseconds()))
	a.figure(read, "spanCount of "+what, number64(o["spanCount"]), exactly(float64(len(spans))))
	a.figure(read, "errorCount of "+what, number64(o["errorCount"]), exactly(float64(len(failed(spans)))))
	bad, _ := o["hasError"].(bool)
	a.figure(read, "hasError of "+what, truth(bad), exactly(truth(from.failed)))
	a.names(read, "start of "+what, []string{fmt.Sprint(moment(o["startTime"]).Sub(from.at).Abs() < 2*time.Millisecond)}, []string{"true"})
	a.names(read, "services of "+what, strings.Fields(strings.ReplaceAll(joined(o["services"]), `we"ird\ one`, "weird")),
		strings.Fields(strings.ReplaceAll(strings.Join(slices.Collect(maps.Keys(by(spans, func(s *row) string { return s.service }))), " "),
			`we"ird\ one`, "weird")))
}

func (a *audit) checkTracesTool(w window, c condition, traces map[string][]*row) {
	const read = "search_traces"
	arguments := in(w, object{"limit": 100})
	for name, value := range c.filters {
		switch name {
		case "service_name":
			arguments["service"] = value
		case "deployment_environment":
			arguments["environment"] = value
		case "span_name_contains":
			arguments["span_name"] = value
		case "has_error", "min_duration_ms", "max_duration_ms", "http_method":
			arguments[name] = value
		case "span_scope":
			arguments["root_only"] = true
		default:
			return
		}
	}
	var got struct{ Traces []object }
	if !a.call(read, arguments, &got) {
		return
	}
	var found, want []string
	what := fmt.Sprintf("traces of %v in %s", c.filters, w)
	for id, spans := range traces {
		if w.holds(seenFrom(spans).at) && slices.ContainsFunc(spans, c.meets) {
			want = append(want, id)
		}
	}
	for _, o := range got.Traces {
		id := fmt.Sprint(o["traceId"])
		found = append(found, id)
		if len(traces[id]) > 0 {
			a.checkTraceRow(read, id+" of "+what, o, traces[id])
		}
	}
	if len(want) <= 100 {
		a.names(read, what, found, want)
	}
}

// checkSlowTraces compares the figures of the tool. Which traces it lists is a choice, but each of them has its own figures.
func (a *audit) checkSlowTraces(w window, environment, service string) {
	const read = "find_slow_traces"
	arguments := in(w, object{"limit": 20})
	if environment != "" {
		arguments["environment"] = environment
	}
	meets := func(s *row) bool { return s.root && (environment == "" || s.environment == environment) }
	if service != "" {
		arguments["service"] = service
		meets = func(s *row) bool { return s.service == service && (environment == "" || s.environment == environment) }
	}
	rows := rowsIn(a.spans, w, meets)
	if service != "" {
		rows = measured(rows)
	}
	if len(rows) == 0 {
		return
	}
	what := fmt.Sprintf("%q in %q, %s", service, environment, w)
	var got object
	a.call(read, arguments, &got)
	durations := func(what string, o object, rows []*row) {
		order := func(x, y *row) int { return cmp.Compare(x.duration, y.duration) }
		a.figure(read, "p50 of "+what, number64(o["p50Ms"]), latency(rows, 0.5))
		a.figure(read, "p95 of "+what, number64(o["p95Ms"]), latency(rows, 0.95))
		a.figure(read, "longest of "+what, number64(o["maxMs"]), exactly(slices.MaxFunc(rows, order).milliseconds()))
		if least, ok := o["minMs"]; ok {
			a.figure(read, "shortest of "+what, number64(least), exactly(slices.MinFunc(rows, order).milliseconds()))
		}
		if n, ok := o["count"]; ok {
			a.figure(read, "spans of "+what, number64(n), exactly(estimated(rows)))
		}
	}
	stats, _ := got["stats"].(object)
	durations(what, stats, rows)
	operations := by(rows, func(s *row) string { return s.service + " " + s.name })
	for _, o := range list(got, "operations") {
		name := fmt.Sprint(o["serviceName"], " ", o["spanName"])
		if len(operations[name]) == 0 {
			a.names(read, "operations of "+what, []string{name}, nil)
			continue
		}
		durations(name+" of "+what, o, operations[name])
	}
	traces := by(a.spans, func(s *row) string { return s.trace })
	for _, o := range list(got, "traces") {
		id := fmt.Sprint(o["traceId"])
		a.checkTraceRow(read, id+" of "+what, o, traces[id])
	}
	slower := func(x, y object) int { return cmp.Compare(number64(y["durationMs"]), number64(x["durationMs"])) }
	inOrder := slices.IsSortedFunc(list(got, "traces"), slower)
	a.figure(read, "order of traces of "+what, truth(inOrder), exactly(1))
	explained := fmt.Sprint(got["explainedTraceId"])
	if spans := traces[explained]; len(spans) > 0 {
		path := familyOf(spans).path()
		for _, o := range list(got, "criticalPath") {
			id := fmt.Sprint(o["spanId"])
			a.figure(read, "own time of "+id+" of "+explained, number64(o["selfMs"]), near(float64(path[id])/1e6))
		}
		a.figure(read, "steps of "+explained, float64(len(list(got, "criticalPath"))), exactly(float64(min(8, len(path)))))
	}
	then := by(rowsIn(a.spans, w.before(), meets), func(s *row) string { return s.service + " " + s.name })
	now := by(rowsIn(a.spans, w, meets), func(s *row) string { return s.service + " " + s.name })
	for _, o := range list(got, "slower") {
		name := fmt.Sprint(o["serviceName"], " ", o["spanName"])
		if len(now[name]) == 0 || len(then[name]) == 0 {
			a.names(read, "spans of "+name, []string{"an operation"}, nil)
			continue
		}
		a.figure(read, "p95 of slower "+name, number64(o["p95Ms"]), latency(now[name], 0.95))
		a.figure(read, "earlier p95 of "+name, number64(o["previousP95Ms"]), latency(then[name], 0.95))
		a.figure(read, "spans of slower "+name, number64(o["count"]), exactly(estimated(now[name])))
	}
}
