package oracle_test

import "testing"

// TestRepeatedSpans: a request that an exporter repeats after the server stored it is stored again. Counts and the trace then have its
// spans twice. Searches of spans and of traces list each once.
func TestRepeatedSpans(t *testing.T) {
	t.Parallel()
	a, _ := begin(t, 3)
	w := window{a.start, a.end}
	var again []*row
	for _, s := range a.spans {
		if s.trace == a.spans[0].trace {
			again = append(again, s)
		}
	}
	a.export(t, a.server, again, nil, nil)
	waitStored(t, a.server)
	var breakdown groups
	a.ask("queryTraceBreakdown", in(w, object{"aggregation": "count", "group_by": "service", "limit": 100}), &breakdown)
	rows := by(append(rowsIn(a.spans, w, all), again...), func(r *row) string { return r.service })
	for _, d := range breakdown.Data {
		a.figure("queryTraceBreakdown", d.Name, d.Value, exactly(estimated(rows[d.Name])))
	}
	id := again[0].trace
	found := a.walk("searchSpans", id, in(w, object{"filters": object{"trace_id": id}}), 2*len(again))
	a.figure("searchSpans", "spans of "+id, float64(len(found)), exactly(float64(len(again))))
	list := a.walk("searchTraces", id, in(w, object{"filters": object{"trace_id": id}}), 2)
	a.figure("searchTraces", id, float64(len(list)), exactly(1))
	var trace object
	a.ask("getTrace", object{"trace_id": id}, &trace)
	a.figure("getTrace", "span_count of "+id, number64(trace["span_count"]), exactly(float64(2*len(again))))
	spans, _ := trace["spans"].([]any)
	a.figure("getTrace", "spans of "+id, float64(len(spans)), exactly(float64(2*len(again))))
	a.finish(3)
}
