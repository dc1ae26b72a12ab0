package oracle_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// attempt is how far an actor got through the steps of a funnel.
type attempt struct {
	events []*action // of the actor, in order of time
	chain  []*action // the event of each step
}

// attempts are the attempts of the actors that entered a funnel. The chain of an actor ends at the earliest event that completes the
// furthest step. Each event before it is the latest that leads there.
func (a *activity) attempts(
	w window, key func(*action) string, within time.Duration, steps []func(*action) bool, counts func(*action) bool,
) (out []attempt) {
	actors := by(a.in(w, counts), key)
	delete(actors, "")
	for _, name := range slices.Sorted(maps.Keys(actors)) {
		events := actors[name]
		slices.SortFunc(events, func(x, y *action) int { return x.at.Compare(y.at) })
		// leads tells whether a chain of the first steps ends at an event and begins at a time or later.
		var leads func(n, at int, from time.Time) bool
		leads = func(n, at int, from time.Time) bool {
			if !steps[n](events[at]) || events[at].at.Before(from) {
				return false
			}
			if n == 0 {
				return true
			}
			for before := range at {
				if leads(n-1, before, from) {
					return true
				}
			}
			return false
		}
		last := func(n, until int, from func(at int) time.Time, earliest bool) int {
			found := -1
			for at := range until {
				if leads(n, at, from(at)) {
					if found = at; earliest {
						break
					}
				}
			}
			return found
		}
		for n := len(steps) - 1; n >= 0; n-- {
			end := last(n, len(events), func(at int) time.Time { return events[at].at.Add(-within) }, true)
			if end < 0 {
				continue
			}
			chain, from := []*action{events[end]}, events[end].at.Add(-within)
			for at := end; n > 0; n-- {
				at = last(n-1, at, func(int) time.Time { return from }, false)
				chain = append([]*action{events[at]}, chain...)
			}
			out = append(out, attempt{events, chain})
			break
		}
	}
	return out
}

// quantileOf is an exact quantile, between the two nearest values.
func quantileOf(list []float64, level float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	rank := level * float64(len(sorted)-1)
	low := int(math.Floor(rank))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (rank-float64(low))*(sorted[high]-sorted[low])
}

// checkFunnelDetails compares the times, the groups and the next actions of funnels, over all sessions and over those of a country.
func (a *audit) checkFunnelDetails(w window, p *persons) {
	for n, by1 := range []string{"country", "attribute:plan"} {
		key := []string{"person", "session", "visitor", "user"}[a.activity.r.IntN(4)]
		within := time.Duration(600+a.activity.r.IntN(7200)) * time.Second
		name := func(name string) (object, func(*action) bool) {
			return object{"kind": "event", "event_name": name}, func(e *action) bool { return e.name == name }
		}
		first, isFirst := name("added to cart")
		second, isSecond := name([]string{"signed up", "purchase", "added to cart"}[a.activity.r.IntN(3)])
		steps := []func(*action) bool{isFirst, isSecond, func(e *action) bool { return e.kind != "custom" && e.path() == "/cart" }}
		request := in(w, object{
			"steps": []object{first, second, {"kind": "page", "page_path": "/cart"}}, "key_by": key, "window_seconds": within.Seconds(),
			"breakdown_by": by1, "breakdown_limit": 2, "leavers": true,
		})
		counts := func(*action) bool { return true }
		if n == 1 {
			request["filters"] = object{"country": "CZ"}
			counts = func(e *action) bool { return e.session != nil && e.session.country == "CZ" }
		}
		attempts := a.attempts(w, func(e *action) string { return p.key(key, e) }, within, steps, counts)
		what := fmt.Sprintf("%v in %s", request, w)
		const read = "searchProductEventFunnel"
		var got object
		a.ask(read, request, &got)
		a.compareFunnel(read, what, got, attempts, "steps")
		for n, s := range list(got, "steps") {
			a.compareLeavers(read, fmt.Sprintf("step %d of %s", n+1, what), list(s, "leavers"), attempts, n+1, len(steps))
		}
		groups := groupsOf(attempts, by1, 2)
		var found []string
		for _, g := range list(got, "groups") {
			group := fmt.Sprint(g["group"])
			found = append(found, group)
			a.compareFunnel(read, group+" of "+what, g, groups[group], "steps")
		}
		a.names(read, "groups of "+what, found, slices.Collect(maps.Keys(groups)))
		a.compareFunnelTool(what, request, attempts, groups)
	}
}

func groupsOf(attempts []attempt, by1 string, limit int) map[string][]attempt {
	groups := by(attempts, func(t attempt) string {
		e := t.chain[0]
		if by1 != "country" {
			return orNone(e.attributes["plan"])
		}
		if e.session == nil {
			return "(none)"
		}
		return orNone(e.session.country)
	})
	// Of equally large groups, the one without a value is first: its stored name is empty.
	stored := func(name string) string {
		if name == "(none)" {
			return ""
		}
		return name
	}
	names := slices.SortedFunc(maps.Keys(groups), func(x, y string) int {
		return cmp.Or(len(groups[y])-len(groups[x]), cmp.Compare(stored(x), stored(y)))
	})
	for _, name := range names[min(limit, len(names)):] {
		groups["$other"] = append(groups["$other"], groups[name]...)
		delete(groups, name)
	}
	return groups
}

func (a *audit) compareFunnel(read, what string, got object, attempts []attempt, field string) {
	for n, s := range list(got, field) {
		var reached, before, times float64
		var took []float64
		for _, t := range attempts {
			if len(t.chain) >= n {
				before++
			}
			if len(t.chain) <= n {
				continue
			}
			if reached++; n > 0 {
				took = append(took, float64(t.chain[n].at.Sub(t.chain[n-1].at))/1e6)
			}
		}
		times = float64(len(took))
		at := fmt.Sprintf("step %d of %s", n+1, what)
		a.figure(read, at, number64(s["count"]), exactly(reached))
		if n > 0 && before > 0 {
			a.figure(read, "share of the step before at "+at, number64(s["of_previous"]), exactly(reached/before))
		}
		if times == 0 {
			a.names(read, "times of "+at, some(s["p50_ms"] != nil || s["p90_ms"] != nil), nil)
			continue
		}
		a.figure(read, "median time of "+at, number64(s["p50_ms"]), exactly(quantileOf(took, 0.5)))
		a.figure(read, "90 % time of "+at, number64(s["p90_ms"]), exactly(quantileOf(took, 0.9)))
	}
	if steps := len(list(got, field)); len(attempts) > 0 {
		a.figure(read, "conversion of "+what, number64(got["conversion_rate"]), exactly(converted(attempts, steps)))
	}
}

func converted(attempts []attempt, steps int) float64 {
	done := 0.0
	for _, t := range attempts {
		done += truth(len(t.chain) == steps)
	}
	return done / float64(len(attempts))
}

// compareLeavers compares the next actions of those who got no further than a step.
func (a *audit) compareLeavers(read, what string, got []object, attempts []attempt, step, steps int) {
	want := map[string]int{}
	for _, t := range attempts {
		if len(t.chain) != step || step == steps {
			continue
		}
		next := ""
		for _, e := range slices.Backward(t.events) {
			if e.at.After(t.chain[step-1].at) {
				next = e.node()
			}
		}
		want[next]++
	}
	for _, o := range got {
		name := fmt.Sprint(o["name"])
		a.figure(read, fmt.Sprintf("next action %q after %s", name, what), number64(o["count"]), exactly(float64(want[name])))
	}
	a.figure(read, "next actions after "+what, float64(len(got)), exactly(float64(min(5, len(want)))))
}

func (a *audit) compareFunnelTool(what string, request object, attempts []attempt, groups map[string][]attempt) {
	const read = "query_funnel"
	arguments := object{"steps_json": request["steps"]}
	for _, name := range []string{"start_time", "end_time", "key_by", "window_seconds", "breakdown_by", "breakdown_limit"} {
		arguments[name] = request[name]
	}
	if filters, ok := request["filters"].(object); ok {
		maps.Copy(arguments, filters)
	}
	var got object
	a.call(read, arguments, &got)
	if len(attempts) > 0 {
		a.figure(read, "conversion of "+what, number64(got["conversion"]), exactly(converted(attempts, 3)))
	}
	breakdown, _ := got["breakdown"].(object)
	var found []string
	for _, g := range list(breakdown, "groups") {
		group := fmt.Sprint(g["group"])
		found = append(found, group)
		counts, _ := g["counts"].([]any)
		for n, c := range counts {
			reached := 0.0
			for _, t := range groups[group] {
				reached += truth(len(t.chain) > n)
			}
			a.figure(read, fmt.Sprintf("step %d of %s of %s", n+1, group, what), number64(c), exactly(reached))
		}
		if len(groups[group]) > 0 {
			a.figure(read, "conversion of "+group+" of "+what, number64(g["conversion"]), exactly(converted(groups[group], 3)))
		}
	}
	a.names(read, "groups of "+what, found, slices.Collect(maps.Keys(groups)))
}
