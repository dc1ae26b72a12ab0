package read_test

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// actorsOf counts the different keys of the actors whose deeds pass.
func (h history) actorsOf(by query.KeyBy, passes func(deed) bool) float64 {
	keys := map[string]bool{}
	for _, d := range h.deeds {
		visitor, user, _, _ := h.known(d, query.ProductSessionFilters{})
		if key := h.key(by, d, visitor, user); key != "" && passes(d) {
			keys[key] = true
		}
	}
	return float64(len(keys))
}

// Lists, breakdowns, timeseries and funnels must count the same persons, users, visitors and sessions, as the documentation
// defines them.
func TestOneFigureOfActors(t *testing.T) {
	w := warehousetest.Shared(t)
	e := engine.New(engine.Config{Warehouse: w})
	base, round := fresh(t), 0
	window := query.Window{Start: historyStart, End: historyStart.Add(time.Hour)}
	aggregations := map[query.KeyBy]string{
		query.ByPerson: "persons", query.ByUser: "users", query.ByVisitor: "visitors",
		query.BySession: "sessions",
	}
	check(t, func(t *rapid.T) {
		h := drawHistory(t)
		round++
		org := base + principal.OrgID("_"+strconv.Itoa(round))
		h.store(t, w, org)
		list, err := read.All[reads.ProductEventNameRow](t.Context(), w, org,
			reads.ListProductEventNames(reads.ProductEventNameList{Window: window, Limit: 100}))
		if err != nil {
			t.Fatal(err)
		}
		by := rapid.SampledFrom([]query.KeyBy{query.ByPerson, query.ByPerson, query.ByUser, query.ByVisitor, query.BySession}).Draw(t, "key")
		aggregation := aggregations[by]
		for _, name := range []string{rapid.SampledFrom([]string{"a", "b", "c", "$pageview"}).Draw(t, "name"), ""} {
			want := h.actorsOf(by, func(d deed) bool { return name == "" || d.name == name })
			same := func(door string, got float64) {
				if got != want {
					t.Fatalf("%s of %q: %s says %v, want %v: %+v", aggregation, name, door, got, want, h)
				}
			}
			spec := query.Spec{Source: query.ProductEvents}
			if spec.Aggregation, err = query.ParseAggregation("", spec.Source, aggregation, "", 0); err != nil {
				t.Fatal(err)
			}
			if name != "" {
				spec.Filter = query.Filter{Match: &query.Match{Field: query.Field{Key: "event.name"}, Op: query.OpEqual, Values: []string{name}}}
			}
			r := &query.Request{Window: window, Bucket: 2 * time.Hour, Queries: []query.Query{{Name: "A", Spec: spec}}}
			series, err := e.Timeseries(t.Context(), org, r)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0 // all events are in the first bucket
			for _, s := range series.Series {
				for _, v := range s.Values {
					sum += v
				}
			}
			same("the timeseries", sum)
			total, err := e.Breakdown(t.Context(), org, r)
			if err != nil {
				t.Fatal(err)
			}
			if len(total.Groups) > 0 {
				same("the total", total.Groups[0].Values[0])
			}
			if name == "" {
				continue
			}
			rows := map[query.KeyBy]float64{}
			for _, row := range list {
				if row.Name == name {
					rows = map[query.KeyBy]float64{
						query.ByPerson: float64(row.Persons), query.ByUser: float64(row.Users),
						query.ByVisitor: float64(row.Visitors), query.BySession: float64(row.Sessions),
					}
				}
			}
			same("the list", rows[by])
			funnel, err := read.All[reads.FunnelRow](t.Context(), w, org,
				reads.FunnelCounts(reads.Funnel{Window: window, Steps: []reads.Step{{EventName: name}}, KeyBy: by, Within: time.Hour}))
			if err != nil {
				t.Fatal(err)
			}
			entered := 0.0
			if len(funnel) > 0 {
				entered = float64(funnel[0].Counts[0])
			}
			same("the funnel", entered)
			spec.GroupBy, spec.Filter = []query.Field{{Key: "event.name"}}, query.Filter{}
			groups, err := e.Breakdown(t.Context(), org, &query.Request{Window: window, Queries: []query.Query{{Name: "A", Spec: spec}}})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups.Groups {
				if len(g.Group) == 1 && g.Group[0] == name {
					same("the breakdown", g.Values[0])
				}
			}
		}
	})
}
