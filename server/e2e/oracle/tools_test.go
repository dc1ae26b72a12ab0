package oracle_test

import (
	"fmt"
	"maps"
	"slices"
)

// checkTools compares tools of the MCP server.
func (a *audit) checkTools() {
	for _, w := range a.windows()[:3] {
		var list struct {
			Services []struct {
				Name       string
				Throughput float64
				ErrorRate  float64
				P95Ms      float64
			}
		}
		environment := a.pick("production", "staging")
		a.call("list_services", in(w, object{"environment": environment}), &list)
		services := by(rowsIn(a.spans, w, func(r *row) bool { return r.environment == environment }), func(r *row) string { return r.service })
		var names []string
		for _, s := range list.Services {
			names = append(names, s.Name)
			if len(services[s.Name]) == 0 {
				continue
			}
			rows, what := measured(services[s.Name]), fmt.Sprintf("%s in %s, %s", s.Name, environment, w)
			a.figure("list_services", "throughput of "+what, s.Throughput, exactly(estimated(rows)/w.seconds()))
			a.figure("list_services", "error rate of "+what, s.ErrorRate, exactly(errorRate(rows)))
			a.figure("list_services", "p95 of "+what, s.P95Ms, latency(rows, 0.95))
		}
		a.names("list_services", "services of "+w.String(), names, slices.Collect(maps.Keys(services)))
		a.checkQueryData(w)
	}
}

// checkQueryData compares breakdowns of spans and of records by service.
func (a *audit) checkQueryData(w window) {
	for source, rows := range map[string][]*row{"traces": a.spans, "logs": a.records} {
		for _, aggregation := range aggregationsOf(source) {
			if ofField(aggregation) {
				continue
			}
			var got struct {
				Result struct {
					Data []struct {
						Name  string
						Value *float64
					}
				}
			}
			request := object{
				"source": source, "kind": "breakdown", "metric": aggregation, "group_by": "service",
				"environments": []string{"production"}, "limit": 100,
			}
			a.call("query_data", in(w, request), &got)
			services := by(rowsIn(rows, w, func(r *row) bool { return r.environment == "production" }), func(r *row) string { return r.service })
			var names []string
			for _, d := range got.Result.Data {
				names = append(names, d.Name)
				if of := services[d.Name]; len(of) > 0 && d.Value != nil {
					b, _ := aggregate(of, aggregation, "", w.seconds())
					a.figure("query_data", fmt.Sprintf("%s of %s of %s in %s", aggregation, source, d.Name, w), *d.Value, b)
				}
			}
			a.names("query_data", fmt.Sprintf("groups of %s of %s in %s", aggregation, source, w), names, slices.Collect(maps.Keys(services)))
		}
	}
}
