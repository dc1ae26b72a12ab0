package catalog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestReleaseStates tells what became of versions, and which version was before each.
func TestReleaseStates(t *testing.T) {
	start := warehousetest.Noon()
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	v := func(version string, from, to int) reads.ReleaseListRow {
		return reads.ReleaseListRow{Service: "shop", Environment: "prod", Version: version, First: at(from), Last: at(to)}
	}
	elsewhere := v("9", 0, 600)
	elsewhere.Environment = "staging"
	for name, c := range map[string]struct {
		rows     []reads.ReleaseListRow
		states   []string
		previous []string
	}{
		"one":                  {[]reads.ReleaseListRow{v("1", 0, 300)}, []string{"current"}, []string{""}},
		"one, which ended":     {[]reads.ReleaseListRow{v("1", 0, 300), elsewhere}, []string{"current", "current"}, []string{"", ""}},
		"replaced":             {[]reads.ReleaseListRow{v("1", 0, 100), v("2", 99, 300)}, []string{"replaced", "current"}, []string{"", "1"}},
		"replaced after a gap": {[]reads.ReleaseListRow{v("1", 0, 100), v("2", 200, 300)}, []string{"replaced", "current"}, []string{"", "1"}},
		"rolled back": {
			[]reads.ReleaseListRow{v("1", 0, 300), v("2", 100, 130)},
			[]string{"current", "rolled_back"},
			[]string{"", "1"},
		},
		"both serve": {[]reads.ReleaseListRow{v("1", 0, 300), v("2", 100, 299)}, []string{"current", "current"}, []string{"", "1"}},
		"after a rollback": {
			[]reads.ReleaseListRow{v("1", 0, 210), v("2", 100, 130), v("3", 209, 300)},
			[]string{"replaced", "rolled_back", "current"},
			[]string{"", "1", "1"},
		},
		"a chain": {
			[]reads.ReleaseListRow{v("1", 0, 50), v("2", 49, 120), v("3", 119, 300)},
			[]string{"replaced", "replaced", "current"},
			[]string{"", "1", "2"},
		},
		"an old one that lasts": {
			[]reads.ReleaseListRow{v("1", 0, 300), v("2", 50, 120), v("3", 119, 300)},
			[]string{"current", "replaced", "current"},
			[]string{"", "1", "2"},
		},
	} {
		for i := range c.rows {
			if got := releaseState(c.rows, i); got != c.states[i] {
				t.Errorf("%s: %s is %s, want %s", name, c.rows[i].Version, got, c.states[i])
			}
			before := ""
			if o := previousRelease(c.rows, i); o != nil {
				before = o.Version
			}
			if before != c.previous[i] {
				t.Errorf("%s: before %s was %q, want %q", name, c.rows[i].Version, before, c.previous[i])
			}
		}
	}
}

// TestSearchReleases reads versions with their weighted figures.
func TestSearchReleases(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, query.Rollups{})
	const org = "org_releases"
	insert(t, w,
		spans{
			org: org, at: warehousetest.Noon(), service: "shop", environment: "prod", version: "1", entry: true,
			duration: 10 * time.Millisecond, rate: 4, count: 10,
		},
		// not entry spans
		spans{
			org: org, at: warehousetest.Noon(), service: "shop", environment: "prod", version: "1", duration: time.Hour, failed: true,
			count: 3,
		},
		spans{
			org: org, at: warehousetest.Noon().Add(30 * time.Minute), service: "shop", environment: "prod", version: "2", entry: true, failed: true,
			duration: 20 * time.Millisecond, count: 5, commit: "0123abcd",
		},
		spans{
			org: org, at: warehousetest.Noon().Add(30 * time.Minute), service: "shop", environment: "prod", version: "2", entry: true,
			duration: 20 * time.Millisecond, count: 5,
		},
		// no entry spans at all
		spans{org: org, at: warehousetest.Noon(), service: "library", version: "7", duration: 2 * time.Millisecond, count: 4},
		spans{org: org, at: warehousetest.Noon(), service: "plain", entry: true, count: 4}, // no version
		spans{org: "org_releases_other", at: warehousetest.Noon(), service: "shop", environment: "prod", version: "3", entry: true, count: 1000},
	)
	ask := func(org principal.OrgID, change func(*svcv2.SearchReleasesRequest)) *svcv2.ReleaseList {
		t.Helper()
		req := &svcv2.SearchReleasesRequest{
			StartTime: timestamppb.New(warehousetest.Noon()),
			EndTime:   timestamppb.New(warehousetest.Noon().Add(time.Hour)),
		}
		if change != nil {
			change(req)
		}
		res, err := s.SearchReleases(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	minute := func(n int) *timestamppb.Timestamp {
		return timestamppb.New(warehousetest.Noon().Add(time.Duration(n) * time.Minute))
	}
	want := []*svcv2.Release{
		{
			ServiceName: "shop", DeploymentEnvironment: "prod", Version: "2", CommitSha: new("0123abcd"), FirstSeen: minute(30),
			LastSeen: minute(30),
			State:    "current", EstimatedSpanCount: 10, ErrorRate: 0.5, P95LatencyMs: 20,
			Previous: &svcv2.ReleaseBefore{Version: "1", EstimatedSpanCount: 40, P95LatencyMs: 10},
		},
		{
			ServiceName: "library", Version: "7", FirstSeen: minute(0), LastSeen: minute(0), State: "current", EstimatedSpanCount: 4,
			P95LatencyMs: 2,
		},
		{
			ServiceName: "shop", DeploymentEnvironment: "prod", Version: "1", FirstSeen: minute(0), LastSeen: minute(0), State: "replaced",
			EstimatedSpanCount: 40, P95LatencyMs: 10,
		},
	}
	got := ask(org, nil)
	if diff := cmp.Diff(want, got.GetData(), protocmp.Transform(), cmpopts.EquateApprox(0, 1e-6)); diff != "" || got.GetHasMore() {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
	if got := ask(org, func(r *svcv2.SearchReleasesRequest) { r.ServiceName = new("library") }).GetData(); len(got) != 1 {
		t.Errorf("of a service: %v", got)
	}
	if got := ask(org, func(r *svcv2.SearchReleasesRequest) { r.DeploymentEnvironment = new("prod") }).GetData(); len(got) != 2 {
		t.Errorf("of an environment: %v", got)
	}
	if got := ask(org, func(r *svcv2.SearchReleasesRequest) { r.Limit = new(int32(1)) }); len(got.GetData()) != 1 || !got.GetHasMore() {
		t.Errorf("the first: %v", got)
	}
	if got := ask("org_nobody", nil).GetData(); len(got) != 0 {
		t.Errorf("an organization without data got %v", got)
	}
}
