package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errorGroup is the property that distinguishes groups of errors here, since no exception of the generator has a stack. An error without an
// exception belongs to the group of its operation and status.
func errorGroup(r *row) string {
	label := r.exception
	if label == "" {
		if label = r.name; r.code > 0 {
			label = fmt.Sprintf("%s: HTTP %d", r.name, r.code)
		}
	}
	return strings.Join([]string{r.service, r.exception, r.exceptionDetail, label}, "|")
}

// groupOf is the errorGroup of a group in an answer.
func groupOf(service any, g object) string {
	return fmt.Sprintf("%v|%v|%v|%v", service, g["exception_type"], g["sample_message"], g["error_label"])
}

// errorConditions are conditions on failed spans.
func (t *telemetry) errorConditions() []condition {
	service := t.origins[t.r.IntN(len(t.origins))].service
	return []condition{
		{object{}, "", func(*row) bool { return true }},
		{object{"service_name": service}, "", func(r *row) bool { return r.service == service }},
		{object{"deployment_environment": "production"}, "", func(r *row) bool { return r.environment == "production" }},
		{object{"service_namespace": "shop"}, "", func(r *row) bool { return r.namespace == "shop" }},
		{object{"exception_type": "TypeError"}, "", func(r *row) bool { return r.exception == "TypeError" }},
		{object{"root_only": true}, "", func(r *row) bool { return r.root }},
	}
}

// checkErrors compares groups of errors and their details.
func (a *audit) checkErrors() {
	windows := a.windows()
	for i, c := range a.errorConditions() {
		w := windows[i%len(windows)]
		rows := rowsIn(a.spans, w, func(r *row) bool { return r.status == "Error" && c.meets(r) })
		a.checkGroups(fmt.Sprintf("%v in %s", c.filters, w), in(w, object{"filters": c.filters}), rows)
	}
	w := windows[0]
	rows := rowsIn(a.spans, w, func(r *row) bool { return r.status == "Error" })
	a.checkDetail(w, rows)
}

func (a *audit) checkGroups(what string, request object, rows []*row) {
	const read = "searchErrorEvents"
	request = merged(request, object{"order_by": a.pick("count", "last_seen", "first_seen")})
	groups := by(rows, errorGroup)
	var first object
	a.ask(read, request, &first)
	totals, _ := first["totals"].(object)
	traces := func(rows []*row) float64 { return float64(len(by(rows, func(r *row) string { return r.trace }))) }
	services := func(rows []*row) float64 { return float64(len(by(rows, func(r *row) string { return r.service }))) }
	compare := func(of object, field, what string, want float64) {
		got, _ := of[field].(float64)
		a.figure(read, field+" of "+what, got, exactly(want))
	}
	bare := 0
	for _, r := range rows {
		if r.exception == "" {
			bare++
		}
	}
	compare(totals, "occurrences", what, float64(len(rows)))
	compare(totals, "estimated_occurrences", what, estimated(rows))
	compare(totals, "fingerprints", what, float64(len(groups)))
	compare(totals, "no_exception_count", what, float64(bare))
	compare(totals, "affected_services_count", what, services(rows))
	compare(totals, "affected_traces_count", what, traces(rows))
	var names []string
	for _, g := range a.walk(read, what, request, len(groups)) {
		of, _ := g["services"].([]any)
		if len(of) != 1 {
			a.Errorf("%s: a group of %s has the services %v", read, what, of)
			continue
		}
		name := groupOf(of[0], g)
		names = append(names, name)
		members := groups[name]
		if len(members) == 0 {
			continue
		}
		compare(g, "count", name+" of "+what, float64(len(members)))
		compare(g, "estimated_count", name+" of "+what, estimated(members))
		compare(g, "affected_traces_count", name+" of "+what, traces(members))
		compare(g, "affected_services_count", name+" of "+what, 1)
		environments := by(members, func(r *row) string { return r.environment })
		delete(environments, "")
		var found []string
		list, _ := g["deployment_environments"].([]any)
		for _, e := range list {
			found = append(found, fmt.Sprint(e))
		}
		a.names(read, "environments of "+name+" of "+what, found, slices.Collect(maps.Keys(environments)))
		order := func(x, y *row) int { return x.at.Compare(y.at) }
		a.figure(read, "first_seen of "+name, moment(g["first_seen"]).Sub(slices.MinFunc(members, order).at).Seconds(), exactly(0))
		a.figure(read, "last_seen of "+name, moment(g["last_seen"]).Sub(slices.MaxFunc(members, order).at).Seconds(), exactly(0))
	}
	a.names(read, "groups of "+what, names, slices.Collect(maps.Keys(groups)))
}

// checkDetail compares the detail of the group with the most errors.
func (a *audit) checkDetail(w window, rows []*row) {
	const read = "getErrorEvent"
	var page object
	a.ask("searchErrorEvents", in(w, object{"limit": 1}), &page)
	for _, g := range list(page, "data") {
		services, _ := g["services"].([]any)
		members := by(rows, errorGroup)[groupOf(services[0], g)]
		var got object
		a.ask(read, in(w, object{"fingerprint": g["fingerprint_hash"], "bucket_seconds": 900}), &got)
		number := func(of object, field string) float64 { n, _ := of[field].(float64); return n }
		a.figure(read, "count", number(got, "count"), exactly(float64(len(members))))
		a.figure(read, "estimated_count", number(got, "estimated_count"), exactly(estimated(members)))
		buckets := by(members, func(r *row) int64 { return r.at.Unix() / 900 * 900 })
		for _, p := range list(got, "timeseries") {
			at := moment(p["bucket"])
			a.figure(read, "errors at "+at.String(), number(p, "count"), exactly(float64(len(buckets[at.Unix()]))))
			delete(buckets, at.Unix())
		}
		a.figure(read, "missing buckets", float64(len(buckets)), exactly(0))
		for field, of := range map[string]func(*row) string{
			"environments": func(r *row) string { return r.environment }, "versions": func(r *row) string { return r.version },
		} {
			want := by(members, of)
			for _, c := range list(got, field) {
				name := fmt.Sprint(c["name"])
				a.figure(read, field+" "+name, number(c, "count"), exactly(float64(len(want[name]))))
				delete(want, name)
			}
			a.figure(read, "missing "+field, float64(len(want)), exactly(0))
		}
	}
}
