package oracle_test

import (
	"fmt"
	"maps"
	"slices"
)

// checkAllReleases compares the figures and the times of each version in whole and in cut minutes.
func (a *audit) checkAllReleases() {
	const read = "searchReleases"
	for _, w := range a.windows() {
		services := by(rowsIn(a.spans, w, func(r *row) bool { return r.version != "" }), func(r *row) string { return r.service })
		want := map[string][]*row{}
		for _, rows := range services {
			all := by(rows, release) // also those that only have other spans than entry spans
			for key := range all {
				want[key] = nil
			}
			maps.Copy(want, by(measured(rows), release))
		}
		var got, answer object
		request := in(w, object{"limit": 100})
		a.ask(read, request, &got)
		var found []string
		for _, o := range list(got, "data") {
			name := fmt.Sprint(o["service_name"], " | ", o["deployment_environment"], " | ", o["version"])
			found = append(found, name)
			rows, what := want[name], name+" in "+w.String()
			a.figure(read, "spans of "+what, number64(o["estimated_span_count"]), exactly(estimated(rows)))
			a.figure(read, "error rate of "+what, number64(o["error_rate"]), exactly(errorRate(rows)))
			if len(rows) > 0 {
				a.figure(read, "p95 of "+what, number64(o["p95_latency_ms"]), latency(rows, 0.95))
			}
		}
		a.names(read, "releases in "+w.String(), found, slices.Collect(maps.Keys(want)))
		if a.call("list_releases", request, &answer) {
			a.figure("list_releases", "number of releases in "+w.String(), float64(len(list(answer, "releases"))), exactly(float64(len(want))))
		}
	}
}

func release(r *row) string { return r.service + " | " + r.environment + " | " + r.version }
