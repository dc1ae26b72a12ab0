package catalog

import (
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestWindowsAreExact: a count covers the spans that began in the window, both ends included, wherever minutes and hours begin. A
// rate is that count divided by the seconds of the window.
func TestWindowsAreExact(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	const org = "org_windows"
	start := warehousetest.Noon()
	r := rand.New(rand.NewPCG(8, 1))
	// windows begin and end at the first three
	all := []time.Time{start, start.Add(5 * time.Minute), start.Add(time.Hour), start.Add(8*time.Minute - time.Millisecond)}
	for range 5000 {
		all = append(all, start.Add(-10*time.Minute+time.Duration(r.Int64N(int64(150*time.Minute)))))
	}
	var groups []spans
	for i, at := range all {
		groups = append(groups, spans{
			org: org, at: at, service: "shop", environment: "prod", entry: true, rate: float64(1 + i%3), duration: time.Duration(i),
			failed: i%5 == 0,
		})
	}
	// This service has an entry span only outside of the short windows.
	groups = append(
		groups, spans{org: org, at: start.Add(7*time.Minute + 10*time.Second), service: "worker", environment: "prod", entry: true},
		spans{org: org, at: start.Add(7*time.Minute + 40*time.Second), service: "worker", environment: "only", count: 3},
	)
	insert(t, w, groups...)
	for n, length := range [][2]time.Duration{
		{0, time.Minute},
		{7*time.Minute + 30*time.Second, 8 * time.Minute},
		{7*time.Minute + 59*time.Second, 8 * time.Minute},
		{-3*time.Minute - 7*time.Second, 11*time.Minute + 1},
		{0, time.Hour},
		{-90 * time.Second, 2*time.Hour + 3*time.Minute + 3*time.Second},
	} {
		in := query.Window{Start: start.Add(length[0]), End: start.Add(length[1])}
		from, to := timestamppb.New(in.Start), timestamppb.New(in.End)
		var count, estimated float64
		for i, at := range all {
			if !at.Before(in.Start) && !at.After(in.End) {
				count, estimated = count+1, estimated+float64(1+i%3)
			}
		}
		rollups, name := query.AllRollups(), "every rollup"
		if n%2 > 0 {
			rollups, name = query.Rollups{}, "none"
		}
		s := New(w, rollups)
		check := func(what string, got, want float64) {
			t.Helper()
			if !near(got, want) {
				t.Errorf("%v with %s: %s %v, want %v", length, name, what, got, want)
			}
		}
		ctx := warehousetest.As(t.Context(), org)
		one, err := s.GetService(ctx, &svcv2.GetServiceRequest{Name: "shop", StartTime: from, EndTime: to})
		if err != nil {
			t.Fatal(err)
		}
		check("spans", one.GetSpanCount(), count)
		check("throughput", one.GetThroughput(), estimated/in.End.Sub(in.Start).Seconds())
		check("traced throughput", one.GetTracedThroughput(), count/in.End.Sub(in.Start).Seconds())
		list, err := s.ListServices(ctx, &svcv2.ListServicesRequest{StartTime: from, EndTime: to, DeploymentEnvironment: new("prod")})
		if err != nil {
			t.Fatal(err)
		}
		check("throughput of the list", list.GetData()[0].GetThroughput(), one.GetThroughput())
		overview, err := s.GetServiceOverview(ctx, &svcv2.GetServiceOverviewRequest{Name: "shop", StartTime: from, EndTime: to})
		if err != nil {
			t.Fatal(err)
		}
		var sum, operations float64
		for _, p := range overview.GetPoints() {
			sum += p.GetSpanCount()
		}
		for _, o := range overview.GetOperations() {
			operations += o.GetSpanCount()
		}
		check("spans of the points", sum, count)
		check("spans of the operations", operations, count)
		apdex, err := s.GetServiceApdex(ctx, &svcv2.GetServiceApdexRequest{
			Name: "shop", StartTime: from, EndTime: to, DeploymentEnvironment: new("prod"),
		})
		if err != nil {
			t.Fatal(err)
		}
		sum = 0
		for _, p := range apdex.GetPoints() {
			sum += p.GetTotalCount()
		}
		check("total of the Apdex", sum, estimated)
		releases, err := s.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{Name: "shop", StartTime: from, EndTime: to})
		if err != nil {
			t.Fatal(err)
		}
		check("spans of the releases", releases.GetData()[0].GetSpanCount(), count)
	}

	// A service without entry spans in the window is measured by all its spans in every read.
	s := New(w, query.AllRollups())
	from, to := timestamppb.New(start.Add(7*time.Minute+30*time.Second)), timestamppb.New(start.Add(8*time.Minute))
	overview, err := s.GetServiceOverview(warehousetest.As(t.Context(), org),
		&svcv2.GetServiceOverviewRequest{Name: "worker", StartTime: from, EndTime: to})
	if err != nil || len(overview.GetOperations()) != 1 || overview.GetOperations()[0].GetSpanCount() != 3 ||
		overview.GetPoints()[0].GetSpanCount() != 3 {
		t.Errorf("without entry spans: %v, %v", overview, err)
	}
}

func TestBucketOfTheEnd(t *testing.T) {
	t.Parallel()
	in := query.Window{Start: warehousetest.Noon(), End: warehousetest.Noon().Add(2 * time.Minute)}
	if got := buckets(in, time.Minute, warehousetest.Noon()); len(got) != 2 {
		t.Errorf("a bucket of one instant without spans: %v", got)
	}
	if got := buckets(in, time.Minute, in.End); len(got) != 3 {
		t.Errorf("spans at the end have no bucket: %v", got)
	}
}
