package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// attributesOf are the attributes of a row by their place.
func (r *row) attributesOf(scope string) map[string]string {
	switch scope {
	case "resource":
		return r.resource()
	case "event":
		if r.exception == "" {
			return nil
		}
		return map[string]string{"exception.type": r.exception, "exception.message": r.exceptionDetail}
	}
	return r.attributes
}

// checkAttributes compares keys of attributes, and the values of fields.
func (a *audit) checkAttributes() {
	for _, w := range a.windows()[1:3] {
		for signal, rows := range map[string][]*row{"traces": a.spans, "logs": a.records} {
			own := map[string]string{"traces": "span", "logs": "log"}[signal]
			hours := window{w.start.Truncate(time.Hour), w.end.Truncate(time.Hour).Add(time.Hour - time.Nanosecond)}
			a.checkKeys(signal, own, fmt.Sprintf("keys of %s in %s", signal, w), in(w, object{"signal": signal}), rowsIn(rows, hours, all))
			service := a.origins[a.r.IntN(len(a.origins))].service
			of := rowsIn(rows, w, func(r *row) bool { return r.service == service })
			what := fmt.Sprintf("keys of %s of %s in %s", signal, service, w)
			a.checkKeys(signal, own, what, in(w, object{"signal": signal, "service_name": service}), of)
			a.checkValues(signal, w, rows)
		}
	}
}

func all(*row) bool { return true }

func (a *audit) checkKeys(signal, own, what string, request object, rows []*row) {
	const read = "listAttributeKeys"
	want := map[string]float64{}
	for _, scope := range []string{"resource", own, "event"} {
		for _, r := range rows {
			for key := range r.attributesOf(scope) {
				want[scope+" "+key]++
			}
		}
		if signal == "logs" && scope == own { // records have no events
			break
		}
	}
	var found []string
	for _, o := range a.walk(read, what, request, len(want)) {
		name := fmt.Sprint(o["scope"], " ", o["key"])
		found = append(found, name)
		a.figure(read, name+" of "+what, number64(o["count"]), exactly(want[name]))
	}
	a.names(read, what, found, slices.Collect(maps.Keys(want)))
	const tool = "explore_attributes"
	arguments := object{"source": signal, "start_time": request["start_time"], "end_time": request["end_time"], "limit": 100}
	if service, ok := request["service_name"]; ok {
		arguments["service"] = service
	}
	var answer object
	a.call(tool, arguments, &answer)
	found = nil
	for _, o := range list(answer, "keys") {
		name := fmt.Sprint(o["scope"], " ", o["key"])
		found = append(found, name)
		a.figure(tool, name+" of "+what, number64(o["count"]), exactly(want[name]))
	}
	a.names(tool, what, found, slices.Collect(maps.Keys(want)))
}

// checkValues compares the values of fields. Spans are corrected for sampling. The names of services and their environments and versions
// are counted in whole minutes.
func (a *audit) checkValues(signal string, w window, rows []*row) {
	const read, tool = "listAttributeValues", "explore_attributes"
	minutes := window{w.start.Truncate(time.Minute), w.end.Truncate(time.Minute).Add(time.Minute - time.Nanosecond)}
	for _, f := range []struct {
		key     string
		of      func(*row) string
		minutes bool
	}{
		{"attr.tenant", func(r *row) string { return r.attributes["tenant"] }, false},
		{"attr.cart.size", func(r *row) string { return r.attributes["cart.size"] }, false},
		{"resource.tenant", func(r *row) string { return r.tenant }, false},
		{"service.name", func(r *row) string { return r.service }, true},
		{"deployment.environment", func(r *row) string { return r.environment }, true},
	} {
		in1 := w
		if f.minutes && signal == "traces" {
			in1 = minutes
		}
		for _, service := range []string{a.pick("", a.origins[a.r.IntN(len(a.origins))].service)} {
			request, arguments := object{"signal": signal, "key": f.key}, object{"source": signal, "key": f.key, "limit": 100}
			if service != "" {
				request["service_name"], arguments["service"] = service, service
			}
			want := by(rowsIn(rows, in1, func(r *row) bool { return service == "" || r.service == service }), f.of)
			delete(want, "")
			what := fmt.Sprintf("values of %s of %s of %q in %s", f.key, signal, service, w)
			var found []string
			for _, o := range a.walk(read, what, in(w, request), len(want)) {
				name := fmt.Sprint(o["value"])
				found = append(found, name)
				a.figure(read, name+" of "+what, number64(o["count"]), exactly(estimated(want[name])))
			}
			a.names(read, what, found, slices.Collect(maps.Keys(want)))
			var answer object
			a.call(tool, in(w, arguments), &answer)
			found = nil
			for _, o := range list(answer, "values") {
				name := fmt.Sprint(o["value"])
				found = append(found, name)
				a.figure(tool, name+" of "+what, number64(o["count"]), exactly(estimated(want[name])))
			}
			a.names(tool, what, found, slices.Collect(maps.Keys(want)))
		}
	}
}
