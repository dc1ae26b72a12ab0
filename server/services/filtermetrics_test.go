package services_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

// metricName is the name of the metric of each type.
const metricName = "m"

func metricTypes() []string { return query.MetricTypes() }

// fillPoints inserts a point of each type for every item. A point is a series of its own, which counts one observation.
func (f *filtered) fillPoints(t testing.TB, w *warehouse.Warehouse) {
	t.Helper()
	for _, kind := range metricTypes() {
		columns := strings.Fields(`OrgId MetricName ServiceName ServiceNamespace Environment SeriesHash StartTimestamp Timestamp ScopeVersion
			ResourceAttributes Attributes`)
		switch kind {
		case "gauge":
			columns = append(columns, "Value")
		case "sum":
			columns = append(columns, "Value", "AggregationTemporality", "IsMonotonic")
		case "summary":
			columns = append(columns, "Count")
		default:
			columns = append(columns, "Count", "AggregationTemporality")
		}
		var points [][]any
		for n, i := range f.items {
			at := f.start.AsTime().Add(time.Duration(n)*170*time.Second + time.Duration(n))
			row := []any{
				string(f.org), metricName, i.service, i.namespace, i.environment, uint64(n + 1), at.Add(-time.Second), at, i.id, i.resource,
				i.attributes,
			}
			temporality := []string{"Delta", "Cumulative"}[n%2]
			switch kind {
			case "gauge":
				row = append(row, 1.0)
			case "sum":
				row = append(row, 1.0, temporality, true)
			case "summary":
				row = append(row, uint64(1))
			default:
				row = append(row, uint64(1), temporality)
			}
			points = append(points, row)
		}
		if err := w.InsertRows(f.ctx, "metrics_"+kind, columns, points, ""); err != nil {
			t.Fatal(err)
		}
	}
	var known [][]any // as ingest notes the metrics that it receives
	for _, kind := range metricTypes() {
		for _, service := range services() {
			at := f.start.AsTime()
			known = append(known, []any{string(f.org), at, metricName, kind, service, kind == "sum", uint64(20), at, f.end.AsTime()})
		}
	}
	columns := strings.Fields("OrgId Hour MetricName MetricType ServiceName IsMonotonic DataPointCount FirstSeen LastSeen")
	if err := w.InsertRows(f.ctx, "metric_catalog", columns, known, ""); err != nil {
		t.Fatal(err)
	}
}

func (i item) pointMatches(f *svcv2.MetricFilters) bool {
	return is(f.ServiceName, i.service) && is(f.DeploymentEnvironment, i.environment) && is(f.ServiceNamespace, i.namespace) &&
		allHold(i.attributes, f.GetAttributes()) && allHold(i.resource, f.GetResourceAttributes())
}

func randomMetricFilters(r *rand.Rand) *svcv2.MetricFilters {
	return &svcv2.MetricFilters{
		MetricName: metricName, ServiceName: sometimes(r, services()...), DeploymentEnvironment: sometimes(r, "prod", ""),
		ServiceNamespace: sometimes(r, "eu"), Attributes: randomAttributes(r, keys()), ResourceAttributes: randomAttributes(r, resources()),
	}
}

// ofMetric counts the observations over time and by service with the methods of metrics.
func (f *filtered) ofMetric(t testing.TB, filters *svcv2.MetricFilters, where *string) (sum float64, groups map[string]float64) {
	t.Helper()
	filters.MetricType = f.metric
	series := must[*svcv2.MetricTimeseries](t, filters)(f.metrics.QueryMetricsTimeseries(f.ctx, &svcv2.QueryMetricsTimeseriesRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", Filters: filters, Where: where,
	}))
	found := must[*svcv2.MetricBreakdown](t, filters)(f.metrics.QueryMetricBreakdown(f.ctx, &svcv2.QueryMetricBreakdownRequest{
		StartTime: f.start, EndTime: f.end, Aggregation: "count", GroupBy: "service", Filters: filters, Where: where,
	}))
	sum, groups = ofSeries(series.GetSeries()), ofGroups(found.GetData())
	if f.metric == "sum" { // an increase reads the points before the window, too
		series = must[*svcv2.MetricTimeseries](t, filters)(f.metrics.QueryMetricsTimeseries(f.ctx, &svcv2.QueryMetricsTimeseriesRequest{
			StartTime: f.start, EndTime: f.end, Aggregation: "increase", Filters: filters, Where: where,
		}))
		agree(t, "the increase", filters, sum, ofSeries(series.GetSeries()))
	}
	return sum, groups
}

// checkPointsText compares the doors of the methods of metrics that take a text.
func (f *filtered) checkPointsText(t testing.TB, where string, want []item) {
	t.Helper()
	sum, groups := f.ofMetric(t, &svcv2.MetricFilters{MetricName: metricName}, &where)
	agree(t, "the series with text of a "+f.metric, where, float64(len(want)), sum)
	agree(t, "the breakdown with text of a "+f.metric, where, counts(want), groups)
}

// checkPoints compares the doors of the filters on points of metrics and returns the number of matching items.
func (f *filtered) checkPoints(t testing.TB, filters *svcv2.MetricFilters) int {
	t.Helper()
	want := f.matching(func(i item) bool { return i.pointMatches(filters) })
	sum, groups := f.ofMetric(t, filters, nil)
	agree(t, "the series", filters, float64(len(want)), sum)
	agree(t, "the breakdown", filters, counts(want), groups)
	written := must[query.Filter](t, filters)(query.MetricFilter(filters))
	agree(t, "the table of a widget", filters, counts(want), f.ofTable(t, metricSource, written.String()))
	agree(t, "the query", filters, counts(want), f.ofQuery(t, metricSource, treeOfPoints(filters).message(), ""))
	agree(t, "SQL", filters, ids(want), f.ofSQL(t, metricSource, treeOfPoints(filters).sql(metricSource)))
	args, part := toPointQueryData(filters)
	agree(t, "query_data", args, counts(f.matching(func(i item) bool { return i.pointMatches(part) })), f.ofQueryData(t, metricSource, args))
	return len(want)
}

// toPointQueryData is toSearchTraces for query_data of a metric.
func toPointQueryData(f *svcv2.MetricFilters) (map[string]any, *svcv2.MetricFilters) {
	args, part := map[string]any{}, &svcv2.MetricFilters{}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "environments", f.DeploymentEnvironment, &part.DeploymentEnvironment)
	if part.Attributes = attributeArguments(args, f.GetAttributes()); part.GetAttributes() != nil {
		args["attribute_scope"] = "metric"
	} else if part.ResourceAttributes = attributeArguments(args, f.GetResourceAttributes()); part.GetResourceAttributes() != nil {
		args["attribute_scope"] = "resource"
	}
	return args, part
}

// checkDifference compares the sizes of two sides of a difference: the items of a filter that meet a second one, and the others.
func (f *filtered) checkDifference(t testing.TB, r *rand.Rand, source string, filter tree) {
	t.Helper()
	if !slices.Contains([]string{spanSource, logSource, sessionSource}, source) {
		return
	}
	second := randomTree(r, source, f.of(source), 1)
	where, selected := filter.text(r), second.text(r)
	in := len(matching(f.of(source), func(i item) bool { return filter.holds(i) && second.holds(i) }))
	sizes := []float64{float64(in), float64(len(matching(f.of(source), filter.holds)) - in)}
	d := must[*svcv2.Difference](t, where)(f.diagnosis.ExplainDifference(f.ctx, &svcv2.ExplainDifferenceRequest{
		Signal: &source, StartTime: f.start, EndTime: f.end, Where: &where, Selected: &selected,
	}))
	asked := where + " with " + selected
	agree(t, "the difference of "+source, asked, sizes, []float64{d.GetSelected().GetCount(), d.GetOther().GetCount()})
	agree(t, "the rows of the difference", asked, sizes, []float64{d.GetSelected().GetReceivedCount(), d.GetOther().GetReceivedCount()})
	var out struct{ Selected, Other float64 }
	f.call(t, "explain_difference", map[string]any{"signal": source, "where": where, "selected": selected}, &out)
	agree(t, "explain_difference", asked, sizes, []float64{out.Selected, out.Other})
}
