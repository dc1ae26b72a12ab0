package metrics

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestMain runs each property on only a few plays, because each play queries the engine many times. Use -rapid.checks for more.
// A play is made from a seed. A failure is not minimized: that would try a hundred smaller seeds, which are other plays.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.checks": "5", "rapid.nofailfile": "true", "rapid.shrinktime": "0s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(warehousetest.Main(m))
}

func TestListMetrics(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_metrics"
	row := func(org string, at time.Time, name, kind, service string, points uint64) []any {
		return []any{org, at.Truncate(time.Hour), name, kind, service, "what it is", "s", uint8(1), points, at, at.Add(time.Second)}
	}
	rows := [][]any{
		row(org, warehousetest.Noon(), "b.duration", "histogram", "web", 5),
		row(org, warehousetest.Noon().Add(time.Hour), "b.duration", "histogram", "web", 7),
		row(org, warehousetest.Noon(), "B.total", "sum", "web", 1),
		row(org, warehousetest.Noon(), "a.gauge", "gauge", "db", 1),
		row(org, warehousetest.Noon().Add(-72*time.Hour), "old", "gauge", "db", 1),
		row("org_metrics_other", warehousetest.Noon(), "b.duration", "histogram", "web", 1000),
	}
	columns := strings.Fields("OrgId Hour MetricName MetricType ServiceName MetricDescription MetricUnit IsMonotonic DataPointCount " +
		"FirstSeen LastSeen")
	if err := w.InsertRows(t.Context(), "metric_catalog", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
	list := func(org principal.OrgID, req *svcv2.ListMetricsRequest) (all []*svcv2.Metric) {
		t.Helper()
		if req.StartTime == nil { // the last points of the hour at noon are at its first second, because both ends count
			req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon().Add(time.Second)),
				timestamppb.New(warehousetest.Noon().Add(2*time.Hour))
		}
		for range 100 {
			res, err := s.ListMetrics(warehousetest.As(t.Context(), org), req)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, res.GetData()...)
			if req.Cursor = res.NextCursor; !res.GetHasMore() {
				return all
			}
		}
		t.Fatal("the pages do not end")
		return nil
	}
	names := func(metrics []*svcv2.Metric) string {
		var all []string
		for _, m := range metrics {
			all = append(all, fmt.Sprintf("%s %s %s", m.GetName(), m.GetType(), m.GetServiceName()))
		}
		return strings.Join(all, ", ")
	}
	const gauge, total, duration = "a.gauge gauge db", "B.total sum web", "b.duration histogram web"
	for name, tc := range map[string]struct {
		req  *svcv2.ListMetricsRequest
		want string
	}{
		"all":         {&svcv2.ListMetricsRequest{}, total + ", " + gauge + ", " + duration},
		"one by one":  {&svcv2.ListMetricsRequest{Limit: new(int32(1))}, total + ", " + gauge + ", " + duration},
		"service":     {&svcv2.ListMetricsRequest{ServiceName: new("db")}, gauge},
		"type":        {&svcv2.ListMetricsRequest{MetricType: new("sum")}, total},
		"search":      {&svcv2.ListMetricsRequest{Search: new("B.")}, total + ", " + duration},
		"search none": {&svcv2.ListMetricsRequest{Search: new("%")}, ""},
		"after the last point of an hour": {
			&svcv2.ListMetricsRequest{
				StartTime: timestamppb.New(warehousetest.Noon().Add(time.Second + 1)),
				EndTime:   timestamppb.New(warehousetest.Noon().Add(2 * time.Hour)),
			}, duration,
		},
		"before the first point of an hour": {
			&svcv2.ListMetricsRequest{
				StartTime: timestamppb.New(warehousetest.Noon().Add(-time.Minute)),
				EndTime:   timestamppb.New(warehousetest.Noon().Add(-1)),
			}, "",
		},
		"up to the first point of an hour": {
			&svcv2.ListMetricsRequest{
				StartTime: timestamppb.New(warehousetest.Noon().Add(-time.Minute)),
				EndTime:   timestamppb.New(warehousetest.Noon()),
			},
			total + ", " + gauge + ", " + duration,
		},
		"between the points of an hour and the next": {
			&svcv2.ListMetricsRequest{
				StartTime: timestamppb.New(warehousetest.Noon().Add(2 * time.Second)),
				EndTime:   timestamppb.New(warehousetest.Noon().Add(time.Hour - 1)),
			}, "",
		},
	} {
		if got := names(list(org, tc.req)); got != tc.want {
			t.Errorf("%s: %s; want %s", name, got, tc.want)
		}
		if got := names(list("org_nobody", tc.req)); got != "" {
			t.Errorf("%s: an organization without data got %s", name, got)
		}
	}
	want := &svcv2.Metric{
		Object: "metric", Name: "b.duration", Type: "histogram", ServiceName: "web", Description: "what it is", Unit: "s",
		IsMonotonic: true, DataPointCount: 12, FirstSeen: timestamppb.New(warehousetest.Noon()),
		LastSeen: timestamppb.New(warehousetest.Noon().Add(time.Hour + time.Second)),
	}
	if diff := cmp.Diff(want, list(org, &svcv2.ListMetricsRequest{MetricType: new("histogram")})[0], protocmp.Transform()); diff != "" {
		t.Errorf("metric (-want +got):\n%s", diff)
	}
}
