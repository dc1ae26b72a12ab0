package oracle_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// growth is a point of a distribution with the observations that it adds to the point before it.
type growth struct {
	*point
	fresh []float64
}

// growths are the points of a metric in a window. The rules are those of samplesOf.
func growths(points []*point, w window, metric string) (out []growth) {
	last, from := map[string]*point{}, w.start.Add(-lookback)
	for _, p := range points {
		if p.name != metric || p.at.Before(from) || p.at.After(w.end) {
			continue
		}
		g, series := growth{p, p.seen}, fmt.Sprint(p.origin, p.attributes)
		before := last[series]
		switch {
		case p.delta:
		case before == nil || !before.began.Equal(p.began):
			if p.began.Before(from) || !p.began.Before(p.at) {
				g.fresh = nil
			}
		case len(p.seen) >= len(before.seen):
			g.fresh = p.seen[len(before.seen):]
		}
		last[series] = p
		if w.holds(p.at) {
			out = append(out, g)
		}
	}
	return out
}

// aggregateGrowths aggregates the observations of points. A quantile lies in the bucket of the observation that has its rank. The
// result ok is false when the aggregation has no value.
func aggregateGrowths(list []growth, aggregation string) (b bounds, ok bool) {
	var fresh []float64
	for _, g := range list {
		fresh = append(fresh, g.fresh...)
	}
	switch aggregation {
	case "count":
		return exactly(float64(len(fresh))), len(list) > 0
	case "sum":
		return exactly(total(fresh)), len(list) > 0
	}
	if len(list) > 0 && list[0].kind == "summary" && aggregation != "avg" {
		return aggregateSent(list, aggregation)
	}
	if len(fresh) == 0 {
		return bounds{}, false
	}
	if aggregation == "avg" {
		return exactly(total(fresh) / float64(len(fresh))), true
	}
	var lows, highs []float64
	exact, overflow, unsent := true, false, false
	least, most := math.Inf(1), math.Inf(-1)
	for _, g := range list {
		if len(g.fresh) == 0 {
			continue
		}
		exact, unsent = exact && g.delta && g.extremes, unsent || !g.extremes
		least, most = min(least, slices.Min(g.seen)), max(most, slices.Max(g.seen))
		for _, v := range g.fresh {
			low, high := g.edges(v)
			overflow = overflow || math.IsInf(high, 1)
			lows, highs = append(lows, low), append(highs, high)
		}
	}
	for n := range lows { // the outermost buckets end at the least and the largest observation
		if math.IsInf(lows[n], -1) {
			lows[n] = min(least, 0, highs[n])
		}
		if math.IsInf(highs[n], 1) {
			highs[n] = max(most, lows[n])
		}
	}
	slices.Sort(lows)
	slices.Sort(highs)
	switch aggregation {
	case "min":
		if exact {
			return exactly(slices.Min(fresh)), true
		}
		return bounds{lows[0], slices.Min(fresh)}, true
	case "max":
		if exact {
			return exactly(slices.Max(fresh)), true
		}
		return bounds{slices.Max(fresh), highs[len(highs)-1]}, !unsent || !overflow
	}
	level, _ := strconv.ParseFloat(aggregation[1:], 64)
	rank := level / 100 * float64(len(fresh))
	at := func(rank float64) int { return min(max(int(math.Ceil(rank))-1, 0), len(fresh)-1) }
	return bounds{lows[at(rank-1e-9)], highs[at(rank+1e-9)]}, true
}

// aggregateSent aggregates the quantiles that the senders of summaries computed: a quantile is their mean.
func aggregateSent(list []growth, aggregation string) (b bounds, ok bool) {
	level := map[string]float64{"min": 0, "max": 1, "p50": 0.5, "p95": 0.95}
	var values []observation
	for _, g := range list {
		if l, known := level[aggregation]; known {
			if v, sent := g.sent(l); sent {
				values = append(values, observation{v, 1})
			}
		}
	}
	if aggregation != "min" && aggregation != "max" {
		aggregation = "avg"
	}
	return summarize(values, aggregation)
}

// edges are the bounds of the bucket that holds an observation.
func (p *point) edges(v float64) (low, high float64) {
	if p.kind == "histogram" {
		n, _ := slices.BinarySearch(p.layout, v)
		low, high = math.Inf(-1), math.Inf(1)
		if n > 0 {
			low = p.layout[n-1]
		}
		if n < len(p.layout) {
			high = p.layout[n]
		}
		return low, high
	}
	if math.Abs(v) <= zeroThreshold {
		return -zeroThreshold, zeroThreshold
	}
	n := float64(index(math.Abs(v), coarsest))
	low, high = math.Exp2(n/(1<<coarsest)), math.Exp2((n+1)/(1<<coarsest))
	if v < 0 {
		return -high, -low
	}
	return low, high
}

// checkDistributions compares every aggregation of histograms and of summaries, and the details of all metrics.
func (a *audit) checkDistributions() {
	windows, n := a.windows()[:3], 0
	for metric, kind := range map[string]string{
		"request.duration": "histogram", "request.size": "exponential_histogram", "gc.pause": "summary",
	} {
		for _, aggregation := range []string{"avg", "sum", "min", "max", "count", "p50", a.pick("p75", "p90"), a.pick("p95", "p99")} {
			a.checkDistribution(windows[n%3], metric, kind, aggregation)
			n++
		}
	}
	a.checkMetricDetails(windows[1])
}

func (a *audit) checkDistribution(w window, metric, kind, aggregation string) {
	groupings := []metricGrouping{
		{object{"group_by": "service"}, func(p *point) string { return p.service }},
		{object{"group_by": "attribute", "group_by_attribute_key": "pool"}, func(p *point) string { return p.attributes["pool"] }},
		{object{"group_by": "resource_attribute", "group_by_resource_attribute_key": "tenant"}, func(p *point) string { return p.tenant }},
	}
	g := groupings[a.r.IntN(len(groupings))]
	request := object{"aggregation": aggregation, "filters": object{"metric_name": metric, "metric_type": kind}}
	what := fmt.Sprintf("%s of %s by %v in %s", aggregation, metric, g.request["group_by"], w)
	all := growths(a.points, w, metric)
	values := by(all, func(v growth) string { return g.of(v.point) })
	known := func(name string) bool { _, ok := aggregateGrowths(values[name], aggregation); return ok }
	var breakdown groups
	a.ask("queryMetricBreakdown", in(w, merged(g.request, request, object{"limit": 100})), &breakdown)
	var names []string
	for _, d := range breakdown.Data {
		names = append(names, d.Name)
		if b, ok := aggregateGrowths(values[d.Name], aggregation); ok {
			a.figure("queryMetricBreakdown", what+" for "+d.Name, d.Value, b)
		}
	}
	want := slices.DeleteFunc(slices.Collect(maps.Keys(values)), func(name string) bool { return !known(name) })
	a.names("queryMetricBreakdown", "groups of "+what, names, want)
	request["bucket_seconds"] = []int64{600, 900, 3600}[a.r.IntN(3)]
	if a.r.IntN(3) == 0 {
		a.checkGrowthSeries(w, what, request, map[string][]growth{"all": all})
		return
	}
	a.checkGrowthSeries(w, what, merged(request, g.request, object{"series_limit": 100}), values)
}

func (a *audit) checkGrowthSeries(w window, what string, request object, values map[string][]growth) {
	const read = "queryMetricsTimeseries"
	bucket, _ := request["bucket_seconds"].(int64)
	aggregation := fmt.Sprint(request["aggregation"])
	var got timeseries
	a.ask(read, in(w, request), &got)
	names, want := []string{}, []string{}
	buckets := map[string]map[int64][]growth{}
	for name, list := range values {
		buckets[name] = by(list, func(g growth) int64 { return w.bucket(g.at, bucket) })
		for at, of := range buckets[name] {
			if _, ok := aggregateGrowths(of, aggregation); !ok {
				delete(buckets[name], at)
			}
		}
		if len(buckets[name]) > 0 {
			want = append(want, name)
		}
	}
	for _, s := range got.Series {
		name := "all"
		if s.Group != nil {
			name = *s.Group
		}
		names = append(names, name)
		for _, p := range s.Points {
			b, ok := aggregateGrowths(buckets[name][p.Timestamp.Unix()], aggregation)
			delete(buckets[name], p.Timestamp.Unix())
			if !ok && aggregation != "count" && aggregation != "sum" {
				b = bounds{math.NaN(), math.NaN()} // no value is right
			}
			a.figure(read, fmt.Sprintf("%s for %s at %s of %d s", what, name, p.Timestamp.Format("15:04:05"), bucket), p.Value, b)
		}
		a.figure(read, "missing points of "+what+" for "+name, float64(len(buckets[name])), exactly(0))
	}
	a.names(read, "series of "+what, names, want)
}

// checkMetricDetails compares the details of each metric.
func (a *audit) checkMetricDetails(w window) {
	const read = "getMetric"
	hours := window{w.start.Truncate(time.Hour), w.end.Truncate(time.Hour).Add(time.Hour - time.Nanosecond)}
	inHours := slices.DeleteFunc(slices.Clone(a.points), func(p *point) bool { return !hours.holds(p.at) })
	for name, points := range by(inHours, func(p *point) string { return p.name }) {
		var got object
		a.ask(read, in(w, object{"name": name}), &got)
		kinds, found := by(points, func(p *point) string { return p.kind }), []string{}
		for _, o := range list(got, "types") {
			of := kinds[fmt.Sprint(o["type"])]
			found = append(found, fmt.Sprint(o["type"]))
			if len(of) == 0 {
				continue
			}
			order := func(x, y *point) int { return x.at.Compare(y.at) }
			first, last := slices.MinFunc(of, order).at, slices.MaxFunc(of, order).at
			count, _ := o["data_point_count"].(float64)
			a.figure(read, "data points of "+name, count, exactly(float64(len(of))))
			a.figure(read, "first_seen of "+name, float64(moment(o["first_seen"]).Sub(first)), exactly(0))
			a.figure(read, "last_seen of "+name, float64(moment(o["last_seen"]).Sub(last)), exactly(0))
			var services []string
			for _, s := range o["services"].([]any) {
				services = append(services, fmt.Sprint(s))
			}
			a.names(read, "services of "+name, services, slices.Collect(maps.Keys(by(of, func(p *point) string { return p.service }))))
			// The series, attributes and the latest value are those of the hour before the last point, or else of the window's last hour.
			until := last
			if until.After(w.end) {
				until = w.end
			}
			near := slices.DeleteFunc(slices.Clone(of), func(p *point) bool { return p.at.Before(until.Add(-time.Hour)) || p.at.After(until) })
			series := float64(len(by(near, func(p *point) string { return fmt.Sprint(p.origin.resource(), p.attributes) })))
			count, _ = o["series_count"].(float64)
			a.figure(read, "series of "+name, count, bounds{0.99 * series, 1.01 * series})
			for _, attribute := range list(o, "attributes") {
				count, _ = attribute["value_count"].(float64)
				a.figure(read, fmt.Sprint("values of ", attribute["key"], " of ", name), count, exactly(float64(len(
					by(near, func(p *point) string { return p.attributes[fmt.Sprint(attribute["key"])] })))))
			}
			latest := slices.MaxFunc(near, order).at
			a.checkLatest(read, name, o["latest_value"], slices.DeleteFunc(near, func(p *point) bool { return !p.at.Equal(latest) }))
		}
		a.names(read, "types of "+name, found, slices.Collect(maps.Keys(kinds)))
	}
}

// checkLatest compares the latest value. Any of the points of the last time may have it.
func (a *audit) checkLatest(read, name string, got any, points []*point) {
	var shown, values []string
	for _, p := range points {
		v := p.value
		if p.distribution != nil {
			v = total(p.seen) / float64(len(p.seen))
		}
		if n, ok := got.(float64); ok && exactly(v).admits(n) || got == nil && math.IsNaN(v) {
			shown, values = []string{"shown"}, []string{"shown"}
		}
	}
	if len(shown) == 0 {
		shown, values = []string{fmt.Sprint(got)}, []string{"a latest value"}
	}
	a.names(read, "latest value of "+name, shown, values)
}
