package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkDiagnosis compares the health of services, and the operations that got slower.
func (a *audit) checkDiagnosis() {
	middle := a.start.Add(a.end.Sub(a.start) / 2)
	for n, w := range []window{{middle, a.end}, a.windows()[2]} {
		scope, meets := object{}, func(*row) bool { return true }
		if n == 1 {
			scope, meets = object{"deployment_environment": "production"}, func(r *row) bool { return r.environment == "production" }
		}
		rows := rowsIn(a.spans, w, meets)
		services := by(rows, func(r *row) string { return r.service })
		for _, name := range slices.Sorted(maps.Keys(services)) {
			a.checkHealth(w, merged(scope, object{"name": name}), services[name], dataSeconds(rows, w), fmt.Sprintf("%s in %s of %v", name, w, scope))
		}
		a.checkSlower(w, scope, func(r *row) bool { return r.root && meets(r) })
		name := slices.Sorted(maps.Keys(services))[0]
		a.checkSlower(w, merged(scope, object{"service_name": name}), func(r *row) bool { return r.service == name && meets(r) })
	}
}

func (a *audit) checkHealth(w window, request object, spans []*row, data float64, what string) {
	const read = "diagnoseService"
	rows := measured(spans)
	var got object
	a.ask(read, in(w, request), &got)
	health, _ := got["health"].(object)
	for field, want := range map[string]bounds{
		"throughput":     exactly(estimated(rows) / data),
		"error_rate":     exactly(errorRate(rows)),
		"error_count":    exactly(estimated(failed(rows))),
		"p50_latency_ms": latency(rows, 0.5),
		"p95_latency_ms": latency(rows, 0.95),
		"p99_latency_ms": latency(rows, 0.99),
		"apdex_score":    {apdex(rows, 500) - 0.00005, apdex(rows, 500) + 0.00005},
	} {
		a.figure(read, field+" of "+what, number64(health[field]), want)
	}
	errors := map[string][]*row{}
	for _, r := range spans {
		if r.status == "Error" {
			errors[errorGroup(r)] = append(errors[errorGroup(r)], r)
		}
	}
	// The errors have labels that several groups can share, so their numbers are compared without labels, the most frequent first.
	var found, want []string
	for _, o := range list(got, "top_errors") {
		found = append(found, fmt.Sprint(o["count"], " for ", o["estimated_count"]))
	}
	for _, of := range errors {
		want = append(want, fmt.Sprint(len(of), " for ", estimated(of)))
	}
	if len(want) <= 10 {
		a.names(read, "numbers of errors of "+what, found, want)
	}
}

// checkSlower compares the durations and the counts of the operations that got slower: of root spans, or of all spans of a service.
func (a *audit) checkSlower(w window, scope object, meets func(*row) bool) {
	const read = "searchSlowerOperations"
	var got object
	a.ask(read, in(w, scope), &got)
	before := window{w.start.Add(w.start.Sub(w.end)), w.start.Add(-time.Nanosecond)}
	key := func(r *row) string { return strings.Join([]string{r.service, r.name}, " | ") }
	now, then := by(rowsIn(a.spans, w, meets), key), by(rowsIn(a.spans, before, meets), key)
	for _, o := range list(got, "data") {
		name := fmt.Sprint(o["service_name"], " | ", o["span_name"])
		rows, earlier, what := now[name], then[name], fmt.Sprintf("%s in %s of %v", name, w, scope)
		if len(rows) == 0 || len(earlier) == 0 {
			a.names(read, "spans of "+what, []string{"an operation"}, nil)
			continue
		}
		a.figure(read, "p95 of "+what, number64(o["p95_latency_ms"]), latency(rows, 0.95))
		a.figure(read, "earlier p95 of "+what, number64(o["previous_p95_latency_ms"]), latency(earlier, 0.95))
		a.figure(read, "count of "+what, number64(o["count"]), exactly(estimated(rows)))
	}
	a.figure(read, "number of operations in "+w.String(), float64(len(list(got, "data"))), bounds{0, 5})
}
