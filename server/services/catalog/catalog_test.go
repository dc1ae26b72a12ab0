package catalog

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

type spans struct {
	org                             principal.OrgID
	at                              time.Time
	service, namespace, environment string
	version, commit                 string
	entry, failed                   bool
	duration                        time.Duration
	rate                            float64
	count                           int
}

func insert(t *testing.T, w *warehouse.Warehouse, groups ...spans) {
	t.Helper()
	var rows [][]any
	for _, g := range groups {
		for range max(g.count, 1) {
			resource := map[string]string{}
			if g.commit != "" {
				resource["vcs.ref.head.revision"] = g.commit
			}
			rows = append(rows, []any{
				string(g.org), g.at, g.service, g.namespace, g.environment, uint64(g.duration), g.failed, g.entry, max(g.rate, 1), g.version, resource,
			})
		}
	}
	columns := strings.Fields("OrgId Timestamp ServiceName ServiceNamespace Environment DurationNano HasError IsEntry SampleRate " +
		"ServiceVersion ResourceAttributes")
	if err := w.InsertRows(t.Context(), "spans", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, s *Service, org principal.OrgID, req *svcv2.ListServicesRequest) []*svcv2.Service {
	t.Helper()
	req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(100*time.Second))
	var all []*svcv2.Service
	for range 100 {
		res, err := s.ListServices(warehousetest.As(t.Context(), org), req)
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

func TestListServices(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, query.Rollups{})
	const org = "org_services"
	insert(t, w,
		spans{
			org: org, at: warehousetest.Noon(), service: "web", namespace: "shop", environment: "prod", entry: true, duration: 10 * time.Millisecond,
			rate: 4, count: 10,
		},
		spans{
			org: org, at: warehousetest.Noon().Add(time.Minute), service: "web", environment: "staging", entry: true, failed: true,
			duration: 10 * time.Millisecond, count: 10,
		},
		// not entry spans: not measured
		spans{org: org, at: warehousetest.Noon(), service: "web", environment: "prod", duration: time.Hour, failed: true, count: 5},
		spans{
			org: org, at: warehousetest.Noon().Add(-24 * time.Hour), service: "web", environment: "prod", entry: true,
			duration: 5 * time.Millisecond, count: 3,
		},
		// before the baseline
		spans{
			org: org, at: warehousetest.Noon().Add(-8 * 24 * time.Hour), service: "web", environment: "prod", entry: true, duration: time.Hour,
			count: 3,
		},
		// no entry spans at all
		spans{org: org, at: warehousetest.Noon(), service: "library", duration: 2 * time.Millisecond, count: 4},
		// history only
		spans{org: org, at: warehousetest.Noon().Add(-24 * time.Hour), service: "gone", entry: true},
		spans{org: "org_services_other", at: warehousetest.Noon(), service: "web", entry: true, count: 1000},
	)
	got := list(t, s, org, &svcv2.ListServicesRequest{})
	want := []*svcv2.Service{
		{
			Object: "service", Name: "web", ServiceNamespaces: []string{"shop"}, DeploymentEnvironments: []string{"prod", "staging"},
			Throughput: 0.5, TracedThroughput: 0.2, SpanCount: 20, ErrorCount: 10, ErrorRate: 0.2, P50LatencyMs: 10, P95LatencyMs: 10,
			P99LatencyMs: 10, HasSampling: true, SamplingWeight: 2.5,
			BaselineP95LatencyMs: new(5.0), BaselineSpanCount: new(3.0),
		},
		{
			Object: "service", Name: "library", Throughput: 0.04, TracedThroughput: 0.04, SpanCount: 4, P50LatencyMs: 2, P95LatencyMs: 2,
			P99LatencyMs: 2, SamplingWeight: 1,
		},
	}
	near := cmpopts.EquateApprox(0, 1e-6)
	if diff := cmp.Diff(want, got, protocmp.Transform(), near); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	if got := list(t, s, org, &svcv2.ListServicesRequest{DeploymentEnvironment: new("staging")}); len(got) != 1 ||
		got[0].GetSpanCount() != 10 {
		t.Errorf("in staging: %v", got)
	}
	if got := list(t, s, org, &svcv2.ListServicesRequest{ServiceNamespace: new("shop")}); len(got) != 1 ||
		math.Abs(got[0].GetThroughput()-0.4) > 1e-9 {
		t.Errorf("in namespace shop: %v", got)
	}
	if got := list(t, s, "org_nobody", &svcv2.ListServicesRequest{}); len(got) != 0 {
		t.Errorf("an organization without data got %v", got)
	}
}

func TestPages(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_pages"
	var groups []spans
	for i := range 25 {
		groups = append(groups, spans{org: org, at: warehousetest.Noon(), service: fmt.Sprintf("s%02d", i), entry: true, count: 1 + i/5})
	}
	insert(t, w, groups...)
	for _, limit := range []int32{1, 7, 100} {
		got := list(t, New(w, query.Rollups{}), org, &svcv2.ListServicesRequest{Limit: &limit})
		seen := map[string]bool{}
		for i, s := range got {
			seen[s.GetName()] = true
			if i > 0 && (s.GetThroughput() > got[i-1].GetThroughput() || s.GetThroughput() == got[i-1].GetThroughput() &&
				s.GetName() < got[i-1].GetName()) {
				t.Errorf("%s comes after %s", s.GetName(), got[i-1].GetName())
			}
		}
		if len(got) != 25 || len(seen) != 25 {
			t.Errorf("limit %d: %d rows, %d services", limit, len(got), len(seen))
		}
	}
}

func TestRefuses(t *testing.T) {
	start, end := timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	for name, tc := range map[string]struct {
		req   *svcv2.ListServicesRequest
		tag   apierr.Tag
		param string
	}{
		"no end": {&svcv2.ListServicesRequest{StartTime: start}, apierr.ParameterMissing, "end_time"},
		"same":   {&svcv2.ListServicesRequest{StartTime: start, EndTime: start}, apierr.TimeRangeInvalid, "end_time"},
		"too long": {
			&svcv2.ListServicesRequest{StartTime: timestamppb.New(warehousetest.Noon().AddDate(-1, 0, -2)), EndTime: end},
			apierr.TelemetryRangeTooLarge, "start_time",
		},
		"bad cursor": {&svcv2.ListServicesRequest{StartTime: start, EndTime: end, Cursor: new("off_x!")}, apierr.ParameterInvalid, "cursor"},
	} {
		_, err := New(nil, query.Rollups{}).ListServices(warehousetest.As(t.Context(), "org_a"), tc.req)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tc.tag || e.Param != tc.param {
			t.Errorf("%s: error %v, want %v on %s", name, err, tc.tag, tc.param)
		}
	}
}
