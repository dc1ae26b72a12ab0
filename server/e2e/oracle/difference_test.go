package oracle_test

// checkDifference compares the sides of a difference, and the figures of each value that it names.
func (a *audit) checkDifference() {
	const read = "explainDifference"
	w := window{a.start, a.end}
	anything := func(*row) bool { return true }
	for _, c := range []struct {
		what     string
		request  object
		rows     []*row
		selected func(*row) bool
		tool     object
	}{
		{
			"failed spans",
			object{"selected": "has_error = true"},
			rowsIn(a.spans, w, anything), func(r *row) bool { return r.failed },
			object{"selected": "has_error = true"},
		},
		{
			"spans of an endpoint",
			object{"where": "deployment.environment = production", "selected": `name = "` + a.endpoints[0].name + `"`},
			rowsIn(a.spans, w, func(r *row) bool { return r.environment == "production" }),
			func(r *row) bool { return r.name == a.endpoints[0].name },
			object{"where": "deployment.environment = production", "selected": `name = "` + a.endpoints[0].name + `"`},
		},
		{
			"records of a service",
			object{"signal": "logs", "selected": `service.name = "` + a.origins[0].service + `"`},
			rowsIn(a.records, w, anything), func(r *row) bool { return r.service == a.origins[0].service },
			object{"signal": "logs", "selected": `service.name = "` + a.origins[0].service + `"`},
		},
	} {
		var got object
		a.ask(read, in(w, c.request), &got)
		var selected, other []*row
		for _, r := range c.rows {
			if c.selected(r) {
				selected = append(selected, r)
			} else {
				other = append(other, r)
			}
		}
		for name, rows := range map[string][]*row{"selected": selected, "other": other} {
			side, _ := got[name].(object)
			a.figure(read, name+" count of "+c.what, number64(side["count"]), exactly(estimated(rows)))
			a.figure(read, name+" received count of "+c.what, number64(side["received_count"]), exactly(float64(len(rows))))
			a.figure(read, name+" part of "+c.what+" that was read", number64(side["read_share"]), exactly(1))
		}
		for _, v := range list(got, "data") {
			a.checkContrast(read, c.what, v, selected, other)
		}
		var answer object
		if a.call("explain_difference", in(w, c.tool), &answer) {
			a.figure("explain_difference", "selected of "+c.what, number64(answer["selected"]), exactly(estimated(selected)))
			a.figure("explain_difference", "values of "+c.what, float64(len(list(answer, "values"))), exactly(float64(len(list(got, "data")))))
		}
	}
}

// checkContrast compares the figures of a value with those of the rows that have it.
func (a *audit) checkContrast(read, what string, v object, selected, other []*row) {
	key, _ := v["key"].(string)
	value, _ := v["value"].(string)
	holds := func(rows []*row) (out []*row) {
		for _, r := range rows {
			if has(r, key) == value {
				out = append(out, r)
			}
		}
		return out
	}
	inSelected, inOther := estimated(holds(selected)), estimated(holds(other))
	with, all := inSelected+inOther, estimated(selected)+estimated(other)
	what = key + "=" + value + " of " + what
	a.figure(read, "selected share of "+what, number64(v["selected_share"]), exactly(inSelected/estimated(selected)))
	a.figure(read, "other share of "+what, number64(v["other_share"]), exactly(inOther/estimated(other)))
	a.figure(read, "rate with "+what, number64(v["rate_with"]), exactly(inSelected/with))
	without := 0.0
	if all > with {
		without = (estimated(selected) - inSelected) / (all - with)
	}
	a.figure(read, "rate without "+what, number64(v["rate_without"]), exactly(without))
	if without > 0 {
		a.figure(read, "lift of "+what, number64(v["lift"]), exactly(inSelected/with/without))
	}
}

// has returns the value of a key as the difference names it.
func has(r *row, key string) string {
	switch key {
	case "service.name":
		return r.service
	case "service.version":
		return r.version
	case "deployment.environment.name":
		return r.environment
	case "name":
		return r.name
	case "kind":
		return r.kind
	case "severity":
		return r.severity
	case "resource.tenant":
		return r.tenant
	case "resource.service.namespace":
		return r.namespace
	}
	return r.attributes[key]
}
