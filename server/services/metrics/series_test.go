package metrics

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// seedShop stores a counter of three routes, with one point a minute and 6, 12 and 18 requests in each, and a sum that can fall.
func seedShop(t *testing.T, w *warehouse.Warehouse, org string, start time.Time) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var rows [][]any
	for i, route := range []string{"/a", "/b", "/c"} {
		s := &series{
			hash: uint64(i + 1), service: "web", attributes: map[string]string{"http.route": route, "size": fmt.Sprint(i)},
			resource: map[string]string{"host.name": "h1"},
		}
		for minute := range 10 {
			h := happened{series: s, at: start.Add(time.Duration(minute)*time.Minute + 30*time.Second), begun: start, known: true}
			rows = append(rows, h.row(org, "http.requests", 0, float64((minute+1)*6*(i+1)), "Cumulative", true))
			rows = append(rows, h.row(org, "queue.length", 0, float64(minute%3), "Cumulative", false))
		}
	}
	insert(t, w, r, "metrics_sum", "Value AggregationTemporality IsMonotonic", rows)
	var catalog [][]any
	for name, grows := range map[string]uint8{"http.requests": 1, "queue.length": 0} {
		catalog = append(catalog, []any{
			org, start.Truncate(time.Hour), name, "sum", "web", "what it is", "{request}", grows, uint64(30), start.Add(30 * time.Second),
			start.Add(570 * time.Second),
		})
	}
	columns := strings.Fields("OrgId Hour MetricName MetricType ServiceName MetricDescription MetricUnit IsMonotonic DataPointCount " +
		"FirstSeen LastSeen")
	if err := w.InsertRows(t.Context(), "metric_catalog", columns, catalog, ""); err != nil {
		t.Fatal(err)
	}
}

// Series are picked from the groups that pass a condition: /a is the smallest of three.
func TestHaving(t *testing.T) {
	w := warehousetest.Shared(t)
	start := warehousetest.Noon()
	org := fmt.Sprintf("org_having_%d", time.Now().UnixNano())
	seedShop(t, w, org, start)
	q := query.Query{Name: "A", Spec: query.Spec{
		Source: query.Metrics, Metric: query.Metric{Name: "http.requests", Type: "sum"},
		GroupBy: []query.Field{{Scope: query.OwnAttribute, Key: "http.route"}}, SeriesLimit: 1,
	}}
	ask := func(f query.Func, conditions ...query.Having) string {
		t.Helper()
		q.Aggregation.Func, q.Having = f, conditions
		got, err := engine.New(engine.Config{Warehouse: w}).Timeseries(t.Context(), principal.OrgID(org), &query.Request{
			Window: query.Window{Start: start, End: start.Add(10 * time.Minute)}, Bucket: time.Minute, Queries: []query.Query{q},
		})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range got.Series {
			names = append(names, s.Name)
		}
		return fmt.Sprint(names, got.Truncated)
	}
	less := func(v float64) query.Having { return query.Having{Op: query.OpLess, Value: v} }
	for _, tc := range []struct{ got, want string }{
		{ask(query.Increase, less(7)), "[/a] false"},
		{ask(query.Increase, less(13)), "[/b] true"},
		{ask(query.Rate, less(0.15)), "[/a] false"},
		{ask(query.Max, query.Having{Op: query.OpGreater, Value: 170}), "[/c] false"},
		{ask(query.Avg, less(7)), "[/a] false"},
		{ask(query.Count, less(0)), "[] false"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
	}
}

func TestQueryMetrics(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	start := warehousetest.Noon()
	org := fmt.Sprintf("org_shop_%d", time.Now().UnixNano())
	seedShop(t, w, org, start)
	ctx := warehousetest.As(t.Context(), warehousetest.OrgID(t))
	mine := warehousetest.As(t.Context(), principal.OrgID(org))
	ask := func() *svcv2.QueryMetricsTimeseriesRequest {
		return &svcv2.QueryMetricsTimeseriesRequest{
			StartTime: timestamppb.New(start), EndTime: timestamppb.New(start.Add(10 * time.Minute)), Aggregation: "increase",
			BucketSeconds: new(int32(60)),
			Filters:       &svcv2.MetricFilters{MetricName: "http.requests", MetricType: "sum"},
		}
	}
	printed := func(res *svcv2.MetricTimeseries) string {
		var all []string
		for _, line := range res.GetSeries() {
			total := 0.0
			for _, p := range line.GetPoints() {
				total += p.GetValue()
			}
			name := "all"
			if line.Group != nil {
				name = line.GetGroup()
			}
			all = append(all, fmt.Sprintf("%s %.6g in %d", name, total, len(line.GetPoints())))
		}
		return strings.Join(all, ", ")
	}
	text := structpb.NewStringValue
	for name, tc := range map[string]struct {
		change func(*svcv2.QueryMetricsTimeseriesRequest)
		want   string
	}{
		"everything": {func(*svcv2.QueryMetricsTimeseriesRequest) {}, "all 360 in 10"},
		"rate":       {func(r *svcv2.QueryMetricsTimeseriesRequest) { r.Aggregation = "rate" }, "all 6 in 10"},
		"by route": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.GroupBy, r.GroupByAttributeKey = new("attribute"), new("http.route")
		}, "/c 180 in 10, /b 120 in 10, /a 60 in 10"},
		"by host": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.GroupBy, r.GroupByResourceAttributeKey = new("resource_attribute"), new("host.name")
		}, "h1 360 in 10"},
		"one series and the others": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.GroupBy, r.GroupByAttributeKey, r.SeriesLimit = new("attribute"), new("http.route"), new(int32(1))
		}, "/c 180 in 10, other 180 in 10"},
		"equals": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.Filters.Attributes = []*svcv2.AttributeFilter{{Key: "http.route", Operator: "equals", Value: text("/b")}}
		}, "all 120 in 10"},
		"not equals": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.Filters.Attributes = []*svcv2.AttributeFilter{{Key: "http.route", Operator: "equals", Value: text("/b"), Negated: new(true)}}
		}, "all 240 in 10"},
		"contains": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.Filters.Attributes = []*svcv2.AttributeFilter{{Key: "http.route", Operator: "contains", Value: text("A")}}
		}, "all 60 in 10"},
		"two conditions": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.Filters.Attributes = []*svcv2.AttributeFilter{
				{Key: "size", Operator: "gte", Value: structpb.NewNumberValue(1)},
				{Key: "http.route", Operator: "exists"},
				{Key: "size", Operator: "lt", Value: structpb.NewNumberValue(2)},
			}
		}, "all 120 in 10"},
		"of a host": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.Filters.ResourceAttributes = []*svcv2.AttributeFilter{{Key: "host.name", Operator: "equals", Value: text("h2")}}
		}, ""},
		"where": {
			func(r *svcv2.QueryMetricsTimeseriesRequest) { r.Where = new(`attr.http.route = "/a" OR attr.size > 1`) },
			"all 240 in 10",
		},
		"another service": {func(r *svcv2.QueryMetricsTimeseriesRequest) { r.Filters.ServiceName = new("db") }, ""},
	} {
		req := ask()
		tc.change(req)
		res, err := s.QueryMetricsTimeseries(mine, req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := printed(res)
		if tc.want == "" && strings.HasPrefix(got, "all 0 ") {
			got = ""
		}
		if got != tc.want {
			t.Errorf("%s: %s; want %s", name, got, tc.want)
		}
		// Another organization sends the same request.
		other, err := s.QueryMetricsTimeseries(ctx, req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := printed(other); got != "" && got != "all 0 in 10" || other.GetUnit() != "" {
			t.Errorf("%s: an organization without data got %s", name, got)
		}
	}
	res, err := s.QueryMetricsTimeseries(mine, ask())
	if err != nil || res.GetUnit() != "{request}" || res.GetObject() != "metric_timeseries" || res.GroupBy != nil ||
		res.GetBucketSeconds() != 60 {
		t.Errorf("%v, %v", res, err)
	}

	for name, tc := range map[string]struct {
		change func(*svcv2.QueryMetricsTimeseriesRequest)
		param  string
		tag    apierr.Tag
	}{
		"a sum that can fall": {
			func(r *svcv2.QueryMetricsTimeseriesRequest) { r.Filters.MetricName = "queue.length" }, "aggregation",
			apierr.MetricQueryInvalid,
		},
		"rate of a gauge": {
			func(r *svcv2.QueryMetricsTimeseriesRequest) { r.Filters.MetricType = "gauge" }, "aggregation",
			apierr.MetricQueryInvalid,
		},
		"no key": {
			func(r *svcv2.QueryMetricsTimeseriesRequest) { r.GroupBy = new("attribute") }, "group_by_attribute_key",
			apierr.MetricQueryInvalid,
		},
		"the other key": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.GroupBy, r.GroupByAttributeKey, r.GroupByResourceAttributeKey = new("attribute"), new("a"), new("b")
		}, "group_by_resource_attribute_key", apierr.MetricQueryInvalid},
		"bad where": {func(r *svcv2.QueryMetricsTimeseriesRequest) { r.Where = new("attr.x = ") }, "where", apierr.MetricQueryInvalid},
		"too many buckets": {
			func(r *svcv2.QueryMetricsTimeseriesRequest) { r.EndTime = timestamppb.New(start.Add(26 * time.Hour)) },
			"bucket_seconds", apierr.TelemetryBucketCountTooLarge,
		},
		"too long": {func(r *svcv2.QueryMetricsTimeseriesRequest) {
			r.EndTime = timestamppb.New(start.Add(32 * 24 * time.Hour))
		}, "start_time", apierr.TelemetryRangeTooLarge},
		"turned around": {func(r *svcv2.QueryMetricsTimeseriesRequest) { r.EndTime = r.GetStartTime() }, "end_time", apierr.TimeRangeInvalid},
	} {
		req := ask()
		tc.change(req)
		_, err := s.QueryMetricsTimeseries(mine, req)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tc.tag || e.Param != tc.param {
			t.Errorf("%s: %v", name, err)
		}
	}

	b, err := s.QueryMetricBreakdown(mine, &svcv2.QueryMetricBreakdownRequest{
		StartTime: timestamppb.New(start), EndTime: timestamppb.New(start.Add(10 * time.Minute)), Aggregation: "increase", Limit: new(int32(2)),
		Filters: &svcv2.MetricFilters{MetricName: "http.requests", MetricType: "sum"}, GroupBy: "attribute",
		GroupByAttributeKey: new("http.route"),
	})
	if err != nil || len(b.GetData()) < 2 || b.GetData()[0].GetName() != "/c" || b.GetData()[0].GetValue() != 180 || !b.GetTruncated() {
		t.Errorf("%v, %v", b, err)
	}

	d, err := s.GetMetric(mine, &svcv2.GetMetricRequest{
		Name: "http.requests", StartTime: timestamppb.New(start), EndTime: timestamppb.New(start.Add(time.Hour)),
	})
	if err != nil || len(d.GetTypes()) != 1 {
		t.Fatalf("%v, %v", d, err)
	}
	of := d.GetTypes()[0]
	if of.GetSeriesCount() != 3 || !of.GetIsMonotonic() || of.GetUnit() != "{request}" || len(of.GetAttributes()) != 2 ||
		of.GetAttributes()[0].GetValueCount() != 3 ||
		strings.Join(of.GetAttributes()[0].GetValues(), " ") != "/a /b /c" || of.LatestValue == nil || of.GetServices()[0] != "web" {
		t.Errorf("%v", d)
	}
	var e *apierr.Error
	if _, err = s.GetMetric(ctx, &svcv2.GetMetricRequest{
		Name: "http.requests", StartTime: timestamppb.New(start),
		EndTime: timestamppb.New(start.Add(time.Hour)),
	}); !errors.As(err, &e) || e.Tag != apierr.MetricNotFound ||
		strings.Contains(e.Message, "It has data from ") {
		t.Errorf("another organization: %v", err)
	}
	if _, err = s.GetMetric(mine, &svcv2.GetMetricRequest{
		Name: "http.requests", StartTime: timestamppb.New(start.Add(-3 * time.Hour)), EndTime: timestamppb.New(start.Add(-2 * time.Hour)),
	}); !errors.As(err, &e) || e.Tag != apierr.MetricNotFound || !strings.Contains(e.Message, "It has data from "+start.Format("2006-01-02")) {
		t.Errorf("before its first data: %v", err)
	}
}
