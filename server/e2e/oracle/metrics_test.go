package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// checkMetrics compares lists of metrics, and every aggregation of gauges and of sums.
func (a *audit) checkMetrics() {
	a.checkMetricList()
	for n, w := range a.windows()[:3] {
		for _, metric := range []string{"queue.length", "jobs.done", "requests.total"} {
			kind := "sum"
			aggregations := append([]string{"avg", "sum", "min", "max", "count"}, [][]string{{"p50", "p99"}, {"p75", "p95"}, {"p90"}}[n]...)
			if metric == "queue.length" {
				kind = "gauge"
			} else {
				aggregations = append(aggregations, "rate", "increase")
			}
			for _, aggregation := range aggregations {
				a.checkOneMetric(w, metric, kind, aggregation)
			}
		}
	}
}

// checkMetricList compares the numbers of data points. By the contract, a list counts those of whole hours.
func (a *audit) checkMetricList() {
	w := window{a.start, a.end.Add(-time.Nanosecond)}
	var got struct {
		Data []struct {
			Name, Type string
			Service    string  `json:"service_name"`
			Points     float64 `json:"data_point_count"`
		}
	}
	a.ask("listMetrics", in(w, object{"limit": 100}), &got)
	want := by(a.points, func(p *point) string { return p.name + " " + p.kind + " " + p.service })
	var names []string
	for _, m := range got.Data {
		name := m.Name + " " + m.Type + " " + m.Service
		names = append(names, name)
		a.figure("listMetrics", "data points of "+name, m.Points, exactly(float64(len(want[name]))))
	}
	a.names("listMetrics", "metrics", names, slices.Collect(maps.Keys(want)))
}

type metricGrouping struct {
	request object
	of      func(*point) string
}

func (a *audit) checkOneMetric(w window, metric, kind, aggregation string) {
	groupings := []metricGrouping{
		{object{"group_by": "service"}, func(p *point) string { return p.service }},
		{object{"group_by": "attribute", "group_by_attribute_key": "pool"}, func(p *point) string { return p.attributes["pool"] }},
		{object{"group_by": "resource_attribute", "group_by_resource_attribute_key": "tenant"}, func(p *point) string { return p.tenant }},
	}
	service := a.origins[a.r.IntN(len(a.origins))].service
	filters, keep := object{"metric_name": metric, "metric_type": kind}, func(*point) bool { return true }
	switch a.r.IntN(3) {
	case 0:
		filters["service_name"], keep = service, func(p *point) bool { return p.service == service }
	case 1:
		filters["attributes"], keep = []object{onAttribute("pool", "equals", "ü", false)},
			func(p *point) bool { return p.attributes["pool"] == "ü" }
	}
	g := groupings[a.r.IntN(len(groupings))]
	what := fmt.Sprintf("%s of %s by %v with %v in %s", aggregation, metric, g.request["group_by"], filters, w)
	values := map[string][]sample{}
	for _, s := range samplesOf(a.points, w, metric, aggregation == "rate" || aggregation == "increase") {
		if w.holds(s.at) && keep(s.point) {
			values[g.of(s.point)] = append(values[g.of(s.point)], s)
		}
	}
	var breakdown groups
	a.ask("queryMetricBreakdown", in(w, merged(g.request, object{"aggregation": aggregation, "filters": filters, "limit": 100})), &breakdown)
	var names []string
	for _, d := range breakdown.Data {
		names = append(names, d.Name)
		if b, ok := aggregateSamples(values[d.Name], aggregation, w.seconds()); ok {
			a.figure("queryMetricBreakdown", what+" for "+d.Name, d.Value, b)
		}
	}
	a.names("queryMetricBreakdown", "groups of "+what, names, slices.Collect(maps.Keys(values)))
	a.checkMetricSeries(w, what, merged(g.request, object{"aggregation": aggregation, "filters": filters, "series_limit": 100}),
		values, aggregation)
}

func (a *audit) checkMetricSeries(w window, what string, request object, values map[string][]sample, aggregation string) {
	const read = "queryMetricsTimeseries"
	bucket := []int64{300, 900, 3600}[a.r.IntN(3)]
	request["bucket_seconds"] = bucket
	var got timeseries
	a.ask(read, in(w, request), &got)
	var names []string
	for _, s := range got.Series {
		names = append(names, *s.Group)
		buckets := map[int64][]sample{}
		for _, v := range values[*s.Group] {
			at := w.bucket(v.at, bucket)
			buckets[at] = append(buckets[at], v)
		}
		for _, p := range s.Points {
			of := buckets[p.Timestamp.Unix()]
			delete(buckets, p.Timestamp.Unix())
			b, ok := aggregateSamples(of, aggregation, covered(w, p.Timestamp, bucket))
			if !ok {
				b = exactly(0)
			}
			a.figure(read, fmt.Sprintf("%s for %s at %s of %d s", what, *s.Group, p.Timestamp.Format("15:04:05"), bucket), p.Value, b)
		}
		a.figure(read, "missing points of "+what, float64(len(buckets)), exactly(0))
	}
	a.names(read, "series of "+what, names, slices.Collect(maps.Keys(values)))
}

// sample is a value of a metric at one time: that of its data point, or its increase since the point before.
type sample struct {
	*point
	of float64
}

// lookback is the time before a window in which the reads of sums also look for points.
const lookback = time.Hour

// samplesOf are the values of a metric. The increase of a cumulative sum is the difference to the point before it. The first point of a
// count has no point before it: it adds its whole value if the count began in the window or up to an hour earlier, and otherwise nothing.
func samplesOf(points []*point, w window, metric string, increase bool) []sample {
	var out []sample
	last := map[string]*point{}
	for _, p := range points {
		if p.name != metric {
			continue
		}
		if !increase || p.delta {
			out = append(out, sample{p, p.value})
			continue
		}
		series := fmt.Sprint(p.origin, p.attributes)
		from := w.start.Add(-lookback)
		before := last[series]
		known := before != nil && before.began.Equal(p.began) && !before.at.Before(from)
		switch {
		case known && p.value < before.value || !known && !p.began.Before(from):
			out = append(out, sample{p, p.value})
		case !known:
			out = append(out, sample{p, 0})
		default:
			out = append(out, sample{p, p.value - before.value})
		}
		last[series] = p
	}
	return out
}

func aggregateSamples(samples []sample, aggregation string, seconds float64) (b bounds, ok bool) {
	total, list := 0.0, []observation{}
	for _, s := range samples {
		total += s.of
		list = append(list, observation{s.of, 1})
	}
	switch aggregation {
	case "count":
		return exactly(float64(len(samples))), true
	case "rate":
		return exactly(total / seconds), true
	case "increase":
		return exactly(total), true
	}
	return summarize(list, aggregation)
}
