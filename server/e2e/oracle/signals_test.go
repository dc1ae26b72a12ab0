package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

type seriesPoint struct {
	Timestamp time.Time
	Value     float64
}

type series struct {
	Group  *string
	Points []seriesPoint
}

type timeseries struct {
	BucketSeconds int64 `json:"bucket_seconds"`
	Series        []series
	Truncated     bool
}

type groups struct {
	Data []struct {
		Name  string
		Value float64
	}
	Truncated bool
}

// signal describes the reads of one kind of rows.
type signal struct {
	rows                                  []*row
	timeseries, breakdown, facets, search string // operations
	conditions                            []condition
	groupings                             []grouping
	aggregations                          []string
	facetOf                               map[string]func(*row) string
}

func (t *telemetry) signals() []signal {
	service := func(r *row) string { return r.service }
	environment, namespace := func(r *row) string { return r.environment }, func(r *row) string { return r.namespace }
	return []signal{
		{
			t.spans, "queryTraceTimeseries", "queryTraceBreakdown", "searchTraceFacets", "searchTraces", t.spanConditions(), spanGroupings(),
			[]string{"count", "avg_duration", "p50_duration", "p95_duration", "p99_duration", "error_rate", "apdex"},
			map[string]func(*row) string{
				"service": service, "span_name": func(r *row) string { return r.name }, "http_method": func(r *row) string { return r.method },
				"http_status": func(r *row) string { return statusText(r.code) }, "deployment_env": environment, "service_namespace": namespace,
			},
		},
		{
			t.records, "queryLogTimeseries", "queryLogBreakdown", "searchLogFacets", "searchLogs", t.recordConditions(), recordGroupings(),
			[]string{"count"},
			map[string]func(*row) string{
				"service": service, "severity": func(r *row) string { return r.severity }, "deployment_env": environment, "namespace": namespace,
			},
		},
	}
}

// statusText is an HTTP status as text, empty without one.
func statusText(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprint(code)
}

// checkSignals compares the reads of spans and of records: for each condition, each window shape with an aggregation and a group
// drawn at random, so that all of them occur.
func (a *audit) checkSignals() {
	for _, s := range a.signals() {
		n := 0
		for i, c := range s.conditions {
			// Each condition has two shapes of windows, so two conditions have all of them.
			for _, w := range a.windows()[i%2*2:][:2] {
				aggregation, g := s.aggregations[n%len(s.aggregations)], s.groupings[a.r.IntN(len(s.groupings))]
				n++
				matched := rowsIn(s.rows, w, c.meets)
				request := object{"aggregation": aggregation}
				if a.r.IntN(2) == 0 {
					request["filters"] = c.filters
				} else {
					request["where"] = c.where
				}
				what := fmt.Sprintf("%s by %v of %v in %s", aggregation, g.field, cond(request), w)
				a.checkBreakdown(s.breakdown, what, in(w, merged(request, g.request, object{"limit": 100})), by(matched, g.of), aggregation)
				request["bucket_seconds"] = []int{60, 300, 3600, 77}[a.r.IntN(4)]
				if a.r.IntN(3) == 0 {
					g.request, g.of = nil, nil
				}
				a.checkTimeseries(w, s.timeseries, what, in(w, merged(request, g.request, object{"series_limit": 100})), matched, g.of, aggregation)
				a.checkFacets(&s, what, in(w, object{"filters": c.filters}), matched)
			}
		}
	}
}

func cond(request object) any {
	if w, ok := request["where"]; ok && w != "" {
		return w
	}
	return request["filters"]
}

func (w window) String() string {
	return w.start.Format("15:04:05.999999999") + "–" + w.end.Format("15:04:05.999999999")
}

func merged(list ...object) object {
	out := object{}
	for _, m := range list {
		maps.Copy(out, m)
	}
	return out
}

func (a *audit) checkBreakdown(operation, what string, request object, want map[string][]*row, aggregation string) {
	var got groups
	a.ask(operation, request, &got)
	var names, expected []string
	for _, g := range got.Data {
		names = append(names, g.Name)
	}
	rowsOf := map[string][]*row{}
	for v, rows := range want {
		rowsOf[orNone(v)] = append(rowsOf[orNone(v)], rows...)
	}
	expected = slices.Collect(maps.Keys(rowsOf))
	a.names(operation, "groups of "+what, names, expected)
	for _, g := range got.Data {
		if rows := rowsOf[g.Name]; len(rows) > 0 {
			b, _ := aggregate(rows, aggregation, "", 0)
			a.figure(operation, what+" for "+g.Name, g.Value, b)
		}
	}
}

func (a *audit) checkTimeseries(w window, operation, what string, request object, rows []*row, of func(*row) string, aggregation string) {
	var got timeseries
	a.ask(operation, request, &got)
	want := map[string][]*row{}
	for _, r := range rows {
		group := "all"
		if of != nil {
			group = orNone(of(r))
		}
		want[group] = append(want[group], r)
	}
	if of == nil && len(rows) == 0 {
		want["all"] = nil
	}
	var names []string
	for _, s := range got.Series {
		name := "all"
		if s.Group != nil {
			name = *s.Group
		}
		if of == nil && len(rows) == 0 && !slices.ContainsFunc(s.Points, func(p seriesPoint) bool { return p.Value != 0 }) {
			delete(want, "all")
			continue
		}
		names = append(names, name)
		a.checkPoints(w, operation, what+" for "+name, s.Points, want[name], got.BucketSeconds, aggregation)
	}
	if len(rows) == 0 {
		delete(want, "all")
	}
	a.names(operation, "series of "+what, names, slices.Collect(maps.Keys(want)))
}

// checkPoints compares the points of one series. Buckets begin at multiples of their length since 1970.
func (a *audit) checkPoints(w window, operation, what string, points []seriesPoint, rows []*row, bucket int64, aggregation string) {
	inBucket := map[int64][]*row{}
	for _, r := range rows {
		at := w.bucket(r.at, bucket)
		inBucket[at] = append(inBucket[at], r)
	}
	for _, p := range points {
		at := p.Timestamp.Unix()
		of := inBucket[at]
		delete(inBucket, at)
		want := exactly(0)
		if len(of) > 0 {
			want, _ = aggregate(of, aggregation, "", float64(bucket))
		} else if aggregation != "count" {
			a.figure(operation, "the number of rows at the point "+p.Timestamp.String()+" of "+what, 0, exactly(1))
			continue
		}
		a.figure(operation, what+" at "+p.Timestamp.Format("15:04:05"), p.Value, want)
	}
	a.figure(operation, "the number of missing points of "+what, float64(len(inBucket)), exactly(0))
}

// mostFacets is the number of values that each facet lists.
const mostFacets = 20

func (a *audit) checkFacets(s *signal, what string, request object, rows []*row) {
	var got struct {
		Data []struct {
			FacetType string `json:"facet_type"`
			Name      string
			Count     float64
		}
	}
	a.ask(s.facets, request, &got)
	seen := map[string][]string{}
	for _, f := range got.Data {
		if f.FacetType == "error_count" {
			a.figure(s.facets, "failed spans of "+what, f.Count, exactly(estimated(failed(rows))))
			continue
		}
		of := s.facetOf[f.FacetType]
		if of == nil {
			a.Errorf("%s: no evaluation of the facet %s", s.facets, f.FacetType)
			continue
		}
		seen[f.FacetType] = append(seen[f.FacetType], f.Name)
		a.figure(s.facets, f.FacetType+"="+f.Name+" of "+what, f.Count, exactly(estimated(by(rows, of)[f.Name])))
	}
	for name, of := range s.facetOf {
		want := by(rows, of)
		delete(want, "")
		if len(want) <= mostFacets {
			a.names(s.facets, name+" of "+what, seen[name], slices.Collect(maps.Keys(want)))
		}
	}
}
