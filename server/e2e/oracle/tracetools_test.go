package oracle_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// family links the spans of a trace. A span whose parent was not sent is a root.
type family struct {
	spans    []*row
	children map[string][]*row
	roots    []*row
}

func familyOf(spans []*row) family {
	f := family{spans: slices.Clone(spans), children: map[string][]*row{}}
	slices.SortFunc(f.spans, func(x, y *row) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.id, y.id)) })
	known := map[string]bool{}
	for _, s := range f.spans {
		known[s.id] = true
	}
	for _, s := range f.spans {
		if s.parent == "" || !known[s.parent] {
			f.roots = append(f.roots, s)
			continue
		}
		f.children[s.parent] = append(f.children[s.parent], s)
	}
	return f
}

// own is the time of a span, in milliseconds, in which no child ran. It looks at each stretch between two moments.
func (f family) own(s *row) float64 {
	begin, end := s.at, s.at.Add(s.duration)
	moments := []time.Time{begin, end}
	for _, c := range f.children[s.id] {
		moments = append(moments, c.at, c.at.Add(c.duration))
	}
	slices.SortFunc(moments, time.Time.Compare)
	own := time.Duration(0)
	for n, from := range moments[:len(moments)-1] {
		to := moments[n+1]
		busy := slices.ContainsFunc(f.children[s.id], func(c *row) bool { return !c.at.After(from) && !c.at.Add(c.duration).Before(to) })
		if !from.Before(begin) && !to.After(end) && !busy {
			own += to.Sub(from)
		}
	}
	return float64(own) / 1e6
}

// path divides the time of the longest root: each instant belongs to one span. Going back from the end of a span, the time since the end of
// the child that ended last is the span's own, and the time of that child is the child's.
func (f family) path() map[string]time.Duration {
	of := map[string]time.Duration{}
	var divide func(s *row, from, until time.Time)
	divide = func(s *row, from, until time.Time) {
		for until.After(from) {
			var last *row
			lastEnd := from
			for _, c := range f.children[s.id] {
				end := c.at.Add(c.duration)
				if end.After(until) {
					end = until
				}
				begin := c.at
				if begin.Before(from) {
					begin = from
				}
				// Of two children that ran until the same moment, the one that really ended later counts.
				if end.After(begin) && (last == nil || c.at.Add(c.duration).After(last.at.Add(last.duration))) && c.at.Before(until) {
					last, lastEnd = c, end
				}
			}
			if last == nil {
				of[s.id] += until.Sub(from)
				return
			}
			of[s.id] += until.Sub(lastEnd)
			begin := last.at
			if begin.Before(from) {
				begin = from
			}
			divide(last, begin, lastEnd)
			until = begin
		}
	}
	longest := slices.MaxFunc(f.roots, func(x, y *row) int { return cmp.Compare(x.duration, y.duration) })
	divide(longest, longest.at, longest.at.Add(longest.duration))
	maps.DeleteFunc(of, func(_ string, own time.Duration) bool { return own == 0 })
	return of
}

// checkTraceTools compares tools about traces and spans, and the critical path.
func (a *audit) checkTraceTools() {
	traces := by(a.spans, func(s *row) string { return s.trace })
	for n, id := range slices.Sorted(maps.Keys(traces)) {
		if n%10 == 0 {
			a.checkInspected(id, traces[id])
		}
	}
	windows := a.windows()
	for n, w := range windows {
		environment := a.pick("", "production", "staging")
		service := ""
		if n%2 == 1 {
			service = a.origins[a.r.IntN(len(a.origins))].service
		}
		a.checkSlowTraces(w, environment, service)
	}
	for n, c := range a.spanConditions() {
		a.checkTracesTool(windows[n%len(windows)], c, traces)
	}
}

func (a *audit) checkInspected(id string, spans []*row) {
	const read = "inspect_trace"
	f := familyOf(spans)
	path := f.path()
	var got object
	a.call(read, object{"trace_id": id, "max_spans": 100}, &got)
	start, ms := extent(spans)
	services := by(spans, func(s *row) string { return s.service })
	for field, want := range map[string]float64{
		"durationMs": ms, "serviceCount": float64(len(services)), "spanCount": float64(len(spans)), "renderedSpanCount": float64(len(spans)),
		"totalSpanCount": float64(len(spans)),
	} {
		a.figure(read, field+" of "+id, number64(got[field]), exactly(want))
	}
	a.figure(read, "start of "+id, moment(got["startTime"]).Sub(start.Truncate(time.Millisecond)).Seconds(), bounds{-0.001, 0.001})
	byID := map[string]*row{}
	for _, s := range spans {
		byID[s.id] = s
	}
	var found []string
	var walk func(nodes []object, parent string)
	walk = func(nodes []object, parent string) {
		for _, o := range nodes {
			name := fmt.Sprint(o["spanId"])
			found = append(found, name)
			s := byID[name]
			if s == nil {
				continue
			}
			what := name + " of " + id
			above := ""
			if slices.Contains(f.children[s.parent], s) {
				above = s.parent
			}
			a.names(read, "the span above "+what, []string{parent}, []string{above})
			a.figure(read, "durationMs of "+what, number64(o["durationMs"]), exactly(s.milliseconds()))
			a.figure(read, "startOffsetMs of "+what, number64(o["startOffsetMs"]), exactly(float64(s.at.Sub(start))/1e6))
			a.figure(read, "selfMs of "+what, number64(o["selfMs"]), near(f.own(s)))
			critical, _ := o["onCriticalPath"].(bool)
			a.figure(read, "onCriticalPath of "+what, truth(critical), exactly(truth(path[name] > 0)))
			a.names(read, "start of "+what, []string{fmt.Sprint(moment(o["startTime"]).Sub(s.at).Abs() < 2*time.Millisecond)}, []string{"true"})
			walk(list(o, "children"), name)
		}
	}
	walk(list(got, "spans"), "")
	a.names(read, "spans of "+id, found, slices.Collect(maps.Keys(byID)))
	hour := window{start.Add(-time.Hour), start.Add(time.Duration(ms * 1e6)).Add(time.Hour)}
	records := rowsIn(a.records, hour, func(r *row) bool { return r.trace == id })
	a.figure(read, "records of "+id, float64(len(list(got, "logs"))), exactly(float64(min(len(records), 10))))
	a.checkPath(id, ms, path, byID)
	a.checkInspectedSpan(spans[a.r.IntN(len(spans))])
}

// near are the bounds of a time in milliseconds that was computed in fractions of a nanosecond.
func near(ms float64) bounds { return bounds{ms - 2e-6, ms + 2e-6} }

func (a *audit) checkPath(id string, ms float64, path map[string]time.Duration, spans map[string]*row) {
	const read = "getTraceCriticalPath"
	var got object
	a.ask(read, object{"trace_id": id}, &got)
	a.figure(read, "duration of "+id, number64(got["duration_ms"]), exactly(ms))
	steps := list(got, "steps")
	for _, o := range steps {
		name := fmt.Sprint(o["span_id"])
		a.figure(read, "own time of "+name+" of "+id, number64(o["self_ms"]), near(float64(path[name])/1e6))
	}
	a.figure(read, "steps of "+id, float64(len(steps)), exactly(float64(min(8, len(path)))))
	inOrder := slices.IsSortedFunc(steps, func(x, y object) int { return cmp.Compare(number64(y["self_ms"]), number64(x["self_ms"])) })
	a.figure(read, "order of the steps of "+id, truth(inOrder), exactly(1))
	repeated := map[string][]*row{}
	for key, of := range by(slices.Collect(maps.Values(spans)), func(s *row) string { return s.parent + "|" + s.service + "|" + s.name }) {
		if spans[of[0].parent] != nil && len(of) >= 5 {
			repeated[key] = of
		}
	}
	a.figure(read, "repeated operations of "+id, float64(len(list(got, "repeated_operations"))), exactly(float64(min(3, len(repeated)))))
	for _, o := range list(got, "repeated_operations") {
		known := false
		for _, of := range repeated {
			total := 0.0
			for _, s := range of {
				total += s.milliseconds()
			}
			known = known || of[0].name == o["span_name"] && of[0].service == o["service_name"] && number64(o["count"]) == float64(len(of)) &&
				near(total).admits(number64(o["total_ms"]))
		}
		a.figure(read, fmt.Sprint("repetitions as ", o, " of ", id), truth(known), exactly(1))
	}
}

func (a *audit) checkInspectedSpan(s *row) {
	const read = "inspect_span"
	var got object
	a.call(read, object{"trace_id": s.trace, "span_id": s.id}, &got)
	a.figure(read, "durationMs of "+s.id, number64(got["durationMs"]), exactly(s.milliseconds()))
	a.names(read, "start of "+s.id, []string{fmt.Sprint(moment(got["timestamp"]).Sub(s.at).Abs() < 2*time.Millisecond)}, []string{"true"})
	events := 0
	if s.exception != "" {
		events = 1
	}
	a.figure(read, "events of "+s.id, float64(len(list(got, "events"))), exactly(float64(events)))
	a.names(read, s.id, []string{strings.Join([]string{
		fmt.Sprint(got["spanName"], got["serviceName"], got["statusCode"]), printed(texts(got["attributes"])),
		printed(texts(got["resourceAttributes"])),
	}, "|")}, []string{strings.Join([]string{
		fmt.Sprint(s.name, s.service, s.status), printed(s.attributes), printed(a.stored(s.origin)),
	}, "|")})
}
