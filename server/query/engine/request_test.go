package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// few inserts spans that a reader can count. In two hours, checkout has 4 and 8 spans, of which 1 and 2 failed. cart has 2 and 0.
func few(t *testing.T, w *warehouse.Warehouse, org principal.OrgID) query.Window {
	t.Helper()
	start := begin()
	var items []*item
	add := func(service string, hour, n, failed int) {
		for k := range n {
			items = append(items, &item{
				source: query.Traces, at: start.Add(time.Duration(hour)*time.Hour + time.Duration(k+1)*time.Minute), weight: 1, failed: k < failed,
				duration: time.Duration(k+1) * time.Millisecond,
				text:     map[string]string{"service.name": service, "span.name": "op"}, own: map[string]string{}, resource: map[string]string{},
			})
		}
	}
	add("checkout", 0, 4, 1)
	add("checkout", 1, 8, 2)
	add("cart", 0, 2, 0)
	store(t, w, org, items)
	return query.Window{Start: start, End: start.Add(2 * time.Hour)}
}

func parse(t *testing.T, name, text string) query.Query {
	t.Helper()
	q := benchQuery(t, text)
	q.Name = name
	return q
}

func same(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range got {
		ok = ok && (got[i] == want[i] || math.IsNaN(got[i]) && math.IsNaN(want[i]))
	}
	if !ok {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestFormulasAndComparison(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_formulas"
	window := few(t, w, org)
	e := New(Config{Warehouse: w})
	nan := math.NaN()
	hidden := parse(t, "E", "error_count|traces||service.name")
	hidden.Hidden = true
	r := &query.Request{
		Window: window, Bucket: time.Hour,
		Queries: []query.Query{hidden, parse(t, "C", "count|traces||service.name")},
		Formulas: []query.Formula{
			{Name: "F1", Expression: "e / C", Legend: "failed"},
			{Name: "F2", Expression: "F1 * 100"},
			{Name: "F3", Expression: "1 / (C - 8)"},
		},
	}
	got, err := e.Timeseries(t.Context(), org, r)
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, s := range got.Series {
		names += s.Name + "; "
	}
	if names != "C: checkout; C: cart; failed; F2; F3; " {
		t.Fatal(names)
	}
	same(t, "checkout", got.Series[0].Values, 4, 8)
	same(t, "cart", got.Series[1].Values, 2, 0)
	same(t, "F1", got.Series[2].Values, 1.0/6, 2.0/8)
	sixth := 1.0 / 6
	same(t, "F2", got.Series[3].Values, sixth*100, 25)
	same(t, "F3", got.Series[4].Values, -0.5, nan)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "F3 has no value in 1 buckets") {
		t.Error(got.Warnings)
	}

	// Compare the second hour with the first.
	r.Window.Start = window.Start.Add(time.Hour)
	r.Comparison = query.Comparison{Previous: true, Percent: true}
	if got, err = e.Timeseries(t.Context(), org, r); err != nil {
		t.Fatal(err)
	}
	same(t, "checkout", got.Series[0].Values, 8)
	same(t, "checkout before", got.Series[0].Previous, 4)
	same(t, "checkout change", got.Series[0].Change, 100)
	same(t, "F1 before", got.Series[2].Previous, 1.0/6)
	if len(got.Series) != 5 || got.Series[1].Name != "C: cart" {
		t.Fatalf("what stopped: %+v", got.Series)
	}
	same(t, "cart", got.Series[1].Values, 0)
	same(t, "cart before", got.Series[1].Previous, 2)
	same(t, "cart change", got.Series[1].Change, -100)

	groups, err := e.Breakdown(t.Context(), org, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups.Columns) != 4 || len(groups.Groups) != 2 || groups.Groups[0].Name != "checkout" || groups.Groups[1].Name != "cart" {
		t.Fatalf("%+v", groups)
	}
	same(t, "columns", groups.Groups[0].Values[:2], 8, 0.25)
	same(t, "columns before", groups.Groups[0].Previous[:2], 4, 0.25)
	same(t, "columns' change", groups.Groups[0].Change[:2], 100, 0)
	same(t, "what stopped", groups.Groups[1].Values[:1], 0)
	same(t, "what stopped, before", groups.Groups[1].Previous[:1], 2)
}

// A comparison shows groups that stopped: in the total, by group, and by group with a limit.
func TestComparisonShowsWhatStopped(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_stopped"
	few(t, w, org) // cart has spans in the first hour, checkout in both
	e := New(Config{Warehouse: w, Rollups: query.AllRollups()})
	hour := func(n int) query.Window {
		start := begin().Add(time.Duration(n) * time.Hour)
		return query.Window{Start: start, End: start.Add(time.Hour)}
	}
	run := func(window query.Window, queries ...query.Query) (*query.Timeseries, *query.Breakdown) {
		t.Helper()
		r := &query.Request{Window: window, Bucket: time.Hour, Queries: queries, Comparison: query.Comparison{Previous: true, Percent: true}}
		series, err := e.Timeseries(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := e.Breakdown(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		return series, groups
	}
	nan := math.NaN()
	for name, c := range map[string]struct{ value, before, change float64 }{
		"count|traces||":        {0, 8, -100},
		"max_duration|traces||": {nan, 8, nan},
	} {
		series, groups := run(hour(2), parse(t, "A", name))
		if len(series.Series) != 1 || len(groups.Groups) != 1 {
			t.Fatalf("%s: %+v %+v", name, series.Series, groups.Groups)
		}
		same(t, name, append(append(series.Series[0].Values, series.Series[0].Previous...), series.Series[0].Change...), c.value,
			c.before, c.change)
		same(t, name, append(append(groups.Groups[0].Values, groups.Groups[0].Previous...), groups.Groups[0].Change...), c.value,
			c.before, c.change)
	}
	// checkout has 1 span, after 2 failed spans of 8 before. cart had more in the compared hour.
	second := hour(1)
	second.End = second.Start.Add(time.Minute)
	q := parse(t, "A", "count|traces||service.name")
	q.Limit = 1
	one := &query.Request{Window: second, Queries: []query.Query{q}, Comparison: query.Comparison{Previous: true}}
	groups, err := e.Breakdown(t.Context(), org, one)
	if err != nil || len(groups.Groups) != 1 || groups.Groups[0].Name != "checkout" {
		t.Errorf("nothing is gone: %+v, %v", groups, err)
	}
	one.Window = query.Window{Start: hour(1).Start, End: hour(1).Start.Add(time.Hour)}
	if groups, err = e.Breakdown(t.Context(), org, one); err != nil || len(groups.Groups) != 2 || groups.Groups[0].Name != "checkout" ||
		!groups.Groups[1].Other {
		t.Fatalf("checkout has more than cart had: %+v, %v", groups, err)
	}
	same(t, "cart before, as the others", groups.Groups[1].Previous, 2)
	q.Order.Ascending = true
	one.Queries = []query.Query{parse(t, "A", "count|traces|service.name = 'cart'|service.name")}
	if groups, err = e.Breakdown(t.Context(), org, one); err != nil || len(groups.Groups) != 1 || groups.Groups[0].Name != "cart" {
		t.Fatalf("cart alone: %+v, %v", groups, err)
	}
	same(t, "cart alone", groups.Groups[0].Previous, 2)
	// If neither period has rows, a count is 0 too, and there is no group.
	series, _ := run(hour(4), parse(t, "A", "count|traces||"))
	if len(series.Series) != 1 || !series.Series[0].Unseen {
		t.Errorf("nothing at all: %+v", series.Series)
	}
	if series, groups = run(hour(4), q); len(series.Series) != 0 || len(groups.Groups) != 0 {
		t.Errorf("groups of nothing: %+v %+v", series.Series, groups.Groups)
	}
}

// If the values of groups do not add up, the other groups of a breakdown are computed from their rows.
func TestOthersOfABreakdown(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_others"
	window := few(t, w, org) // durations: checkout 1…4 and 1…8 ms, of which 1 and 2 failed; cart 1 and 2 ms
	for _, rollups := range []query.Rollups{{}, query.AllRollups()} {
		e := New(Config{Warehouse: w, Rollups: rollups})
		for aggregation, want := range map[string]float64{
			"avg_duration": 1.5, "max_duration": 2, "p50_duration": 1.5, "error_rate": 0,
			"count": 2, "count_distinct:span.name": 1,
		} {
			q := parse(t, "A", aggregation+"|traces||service.name")
			q.Limit = 1
			if aggregation == "error_rate" {
				q.Order.Ascending, want = true, 3.0/12
			}
			got, err := e.Breakdown(t.Context(), org, &query.Request{Window: window, Queries: []query.Query{q}})
			if err != nil || !got.Truncated || len(got.Groups) != 2 || !got.Groups[1].Other ||
				math.Abs(got.Groups[1].Values[0]-want) > 0.51*map[bool]float64{true: 1}[q.Aggregation.Func == query.Quantile]+1e-9 {
				t.Errorf("%s: %+v, want %g (%v)", aggregation, got, want, err)
			}
		}
	}
	if err := w.Exec(t.Context(), fmt.Sprintf(`INSERT INTO metrics_gauge (OrgId, Timestamp, MetricName, ServiceName, Value)
		SELECT '%s', fromUnixTimestamp64Nano(%d, 'UTC') + toIntervalMinute(number), 'heap', if(number < 3, 'checkout', if(number < 5, 'cart', 'search')), number FROM numbers(7)`, org, window.Start.UnixNano())); err != nil {
		t.Fatal(err)
	}
	for aggregation, want := range map[string]float64{"avg": 2, "max": 4, "sum": 10} {
		q := parse(t, "A", aggregation+"|metrics||service.name")
		q.Metric, q.Limit = query.Metric{Name: "heap", Type: "gauge"}, 1
		got, err := New(Config{Warehouse: w}).Breakdown(t.Context(), org, &query.Request{Window: window, Queries: []query.Query{q}})
		if err != nil || len(got.Groups) != 2 || got.Groups[1].Values[0] != want && aggregation != "sum" ||
			got.Groups[1].Values[0]+got.Groups[0].Values[0] != 21 && aggregation == "sum" {
			t.Errorf("metrics, %s: %+v, want %g (%v)", aggregation, got, want, err)
		}
	}
	// The same for several columns, and for the period before.
	a, b := parse(t, "A", "count|traces||service.name"), parse(t, "B", "max_duration|traces||service.name")
	a.Limit = 1
	hour := query.Window{Start: window.Start.Add(time.Hour), End: window.End}
	got, err := New(Config{Warehouse: w}).Breakdown(t.Context(), org,
		&query.Request{Window: hour, Queries: []query.Query{a, b}, Comparison: query.Comparison{Previous: true}})
	if err != nil || len(got.Groups) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	same(t, "others", append(got.Groups[1].Values, got.Groups[1].Previous...), 0, math.NaN(), 2, 2)
}

// Queries with different groupings have no groups in common, and the result warns about that.
func TestGroupedApart(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_apart"
	window := few(t, w, org)
	e := New(Config{Warehouse: w})
	for other, want := range map[string]int{
		"error_count|traces||span.name": 1, "error_count|traces||service.name": 0,
		"error_count|logs||service.name": 0,
	} {
		r := &query.Request{Window: window, Queries: []query.Query{parse(t, "A", "count|traces||service.name"), parse(t, "B", other)}}
		got, err := e.Breakdown(t.Context(), org, r)
		if err != nil || len(got.Warnings) != want || want == 1 && !strings.Contains(got.Warnings[0], "B groups by other fields than A") {
			t.Errorf("%s: %v %v", other, got, err)
		}
	}
}

// An event at the instant where a window starts does not belong to the period before as well.
func TestPeriodsDoNotOverlap(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_periods"
	start := begin()
	var items []*item
	for _, at := range []time.Duration{0, time.Minute, time.Minute + time.Second, 2 * time.Minute} {
		items = append(items, &item{
			source: query.Traces, at: start.Add(at), weight: 1,
			text: map[string]string{"service.name": "checkout", "span.name": "op"}, own: map[string]string{}, resource: map[string]string{},
		})
	}
	store(t, w, org, items)
	for _, rollups := range []query.Rollups{{}, query.AllRollups()} {
		e := New(Config{Warehouse: w, Rollups: rollups})
		for _, bucket := range []time.Duration{time.Minute, 20 * time.Second} {
			r := &query.Request{
				Window: query.Window{Start: start.Add(time.Minute), End: start.Add(2 * time.Minute)}, Bucket: bucket,
				Queries: []query.Query{parse(t, "A", "count|traces||")}, Comparison: query.Comparison{Previous: true},
			}
			series, err := e.Timeseries(t.Context(), org, r)
			if err != nil || len(series.Series) != 1 {
				t.Fatalf("%+v, %v", series, err)
			}
			now, before := 0.0, 0.0
			for i, v := range series.Series[0].Values {
				now, before = now+v, before+series.Series[0].Previous[i]
			}
			groups, err := e.Breakdown(t.Context(), org, r)
			if err != nil || len(groups.Groups) != 1 {
				t.Fatalf("%+v, %v", groups, err)
			}
			same(t, "series and groups", []float64{now, before, groups.Groups[0].Values[0], groups.Groups[0].Previous[0]}, 3, 1, 3, 1)
		}
	}
}

func TestHavingOrderAndLimit(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_having"
	window := few(t, w, org)
	e := New(Config{Warehouse: w})
	run := func(edit func(*query.Query)) (*query.Timeseries, *query.Breakdown) {
		t.Helper()
		q := parse(t, "A", "count|traces||service.name")
		edit(&q)
		r := &query.Request{Window: window, Bucket: time.Hour, Queries: []query.Query{q}}
		series, err := e.Timeseries(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := e.Breakdown(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		return series, groups
	}
	series, groups := run(func(q *query.Query) { q.Having = []query.Having{{Op: query.OpGreater, Value: 2}} })
	if len(series.Series) != 1 || len(groups.Groups) != 1 || groups.Groups[0].Values[0] != 12 {
		t.Errorf("having: %+v %+v", series.Series, groups.Groups)
	}
	series, _ = run(func(q *query.Query) { q.Having = []query.Having{{Op: query.OpLess, Value: 8}} })
	same(t, "points below 8", series.Series[0].Values, 4, math.NaN())
	same(t, "points below 8", series.Series[1].Values, 2, 0)
	series, groups = run(func(q *query.Query) { q.Order = query.Order{Ascending: true} })
	if series.Series[0].Name != "cart" || groups.Groups[0].Name != "cart" {
		t.Error("the smallest is not first")
	}
	series, groups = run(func(q *query.Query) { q.Order = query.Order{ByGroup: true} })
	if series.Series[0].Name != "checkout" || groups.Groups[0].Name != "checkout" {
		t.Error("not by group, last first")
	}
	series, groups = run(func(q *query.Query) { q.Limit, q.SeriesLimit = 1, 1 })
	if !series.Truncated || !groups.Truncated || series.Series[1].Name != OtherName || groups.Groups[1].Values[0] != 2 {
		t.Errorf("others: %+v %+v", series.Series, groups.Groups)
	}
	same(t, "others", series.Series[1].Values, 2, 0)
	series, _ = run(func(q *query.Query) {
		q.SeriesLimit, q.Having = 1, []query.Having{{Op: query.OpGreater, Value: 1}}
	})
	if !series.Truncated || len(series.Series) != 1 || series.Series[0].Other {
		t.Errorf("the sum of others, of which some fail the condition: %+v", series.Series)
	}

	// Series are picked from the groups that pass, not from the largest groups.
	for name, condition := range map[string]query.Having{
		"equal": {Op: query.OpEqual, Value: 2}, "less": {Op: query.OpLess, Value: 3},
		"none": {Op: query.OpEqual, Value: 0},
	} {
		series, _ = run(func(q *query.Query) { q.SeriesLimit, q.Having = 1, []query.Having{condition} })
		if series.Truncated || len(series.Series) != 1 || series.Series[0].Name != "cart" {
			t.Errorf("%s: picked %+v", name, series.Series)
		}
	}
	slow := parse(t, "A", "p95_duration|traces||service.name")
	slow.SeriesLimit, slow.Having = 1, []query.Having{{Op: query.OpLess, Value: 3}}
	perHour := parse(t, "A", "rate|traces||service.name")
	perHour.SeriesLimit, perHour.Having = 1, []query.Having{{Op: query.OpGreater, Value: 1.5 / 3600}, {Op: query.OpLess, Value: 2.5 / 3600}}
	for _, q := range []query.Query{slow, perHour} {
		series, err := e.Timeseries(t.Context(), org, &query.Request{Window: window, Bucket: time.Hour, Queries: []query.Query{q}})
		if err != nil || series.Truncated || len(series.Series) != 1 || series.Series[0].Name != "cart" {
			t.Errorf("%s: %+v, %v", q.Aggregation, series, err)
		}
	}
	// The condition compares the rate that is shown: cart has 2 spans in two hours.
	perHour.Having = []query.Having{{Op: query.OpLess, Value: 1.5 / 3600}}
	rates, err := e.Breakdown(t.Context(), org, &query.Request{Window: window, Queries: []query.Query{perHour}})
	if err != nil || len(rates.Groups) != 1 || rates.Groups[0].Name != "cart" {
		t.Errorf("rates: %+v, %v", rates, err)
	}
	// A group's earlier value is shown even if it fails the condition: checkout had 4.
	grown := parse(t, "A", "count|traces||service.name")
	grown.Having = []query.Having{{Op: query.OpGreater, Value: 5}}
	r := &query.Request{
		Window: query.Window{Start: window.Start.Add(time.Hour), End: window.End}, Bucket: time.Hour,
		Queries: []query.Query{grown}, Comparison: query.Comparison{Previous: true},
	}
	if groups, err = e.Breakdown(t.Context(), org, r); err != nil || len(groups.Groups) != 1 {
		t.Fatalf("%+v, %v", groups, err)
	}
	same(t, "before", groups.Groups[0].Previous, 4)
	if series, err = e.Timeseries(t.Context(), org, r); err != nil || len(series.Series) != 1 {
		t.Fatalf("%+v, %v", series, err)
	}
	same(t, "hour before", series.Series[0].Previous, 4)
}

// counting counts the statements that reach the warehouse and can hold them.
type counting struct {
	*warehouse.Warehouse
	mu      sync.Mutex
	n       int
	running int
	most    int
	hold    chan struct{}
}

func (c *counting) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	c.mu.Lock()
	c.n++
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	defer func() { c.mu.Lock(); c.running--; c.mu.Unlock() }()
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.Warehouse.Query(ctx, org, sql, args...)
}

func TestCacheIsOfClosedWindowsAndOneOrganization(t *testing.T) {
	w := &counting{Warehouse: warehousetest.Shared(t)}
	const org = "org_cache"
	window := few(t, warehousetest.Shared(t), org)
	now := window.End.Add(time.Hour)
	clock := func() time.Time { return now }
	e := New(Config{Warehouse: read.NewReader(read.Config{Warehouse: w, Now: clock}), Now: clock})
	run := func(org principal.OrgID, window query.Window) (int, float64) {
		t.Helper()
		before := w.n
		got, err := e.Timeseries(t.Context(), org, &query.Request{
			Window: window, Bucket: time.Hour,
			Queries: []query.Query{parse(t, "A", "count|traces||")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Series) == 0 {
			return w.n - before, 0
		}
		return w.n - before, got.Series[0].Values[0]
	}
	if n, v := run(org, window); n != 1 || v != 6 {
		t.Errorf("first: %d statements, %v", n, v)
	}
	if n, v := run(org, window); n != 0 || v != 6 {
		t.Errorf("again: %d statements, %v", n, v)
	}
	if n, v := run("org_cache_other", window); n != 1 || v != 0 {
		t.Errorf("another organization: %d statements, %v", n, v)
	}
	now = now.Add(read.KeptFor + time.Second)
	if n, _ := run(org, window); n != 1 {
		t.Errorf("later: %d statements", n)
	}
	now = window.End.Add(time.Second)
	if n, _ := run(org, window); n != 1 {
		t.Errorf("an open window: %d statements", n)
	}
}

func TestShareOfAnOrganization(t *testing.T) {
	w := &counting{Warehouse: warehousetest.Shared(t), hold: make(chan struct{})}
	e := New(Config{Warehouse: w, PerOrganization: 2})
	window := query.Window{Start: begin(), End: begin().Add(time.Hour)}
	run := func(ctx context.Context, org principal.OrgID) error {
		_, err := e.Timeseries(ctx, org, &query.Request{Window: window, Queries: []query.Query{parse(t, "A", "count|traces||")}})
		return err
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := run(t.Context(), "org_share"); err != nil {
				t.Error(err)
			}
		})
	}
	wait(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.running == 2 })
	// A caller that leaves while it waits gets its own error and takes no slot.
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- run(ctx, "org_share") }()
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	// Another organization does not wait.
	all.Go(func() {
		if err := run(t.Context(), "org_share_other"); err != nil {
			t.Error(err)
		}
	})
	wait(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.running == 3 })
	close(w.hold)
	all.Wait()
	if w.most > 3 {
		t.Errorf("%d statements ran at once", w.most)
	}
	if !e.slots.Idle() {
		t.Error("a share is left")
	}
}

func wait(t *testing.T, until func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !until(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

func TestUnknownAttributesAreNamed(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_unknown"
	window := few(t, w, org)
	if err := w.InsertRows(t.Context(), "attribute_keys", []string{"OrgId", "Hour", "Signal", "Scope", "Key", "ValueType", "UsageCount"},
		[][]any{
			{org, window.Start, "traces", "span", "http.request.method", "string", uint64(3)},
			{org, window.Start, "traces", "span", "cart.size", "int", uint64(3)},
			{org, window.Start, "traces", "resource", "k8s.pod.name", "string", uint64(3)},
		}, ""); err != nil {
		t.Fatal(err)
	}
	e := New(Config{Warehouse: w})
	for where, want := range map[string]string{
		"attr.cart.size > 3":         "",
		"attr.http.method = GET":     "", // the other name of the attribute that was sent
		"attr.cart.siez > 3":         `No span attribute "cart.siez" was received in this window; the nearest name is "cart.size".`,
		"attr.k8s.pod.name = a":      `No span attribute "k8s.pod.name" was received in this window, but there is a resource attribute of that name.`,
		"resource.unheard_of exists": `No resource attribute "unheard_of" was received in this window.`,
	} {
		got, err := e.Timeseries(t.Context(), org, &query.Request{
			Window:  window,
			Queries: []query.Query{parse(t, "A", "count|traces|"+where+"|")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got.Warnings, "; "); text != want {
			t.Errorf("%s: %q, want %q", where, text, want)
		}
	}
}

func TestBreakdownNeedsAFilter(t *testing.T) {
	e := New(Config{Warehouse: warehousetest.Shared(t)})
	window := query.Window{Start: begin().Add(-48 * time.Hour), End: begin()}
	for where, narrow := range map[string]bool{
		"": false, "service.name = a": true, "service.name != a": false, "has_error": true, "has_error = false": false,
		"span.kind = Server":          false,
		"service.name = a OR env = b": true, "service.name = a OR duration > 3": false, "duration > 3 AND attr.x = 1": true,
		"NOT service.name = a": false, "attr.x exists": false,
	} {
		_, err := e.Breakdown(t.Context(), "org_narrow", &query.Request{
			Window:  window,
			Queries: []query.Query{parse(t, "A", "count|traces|"+where+"|service.name")},
		})
		var e *apierr.Error
		if refused := errors.As(err, &e) && e.Tag == apierr.TelemetryBreakdownFilterRequired; refused == narrow || err != nil && !refused {
			t.Errorf("%q: %v", where, err)
		}
	}
}
