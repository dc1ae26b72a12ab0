package engine

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// Every aggregation of every source, on every kind of field, reads rows and rollups. An organization without data gets nothing
// from an organization with data.
func TestIsolation(t *testing.T) {
	w := warehousetest.Shared(t)
	ctx := t.Context()
	const full, empty = "org_isolation_full", "org_isolation_empty"
	e := New(Config{Warehouse: w, Rollups: query.AllRollups()})
	window := query.Window{Start: begin(), End: begin().Add(span)}
	statements := 0
	for n, s := range []query.Source{query.Traces, query.Logs, query.ProductEvents} {
		store(t, w, full, made(s, uint64(n+50), 300, begin(), span))
		for _, name := range query.Aggregations(s) {
			groups := []string{"service.name", "attr.user.id", "resource.k8s.pod.name", "event.name"}
			for g, group := range []string{"", groups[statements%len(groups)]} {
				a, err := query.ParseAggregation("", s, name, "", 0)
				if err != nil {
					if a, err = query.ParseAggregation("", s, name, "attr.cart.size", 0); err != nil {
						t.Fatal(err)
					}
				}
				q := query.Query{Name: "A", Spec: query.Spec{Source: s, Aggregation: a, SeriesLimit: 2}}
				if group != "" {
					f, err := query.ParseField(s, group)
					if err != nil {
						t.Fatal(err)
					}
					q.GroupBy = []query.Field{f}
				}
				if g%2 == 1 {
					// Conditions that hold for every row must not reveal another organization's rows.
					if q.Filter, err = query.ParseWhere(s, "service.name exists OR NOT service.name exists OR attr.user.id !contains x"); err != nil {
						t.Fatal(err)
					}
				}
				r := &query.Request{Window: window, Bucket: time.Hour, Queries: []query.Query{q}, Comparison: query.Comparison{Previous: true}}
				statements++
				series, err := e.Timeseries(ctx, empty, r)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range series.Series {
					for _, v := range slices.Concat(line.Values, line.Previous) {
						if v != 0 && !math.IsNaN(v) {
							t.Fatalf("%s of %s by %q gives another organization's %v", name, s, group, v)
						}
					}
				}
				groups, err := e.Breakdown(ctx, empty, r)
				if err != nil {
					t.Fatal(err)
				}
				if group != "" && len(groups.Groups) > 0 || series.Truncated || groups.Truncated {
					t.Fatalf("%s of %s by %q has groups of another organization: %v", name, s, group, groups.Groups)
				}
				if group == "" && (len(groups.Groups) != 1 || groups.Groups[0].Values[0] > 0) {
					t.Fatalf("%s of %s: %v", name, s, groups.Groups)
				}
				// This proves that the test can fail: the owner gets results.
				if mine, err := e.Breakdown(ctx, full, r); err != nil || len(mine.Groups) == 0 {
					t.Fatalf("%s of %s by %q: %v for its owner: %v", name, s, group, mine, err)
				}
			}
		}
	}
	field := query.Field{Key: "service.name"}
	for name, s := range map[string]sqlbuild.Statement{
		"keys": reads.ListAttributeKeys(reads.AttributeKeyList{Window: window, Signal: "traces", Limit: 10}),
		"values": reads.AttributeValues(reads.AttributeValueList{
			Source: query.Logs, Slice: window, Field: &field, MaxRows: 10,
			MaxDistinct: 10,
		}),
		"keys of rows": reads.AttributeValues(reads.AttributeValueList{Source: query.Traces, Slice: window, MaxRows: 10, MaxDistinct: 10}),
		"rolled up":    reads.RolledUpValues(reads.AttributeValueList{Source: query.Traces, Slice: window, Field: &field, MaxDistinct: 10}),
		"of data points": reads.AttributeValues(reads.AttributeValueList{
			Source: query.Metrics, Slice: window, Field: &field, MaxRows: 10,
			MaxDistinct: 10,
		}),
		"of events": reads.AttributeValues(reads.AttributeValueList{
			Source: query.Traces, Slice: window, Scope: query.EventAttribute,
			MaxRows: 10, MaxDistinct: 10,
		}),
		"of the resource": reads.AttributeValues(reads.AttributeValueList{
			Source: query.ProductEvents, Slice: window,
			Scope: query.ResourceAttribute, MaxRows: 10, MaxDistinct: 10,
		}),
	} {
		rows, err := w.Query(ctx, empty, s.SQL, s.Args...)
		if err != nil {
			t.Fatalf("%s: %v", name, read.Failure(ctx, err))
		}
		if rows.Next() {
			t.Errorf("%s of another organization", name)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d queries, each over time, by group and for the period before", statements)
}
