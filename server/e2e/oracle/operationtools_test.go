package oracle_test

import (
	"fmt"
	"maps"
	"slices"
)

// checkOperationTools compares the operations of services and the counts of log records that tools show.
func (a *audit) checkOperationTools() {
	for _, w := range a.windows() {
		environment := a.pick("", "production", "staging")
		meets, arguments := func(r *row) bool { return environment == "" || r.environment == environment }, object{"limit": 100}
		if environment != "" {
			arguments["environment"] = environment
		}
		for name, rows := range by(rowsIn(a.spans, w, meets), func(r *row) string { return r.service }) {
			a.checkTopOperations(fmt.Sprintf("%s in %q, %s", name, environment, w), in(w, merged(arguments, object{"service": name})), measured(rows))
		}
		a.checkFoundLogs(fmt.Sprintf("records in %q, %s", environment, w), in(w, arguments), rowsIn(a.records, w, meets))
	}
}

func (a *audit) checkTopOperations(what string, arguments object, rows []*row) {
	const read = "get_service_top_operations"
	metric := a.pick("count", "error_rate", "avg_duration", "p50_duration", "p95_duration", "p99_duration", "apdex")
	var got struct {
		Operations []struct {
			Name                           string
			Value, Spans, ErrorRate, P95Ms float64
		}
	}
	a.call(read, merged(arguments, object{"metric": metric}), &got)
	operations := by(rows, func(r *row) string { return r.name })
	var found []string
	for _, o := range got.Operations {
		found = append(found, o.Name)
		of := operations[o.Name]
		if len(of) == 0 {
			continue
		}
		value, _ := aggregate(of, metric, "", 1)
		a.figure(read, "spans of "+o.Name+" of "+what, o.Spans, exactly(estimated(of)))
		a.figure(read, "error rate of "+o.Name+" of "+what, o.ErrorRate, exactly(errorRate(of)))
		a.figure(read, "p95 of "+o.Name+" of "+what, o.P95Ms, latency(of, 0.95))
		a.figure(read, metric+" of "+o.Name+" of "+what, o.Value, value)
	}
	a.names(read, "operations of "+what, found, slices.Collect(maps.Keys(operations)))
}

func (a *audit) checkFoundLogs(what string, arguments object, rows []*row) {
	const read = "search_logs"
	var got struct {
		TotalCount float64
		BySeverity map[string]float64
		Logs       []struct{ ServiceName, SeverityText, Body string }
	}
	a.call(read, arguments, &got)
	a.figure(read, what, got.TotalCount, exactly(float64(len(rows))))
	severities := by(rows, func(r *row) string { return first(r.severity, "none") })
	for name, n := range got.BySeverity {
		a.figure(read, name+" of "+what, n, exactly(float64(len(severities[name]))))
	}
	a.names(read, "severities of "+what, slices.Collect(maps.Keys(got.BySeverity)), slices.Collect(maps.Keys(severities)))
	a.figure(read, "rows of "+what, float64(len(got.Logs)), exactly(float64(min(100, len(rows)))))
}
