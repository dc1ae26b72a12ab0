package engine

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// begin is recent, because the tables expire old rows. It is a whole hour, so that buckets begin at it.
func begin() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(-30 * time.Hour) }

const span = 3 * time.Hour

// drawField picks a field of the rows that made makes.
func drawField(t *rapid.T, s query.Source, grouping bool) query.Field {
	list := map[query.Source][]string{
		query.Traces: {
			"service.name", "service.namespace", "service.version", "deployment.environment", "deployment.commit_sha", "span.name", "span.kind",
			"status.code", "status.message",
			"http.method", "http.route", "http.status_code", "has_error", "root_only", "is_entry", "parent.id", "scope.name", "event.name",
			"attr.cart.size", "attr.db.system", "attr.db.system.name", "attr.user.id", "attr.nothing", "resource.k8s.pod.name",
			"resource.service.name", "event.exception.type", "event.n",
		},
		query.Logs: {
			"service.name", "service.namespace", "deployment.environment", "severity", "severity_number", "body", "event.name", "scope.name",
			"deployment.commit_sha",
			"attr.cart.size", "attr.db.system", "attr.user.id", "attr.nothing", "resource.k8s.pod.name",
		},
		query.ProductEvents: {
			"event.name", "event.kind", "source", "service.name", "host", "page.path", "url", "visitor.id", "user.id", "group.id", "session.id",
			"person", "known.user",
			"attr.cart.size", "attr.user.id", "attr.db.system", "resource.k8s.pod.name",
		},
	}[s]
	if !grouping && s == query.Traces {
		list = append(list, "duration", "trace.id")
	}
	f, err := query.ParseField(s, rapid.SampledFrom(list).Draw(t, "field"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func drawFilter(t *rapid.T, s query.Source, items []*item, depth int) query.Filter {
	list := func() []query.Filter {
		var out []query.Filter
		for range rapid.IntRange(1, 3).Draw(t, "children") {
			out = append(out, drawFilter(t, s, items, depth-1))
		}
		return out
	}
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 5).Draw(t, "kind")
	}
	switch kind {
	case 1:
		return query.Filter{All: list()}
	case 2:
		return query.Filter{Any: list()}
	case 3:
		child := drawFilter(t, s, items, depth-1)
		return query.Filter{Not: &child}
	}
	f := drawField(t, s, false)
	value := func() string {
		for range 5 {
			if v := items[rapid.IntRange(0, len(items)-1).Draw(t, "row")].lookup(f); len(v) > 0 {
				return v[0]
			}
		}
		return "nobody has this"
	}
	for range 20 {
		m := &query.Match{Field: f, Op: rapid.SampledFrom(query.Ops()).Draw(t, "op")}
		switch m.Op {
		case query.OpExists, query.OpNotExists:
		case query.OpIn, query.OpNotIn:
			m.Values = []string{value(), value()}
		case query.OpContains, query.OpNotContains:
			v := value()
			m.Values = []string{v[len(v)/3:]}
			if !isASCII(v) {
				m.Values = []string{v}
			}
		case query.OpGreater, query.OpLess, query.OpGreaterOrEqual, query.OpLessOrEqual:
			m.Values = []string{rapid.SampledFrom([]string{"1", "7", "12.5", "0", "-5", "300"}).Draw(t, "number")}
			if f.Key == "duration" {
				m.Values = []string{rapid.SampledFrom([]string{"20ms", "5", "100.5", "1s"}).Draw(t, "duration")}
			}
		default:
			m.Values = []string{value()}
		}
		filter := query.Filter{Match: m}
		if filter.Validate("filter", s) == nil {
			return filter
		}
	}
	return query.Filter{Match: &query.Match{Field: query.Field{Key: "service.name"}, Op: query.OpExists}}
}

func isASCII(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return c >= 0x80 })
}

func drawAggregation(t *rapid.T, s query.Source) query.Aggregation {
	name := rapid.SampledFrom(query.Aggregations(s)).Draw(t, "aggregation")
	for _, value := range []string{"", rapid.SampledFrom([]string{"attr.cart.size", "attr.user.id"}).Draw(t, "value")} {
		if a, err := query.ParseAggregation("", s, name, value, 0); err == nil {
			return a
		}
	}
	t.Fatalf("cannot make %s", name)
	return query.Aggregation{}
}

func within(got, lo, hi float64) bool {
	if math.IsNaN(lo) {
		return math.IsNaN(got)
	}
	tolerance := 1e-6 * (1 + math.Max(math.Abs(lo), math.Abs(hi))) // t-digests keep 32 bits of a value
	return got >= lo-tolerance && got <= hi+tolerance
}

// Every aggregation, grouping and operator agrees with values that the test computes from the rows.
func TestAgreesWithExact(t *testing.T) {
	w := warehousetest.Shared(t)
	e := New(Config{Warehouse: w, Rollups: query.AllRollups()})
	data := map[query.Source][]*item{}
	org := func(s query.Source) principal.OrgID { return principal.OrgID("org_exact_" + string(s)) }
	for n, s := range []query.Source{query.Traces, query.Logs, query.ProductEvents} {
		data[s] = made(s, uint64(n+1), 1500, begin(), span)
		store(t, w, org(s), data[s])
		store(t, w, "org_exact_else", made(s, 99, 300, begin(), span))
	}
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]query.Source{query.Traces, query.Logs, query.ProductEvents}).Draw(t, "source")
		rollup := s != query.ProductEvents && rapid.Bool().Draw(t, "rollup")
		spec := query.Spec{Source: s, Aggregation: drawAggregation(t, s)}
		for range rapid.IntRange(0, 2).Draw(t, "groups") {
			spec.GroupBy = append(spec.GroupBy, drawField(t, s, true))
		}
		if rollup {
			groups, funcs := []string{
				"service.name", "deployment.environment", "service.version", "is_entry", "span.name", "span.kind",
				"http.status_code",
			},
				[]query.Func{query.Count, query.Rate, query.ErrorCount, query.ErrorRate, query.Avg, query.Quantile}
			if s == query.Logs {
				groups, funcs = []string{"service.name", "deployment.environment", "severity", "severity_number"}, funcs[:4]
			}
			spec.GroupBy = []query.Field{{Key: rapid.SampledFrom(groups).Draw(t, "group")}}
			spec.Aggregation.Func, spec.Aggregation.Value = rapid.SampledFrom(funcs).Draw(t, "func"), nil
			if spec.Aggregation.Func == query.Avg || spec.Aggregation.Func == query.Quantile {
				spec.Aggregation.Value = &query.Field{Key: "duration"}
			}
			spec.Aggregation.Level = 0.95
		}
		if rollup && s == query.Traces && rapid.Bool().Draw(t, "one service") {
			service := data[s][rapid.IntRange(0, len(data[s])-1).Draw(t, "row")].text["service.name"]
			spec.Filter = query.Filter{Match: &query.Match{Field: query.Field{Key: "service.name"}, Op: query.OpEqual, Values: []string{service}}}
		}
		if !rollup && rapid.Bool().Draw(t, "filtered") {
			spec.Filter = drawFilter(t, s, data[s], 2)
		}
		r := &query.Request{
			Window:  query.Window{Start: begin().Add(time.Duration(rapid.Int64Range(0, int64(span/2)).Draw(t, "from"))), End: begin().Add(span)},
			Bucket:  rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Minute, time.Hour}).Draw(t, "bucket"),
			Queries: []query.Query{{Name: "A", Spec: spec}},
		}
		r.Window.End = r.Window.Start.Add(time.Duration(rapid.Int64Range(int64(time.Minute), int64(begin().Add(span).Sub(r.Window.Start))).Draw(t,
			"length")))
		if rapid.Bool().Draw(t, "whole minutes") {
			r.Window = query.Window{Start: r.Window.Start.Truncate(time.Minute), End: r.Window.End.Truncate(time.Minute).Add(time.Minute)}
		}
		var rows []*item
		for _, i := range data[s] {
			if !i.at.Before(r.Window.Start) && !i.at.After(r.Window.End) {
				rows = append(rows, i)
			}
		}
		rows = slices.DeleteFunc(identified(rows), func(i *item) bool { return !i.passes(spec.Filter) })
		where := fmt.Sprintf("%s of %s where %s by %v", spec.Aggregation, s, spec.Filter, spec.GroupBy)
		series, err := e.Timeseries(ctx, org(s), r)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		checkSeries(t, where, series, rows, &spec)
		if len(spec.GroupBy) > 0 {
			groups, err := e.Breakdown(ctx, org(s), r)
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			checkGroups(t, where, groups, rows, &spec)
		}
	})
}

func checkSeries(t *rapid.T, where string, got *query.Timeseries, rows []*item, spec *query.Spec) {
	groups := map[string][]*item{}
	for _, i := range rows {
		key := fmt.Sprintf("%q", i.group(spec.GroupBy))
		groups[key] = append(groups[key], i)
	}
	if zero, _ := empty(spec.Aggregation); len(spec.GroupBy) == 0 && len(rows) == 0 && zero == 0 {
		groups["[]"] = nil // a count of no rows is zero
	}
	kept := map[string]bool{}
	for _, s := range got.Series {
		if !s.Other {
			key := fmt.Sprintf("%q", append([]string{}, s.Group...))
			if kept[key] {
				t.Fatalf("%s: the group %s twice", where, key)
			}
			kept[key] = true
		}
	}
	if want := min(len(groups), limits.DefaultSeries); len(kept) != want {
		t.Fatalf("%s: %d series of %d groups", where, len(kept), len(groups))
	}
	if got.Truncated != (len(groups) > limits.DefaultSeries) {
		t.Fatalf("%s: truncated %v with %d groups", where, got.Truncated, len(groups))
	}
	var rest []*item
	for key, items := range groups {
		if !kept[key] {
			rest = append(rest, items...)
		}
	}
	for _, s := range got.Series {
		items := groups[fmt.Sprintf("%q", append([]string{}, s.Group...))]
		if s.Other {
			items = rest
		}
		for n, at := range got.Buckets {
			var in []*item
			for _, i := range items {
				if b := i.at.Truncate(got.Bucket); b.Equal(at) {
					in = append(in, i)
				}
			}
			start, end := at, at.Add(got.Bucket)
			if start.Before(got.Window.Start) {
				start = got.Window.Start
			}
			if end.After(got.Window.End) {
				end = got.Window.End
			}
			lo, hi := aggregate(in, spec.Aggregation, end.Sub(start).Seconds())
			if len(in) == 0 {
				lo, hi = empty(spec.Aggregation)
			}
			if !within(s.Values[n], lo, hi) {
				t.Fatalf("%s: %s at %s: got %v, want %v to %v (%d rows)", where, s.Name, at, s.Values[n], lo, hi, len(in))
			}
		}
	}
}

// empty is the value of a bucket without rows.
func empty(a query.Aggregation) (lo, hi float64) {
	switch a.Func {
	case query.Count, query.Rate, query.ErrorCount, query.CountDistinct:
		return 0, 0
	default:
		return math.NaN(), math.NaN()
	}
}

func checkGroups(t *rapid.T, where string, got *query.Breakdown, rows []*item, spec *query.Spec) {
	groups := map[string][]*item{}
	for _, i := range rows {
		key := fmt.Sprintf("%q", i.group(spec.GroupBy))
		groups[key] = append(groups[key], i)
	}
	seconds := got.Window.End.Sub(got.Window.Start).Seconds()
	last, shown := math.Inf(1), 0
	var rest []*item
	seen := map[string]bool{}
	for _, g := range got.Groups {
		if g.Other {
			continue
		}
		shown++
		key := fmt.Sprintf("%q", g.Group)
		seen[key] = true
		if lo, hi := aggregate(groups[key], spec.Aggregation, seconds); !within(g.Values[0], lo, hi) {
			t.Fatalf("%s: %s: got %v, want %v to %v", where, g.Name, g.Values[0], lo, hi)
		}
		if g.Values[0] > last {
			t.Fatalf("%s: %s is not in order", where, g.Name)
		}
		if !math.IsNaN(g.Values[0]) {
			last = g.Values[0]
		}
	}
	if want := min(len(groups), limits.DefaultBreakdownRows); shown != want || got.Truncated != (len(groups) > limits.DefaultBreakdownRows) {
		t.Fatalf("%s: %d groups of %d, truncated %v", where, shown, len(groups), got.Truncated)
	}
	for key, items := range groups {
		if seen[key] {
			continue
		}
		rest = append(rest, items...)
		// Groups that were left out are no larger than groups that were shown.
		if lo, _ := aggregate(items, spec.Aggregation, seconds); spec.Aggregation.Func != query.Quantile && lo > last+1e-6*(1+math.Abs(last)) {
			t.Fatalf("%s: %s with %v was left out", where, key, lo)
		}
	}
	for _, g := range got.Groups {
		if g.Other {
			if lo, hi := aggregate(rest, spec.Aggregation, seconds); spec.Aggregation.Func != query.Sum && !within(g.Values[0], lo, hi) {
				t.Fatalf("%s: others: got %v, want %v to %v", where, g.Values[0], lo, hi)
			}
		}
	}
}
