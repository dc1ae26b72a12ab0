package oracle_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// checkFunnels compares funnels by each kind of actor.
func (a *audit) checkFunnels(w window, p *persons) {
	const read = "searchProductEventFunnel"
	steps := []struct {
		request object
		meets   func(*action) bool
	}{
		{object{"kind": "event", "event_name": "signed up"}, func(e *action) bool { return e.name == "signed up" }},
		{object{"kind": "event", "event_name": "added to cart"}, func(e *action) bool { return e.name == "added to cart" }},
		{
			object{"kind": "event", "event_name": "purchase", "attribute_equals": object{"plan": "pro"}},
			func(e *action) bool { return e.name == "purchase" && e.attributes["plan"] == "pro" },
		},
		{object{"kind": "page", "page_path": "/cart"}, func(e *action) bool { return e.kind != "custom" && e.path() == "/cart" }},
		{
			object{"kind": "page", "page_path": "/pricing", "host": "app.example"},
			func(e *action) bool { return e.kind != "custom" && e.path() == "/pricing" },
		},
	}
	for _, by := range []string{"person", "visitor", "user", "session"} {
		var request []object
		var meets []func(*action) bool
		for range 2 + a.activity.r.IntN(3) { // a step may come twice
			s := steps[a.activity.r.IntN(len(steps))]
			request, meets = append(request, s.request), append(meets, s.meets)
		}
		within := time.Duration(60+a.activity.r.IntN(3*3600)) * time.Second
		what := fmt.Sprintf("%v by %s within %s in %s", request, by, within, w)
		reached := a.funnel(w, p, by, within, meets)
		var got object
		a.ask(read, in(w, object{"steps": request, "key_by": by, "window_seconds": within.Seconds()}), &got)
		a.checkFunnelTool(what, in(w, object{"steps_json": request, "key_by": by, "window_seconds": within.Seconds()}), reached)
		for n, s := range list(got, "steps") {
			count, _ := s["count"].(float64)
			share, _ := s["of_first"].(float64)
			drop, _ := s["drop_off"].(float64)
			a.figure(read, fmt.Sprintf("step %d of %s", n+1, what), count, exactly(float64(reached[n])))
			if reached[0] > 0 {
				a.figure(read, fmt.Sprintf("share at step %d of %s", n+1, what), share, exactly(float64(reached[n])/float64(reached[0])))
			}
			if n > 0 {
				a.figure(read, fmt.Sprintf("loss at step %d of %s", n+1, what), drop, exactly(float64(reached[n-1]-reached[n])))
			}
		}
	}
}

// funnel counts the actors that reach each step. From each event of the first step, it takes the earliest event of each further step.
func (a *audit) funnel(w window, p *persons, key string, within time.Duration, steps []func(*action) bool) []int {
	reached := make([]int, len(steps))
	actors := by(a.activity.in(w, func(*action) bool { return true }), func(e *action) string { return p.key(key, e) })
	delete(actors, "")
	for _, events := range actors {
		slices.SortFunc(events, func(x, y *action) int { return cmp.Compare(x.at.UnixNano(), y.at.UnixNano()) })
		furthest := 0
		for i, e := range events {
			if !steps[0](e) {
				continue
			}
			step := 1
			for _, later := range events[i+1:] {
				if step < len(steps) && !later.at.After(e.at.Add(within)) && steps[step](later) {
					step++
				}
			}
			furthest = max(furthest, step)
		}
		for n := range furthest {
			reached[n]++
		}
	}
	return reached
}

// checkFunnelTool compares the steps of the tool with the same evaluation.
func (a *audit) checkFunnelTool(what string, arguments object, reached []int) {
	const read = "query_funnel"
	var got struct {
		Steps []struct{ Count, OfFirst, DropOff float64 }
	}
	a.call(read, arguments, &got)
	for n, s := range got.Steps {
		a.figure(read, fmt.Sprintf("step %d of %s", n+1, what), s.Count, exactly(float64(reached[n])))
		if reached[0] > 0 {
			a.figure(read, fmt.Sprintf("share at step %d of %s", n+1, what), s.OfFirst, exactly(float64(reached[n])/float64(reached[0])))
		}
		if n > 0 {
			a.figure(read, fmt.Sprintf("loss at step %d of %s", n+1, what), s.DropOff, exactly(float64(reached[n-1]-reached[n])))
		}
	}
	a.figure(read, "steps of "+what, float64(len(got.Steps)), exactly(float64(len(reached))))
}
