package oracle_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// node is the name of an event on a path: the path of a view, or the name of any other event.
func (e *action) node() string {
	if e.kind != "custom" {
		return e.path()
	}
	return e.name
}

// journeys are the options of paths.
type journeys struct {
	anchor          func(*action) bool
	before          bool
	depth, branches int
	key             string
	within          time.Duration
	included        func(*action) bool
	session         func(*visit) bool
}

// link is a hop from one node to another.
type link struct {
	hop      int
	from, to string
}

// walks are the nodes of each actor from its anchor: the first anchor event, or the last one when the paths lead to it.
func (a *activity) walks(w window, p *persons, j journeys) (walks [][]string) {
	actors := by(a.in(w, func(e *action) bool {
		return j.session == nil || e.session != nil && j.session(e.session)
	}), func(e *action) string { return p.key(j.key, e) })
	delete(actors, "")
	for _, events := range actors {
		slices.SortFunc(events, func(x, y *action) int {
			if j.before {
				x, y = y, x
			}
			return x.at.Compare(y.at)
		})
		start := slices.IndexFunc(events, j.anchor)
		if start < 0 {
			continue
		}
		walk := []string{events[start].node()}
		for _, e := range events[start+1:] {
			if j.included(e) && e.at.Sub(events[start].at).Abs() <= j.within && e.node() != walk[len(walk)-1] {
				walk = append(walk, e.node())
			}
		}
		walks = append(walks, walk[:min(len(walk), j.depth+1)])
	}
	return walks
}

// links counts the hops of walks. The nodes of a hop beyond its most frequent ones are one node. The empty node is the end of a walk.
func links(walks [][]string, j journeys) map[link]int {
	kept := map[link]bool{}
	for hop := 1; hop <= j.depth; hop++ {
		counts := map[string]int{}
		for _, walk := range walks {
			if hop < len(walk) {
				counts[walk[hop]]++
			}
		}
		var nodes []string
		for node := range counts {
			nodes = append(nodes, node)
		}
		slices.SortFunc(nodes, func(x, y string) int { return cmp.Or(counts[y]-counts[x], cmp.Compare(x, y)) })
		for _, node := range nodes[:min(len(nodes), j.branches)] {
			kept[link{hop: hop, to: node}] = true
		}
	}
	out := map[link]int{}
	for _, walk := range walks {
		at := func(hop int) string {
			switch {
			case hop >= len(walk):
				return ""
			case hop == 0 || kept[link{hop: hop, to: walk[hop]}]:
				return walk[hop]
			}
			return "$other"
		}
		for hop := 1; hop <= min(j.depth, len(walk)); hop++ {
			out[link{hop, at(hop - 1), at(hop)}]++
		}
	}
	return out
}

// checkPaths compares paths after and before an anchor, by each kind of actor.
func (a *audit) checkPaths(w window, p *persons) {
	const read = "searchProductEventPaths"
	for n, key := range []string{"person", "visitor", "user", "session"} {
		j := journeys{
			before: n%2 == 1, depth: 1 + a.activity.r.IntN(5), branches: 1 + a.activity.r.IntN(6), key: key,
			within: time.Duration(60+a.activity.r.IntN(3*3600)) * time.Second,
		}
		request := in(w, object{
			"depth": j.depth, "branches": j.branches, "key_by": key, "window_seconds": j.within.Seconds(), "direction": "after",
		})
		if j.before {
			request["direction"] = "before"
		}
		if a.activity.r.IntN(2) == 0 {
			j.anchor = func(e *action) bool { return e.name == "added to cart" }
			request["anchor"] = object{"kind": "event", "event_name": "added to cart"}
		} else {
			j.anchor = func(e *action) bool { return e.kind != "custom" && e.path() == "/cart" }
			request["anchor"] = object{"kind": "page", "page_path": "/cart"}
		}
		switch a.activity.r.IntN(4) {
		case 0:
			j.included, request["include"] = func(e *action) bool { return e.kind == "custom" }, "events"
		case 1:
			j.included, request["include"] = func(e *action) bool { return e.kind != "custom" }, "pages"
		case 2:
			j.included, request["exclude"] = func(e *action) bool {
				return e.node() != "/" && e.node() != "purchase ü"
			}, []string{"/", "purchase ü"}
		default:
			j.included = func(*action) bool { return true }
		}
		if a.activity.r.IntN(2) == 0 {
			j.session, request["filters"] = func(v *visit) bool { return v.country == "CZ" }, object{"country": "CZ"}
		}
		what := fmt.Sprintf("paths of %v in %s", request, w)
		walks := a.walks(w, p, j)
		want := links(walks, j)
		var got struct {
			Count float64
			Data  []struct {
				Hop   int
				From  string `json:"from_node"`
				To    string `json:"to_node"`
				Count float64
			}
		}
		a.ask(read, request, &got)
		a.figure(read, "actors of "+what, got.Count, exactly(float64(len(walks))))
		for _, d := range got.Data {
			l := link{d.Hop, d.From, d.To}
			a.figure(read, fmt.Sprintf("hop %d from %q to %q of %s", d.Hop, d.From, d.To, what), d.Count, exactly(float64(want[l])))
			delete(want, l)
		}
		a.figure(read, "missing hops of "+what, float64(len(want)), exactly(0))
		inOrder := slices.IsSortedFunc(got.Data, func(x, y struct {
			Hop   int
			From  string `json:"from_node"`
			To    string `json:"to_node"`
			Count float64
		},
		) int {
			return cmp.Or(cmp.Compare(x.Hop, y.Hop), cmp.Compare(y.Count, x.Count))
		})
		a.figure(read, "order of "+what, truth(inOrder), exactly(1))
	}
}
