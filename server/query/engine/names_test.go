package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestUnknownNamesAreNamed(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_unknown_names"
	window := few(t, w, org)
	if err := w.InsertRows(t.Context(), "metric_catalog", []string{
		"OrgId", "Hour", "MetricName", "MetricType", "ServiceName", "FirstSeen",
		"LastSeen",
	}, [][]any{
		{org, window.Start, "cart.size", "gauge", "stock", window.Start, window.Start},
	}, ""); err != nil {
		t.Fatal(err)
	}
	e := New(Config{Warehouse: w})
	const all = " The names in this window are cart, checkout, stock."
	for text, want := range map[string]string{
		"count|traces|service.name = checkout|":                              "",
		"count|traces|service.name = stock|":                                 "", // it sends metrics only
		"count|traces|service.name = checkout AND duration > 5000|":          "",
		"count|traces|service.name = chekout|":                               `No service "chekout" was received in this window; the nearest name is "checkout".` + all,
		"count|logs|service.name = checkouts|":                               `No service "checkouts" was received in this window; the nearest name is "checkout".` + all,
		"count|traces|service.name in (cart, shop)|":                         `No service "shop" was received in this window.` + all,
		"p95_duration|traces|span.name = OP AND has_error|":                  `No operation "OP" was received in this window; the nearest name is "op". The names in this window are op.`,
		"count|traces|deployment.environment = prod|":                        `No environment "prod" was received in this window, and no other environment either.`,
		"count|product_events|event.name = 'add to cart'|":                   `No product event "add to cart" was received in this window, and no other product event either.`,
		"count|traces|NOT service.name = checkout|":                          "",
		"count|traces|service.name != nobody AND service.name = 'checkout'|": "",
	} {
		r := &query.Request{Window: window, Queries: []query.Query{parse(t, "A", text)}}
		got, err := e.Timeseries(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got.Warnings, "; "); text != want {
			t.Errorf("%s: %q, want %q", r.Queries[0].Filter, text, want)
		}
		b, err := e.Total(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(b.Warnings, "; "); text != want {
			t.Errorf("the total of %s: %q, want %q", r.Queries[0].Filter, text, want)
		}
	}
}

func TestUnitsAndTypesOfMetrics(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_units"
	window := few(t, w, org)
	row := func(name, kind, unit string, monotonic uint8) []any {
		return []any{org, window.Start, name, kind, "cart", unit, monotonic, uint64(3), window.Start, window.Start}
	}
	if err := w.InsertRows(t.Context(), "metric_catalog", []string{
		"OrgId", "Hour", "MetricName", "MetricType", "ServiceName", "MetricUnit", "IsMonotonic", "DataPointCount", "FirstSeen", "LastSeen",
	}, [][]any{
		row("http.duration", "histogram", "ms", 0), row("bytes.sent", "sum", "By", 1), row("share", "gauge", "1", 0),
		row("twice", "gauge", "s", 0), row("twice", "sum", "s", 1),
	}, ""); err != nil {
		t.Fatal(err)
	}
	e := New(Config{Warehouse: w})
	ask := func(source query.Source, metric, aggregation string) (*query.Request, error) {
		a, err := query.ParseAggregation("", source, aggregation, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		q := query.Query{Name: "A", Spec: query.Spec{Source: source, Aggregation: a, Metric: query.Metric{Name: metric}}}
		r := &query.Request{Window: window, Queries: []query.Query{q}, Formulas: []query.Formula{{Name: "F", Expression: "A * 2"}}}
		_, err = e.Timeseries(t.Context(), org, r)
		return r, err
	}
	for _, c := range []struct {
		source                    query.Source
		metric, aggregation, unit string
	}{
		{query.Metrics, "http.duration", "p95", "ms"},
		{query.Metrics, "http.duration", "count", ""},
		{query.Metrics, "bytes.sent", "rate", "By/s"},
		{query.Metrics, "bytes.sent", "increase", "By"},
		{query.Metrics, "share", "avg", ""},
		{query.Metrics, "unheard.of", "rate", "1/s"},
		{query.Traces, "", "p95_duration", "ms"},
		{query.Traces, "", "error_rate", "ratio"},
		{query.Traces, "", "apdex", "ratio"},
		{query.Traces, "", "rate", "1/s"},
		{query.Traces, "", "count", ""},
	} {
		r, err := ask(c.source, c.metric, c.aggregation)
		if err != nil {
			t.Errorf("%s of %s: %v", c.aggregation, c.metric, err)
			continue
		}
		b, err := e.Total(t.Context(), org, r)
		if err != nil {
			t.Fatal(err)
		}
		if b.Columns[0].Unit != c.unit || b.Columns[1].Unit != "" {
			t.Errorf("%s of %q has the unit %q and its formula %q, want %q and none", c.aggregation, c.metric, b.Columns[0].Unit,
				b.Columns[1].Unit, c.unit)
		}
	}
	_, err := ask(query.Metrics, "twice", "avg")
	const want = `queries[0].metric.type: is required for "twice", which was received as gauge and sum in this window`
	if err == nil || err.Error() != want {
		t.Errorf("a metric of two types without a type: %v, want %s", err, want)
	}
}

// TestMetricOutsideOfTheWindow: the warning about a metric that is silent in the window has a window to read instead.
func TestMetricOutsideOfTheWindow(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_metric_elsewhere"
	window := few(t, w, org)
	first, last := window.Start.Add(-50*time.Hour), window.Start.Add(-20*time.Hour)
	if err := w.InsertRows(t.Context(), "metric_catalog", []string{
		"OrgId", "Hour", "MetricName", "MetricType", "ServiceName", "DataPointCount", "FirstSeen", "LastSeen",
	}, [][]any{
		{org, first.Truncate(time.Hour), "cart.size", "gauge", "stock", uint64(3), first, first},
		{org, last.Truncate(time.Hour), "cart.size", "gauge", "stock", uint64(3), last, last},
	}, ""); err != nil {
		t.Fatal(err)
	}
	clock := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	end := last.Truncate(time.Second).Add(time.Second)
	want := fmt.Sprintf(`No data points of the metric "cart.size" were received in this window. `+
		"It has data from %s to %s: give start_time=%s and end_time=%s.", clock(first), clock(last), clock(end.Add(-window.Length())), clock(end))
	r := &query.Request{Window: window, Queries: []query.Query{parse(t, "A", "avg|metrics||")}}
	r.Queries[0].Metric = query.Metric{Name: "cart.size"}
	got, err := New(Config{Warehouse: w}).Total(t.Context(), org, r)
	if err != nil || strings.Join(got.Warnings, "; ") != want {
		t.Errorf("%q, %v, want %q", got.Warnings, err, want)
	}
}
