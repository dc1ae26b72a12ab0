package logs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func wantError(t *testing.T, what string, err error, tag apierr.Tag, param string) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) || e.Tag != tag || e.Param != param {
		t.Errorf("%s: error %v, want %v on %s", what, err, tag, param)
	}
}

// Every id in the result of a search finds its own record and no other.
func TestGetLog(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_get"
	var records []record
	for i := range 20 {
		records = append(records, record{
			org: org, at: warehousetest.Noon().Add(time.Duration(i/4) * time.Nanosecond), service: fmt.Sprintf("s%d", i%3),
			body:       fmt.Sprintf("b%d", i),
			attributes: map[string]string{"i": fmt.Sprint(i)},
		})
	}
	insert(t, w, records...)
	res, err := s.SearchLogs(warehousetest.As(t.Context(), org), &svcv2.SearchLogsRequest{
		StartTime: timestamppb.New(warehousetest.Noon()), EndTime: timestamppb.New(warehousetest.Noon().Add(time.Hour)), Limit: new(int32(100)),
	})
	if err != nil || len(res.GetData()) != len(records) {
		t.Fatalf("%d records, %v", len(res.GetData()), err)
	}
	for _, want := range res.GetData() {
		got, err := s.GetLog(warehousetest.As(t.Context(), org), &svcv2.GetLogRequest{Id: want.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("another record (-want +got):\n%s", diff)
		}
	}
	id := res.GetData()[0].GetId()
	_, err = s.GetLog(warehousetest.As(t.Context(), "org_nobody"), &svcv2.GetLogRequest{Id: id})
	wantError(t, "another organization", err, apierr.LogNotFound, "id")
	other, err := formatID(warehousetest.Noon(), strings.Repeat("ab", 16))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.GetLog(warehousetest.As(t.Context(), org), &svcv2.GetLogRequest{Id: other})
	wantError(t, "no such record", err, apierr.LogNotFound, "id")
	text := func(payload string) string { return publicid.EncodeText(publicid.Log, payload) }
	for _, bad := range []string{
		"", "log_", "log_1", "key_" + id[4:], id + "0", text("x"), text(`["~s44we8.000000042"]`),
		text(`["s44we8.000000042","~ABEiM0RVZneImaq7zN3u_w"]`),
		text(`["~s44we8.42","~ABEiM0RVZneImaq7zN3u_w"]`), text(`["~s44we8.000000042","~ABEi"]`),
		text(`["~-1.000000042","~ABEiM0RVZneImaq7zN3u_w"]`),
		text(`["~zzzzzzzzzzz.000000042","~ABEiM0RVZneImaq7zN3u_w"]`), text(`["~s44we8.000000042","~ABEiM0RVZneImaq7zN3u_w","~"]`),
	} {
		_, err := s.GetLog(warehousetest.As(t.Context(), org), &svcv2.GetLogRequest{Id: bad})
		wantError(t, bad, err, apierr.LogIdInvalid, "id")
	}
}

func fill(t *testing.T, w *warehouse.Warehouse, org principal.OrgID, rows int, timestamp, service, body string) {
	t.Helper()
	err := w.Exec(t.Context(), fmt.Sprintf(`INSERT INTO logs (OrgId, Timestamp, TraceId, SpanId, SeverityText, SeverityNumber, ServiceName, Body, ResourceAttributes, LogAttributes)
		SELECT '%s', %s, '', '', ['INFO', 'WARN', 'ERROR'][number %% 3 + 1], [9, 13, 17][number %% 3 + 1], %s, %s,
			map('host.name', concat('host-', toString(number %% 10)), 'k8s.pod.name', 'pod'), map('n', toString(number)) FROM numbers(%d)`, org, timestamp, service, body, rows))
	if err != nil {
		t.Fatal(err)
	}
}

// TestSearchReadsLittle: a page of large records costs a read of the page, whatever the window holds. The records have varied
// times or all the same time.
func TestSearchReadsLittle(t *testing.T) {
	w := warehousetest.Shared(t)
	const rows = 80_000
	at := fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d) + %%s, 'UTC')", warehousetest.Noon().UnixNano())
	const large = "concat(toString(number), ' ', repeat(hex(MD5(toString(number))), 32))"
	for name, times := range map[string]string{
		"varied": "toInt64(number) * 17000000", "second": "intDiv(toInt64(number), 20000) * 1000000000",
		"one": "0",
	} {
		org := principal.OrgID("org_little_" + name)
		fill(t, w, org, rows, fmt.Sprintf(at, times), "concat('s', toString(number % 8))", large)
		limits := warehouse.Limits{Memory: 150 << 20}
		s := New(limited{w, limits}, engine.New(engine.Config{Warehouse: limited{w, limits}}))
		for _, tc := range []struct {
			limit   int32
			filters *svcv2.LogFilters
		}{{1, nil}, {100, nil}, {20, &svcv2.LogFilters{ServiceName: new("s3")}}, {20, &svcv2.LogFilters{Severity: new("error")}}} {
			req := &svcv2.SearchLogsRequest{
				StartTime: timestamppb.New(warehousetest.Noon().Add(-time.Hour)), EndTime: timestamppb.New(warehousetest.Noon().Add(12 * time.Hour)),
				Limit:   &tc.limit,
				Filters: tc.filters,
			}
			seen := map[string]bool{}
			for range 3 {
				res, err := s.SearchLogs(warehousetest.As(t.Context(), org), req)
				if err != nil {
					t.Errorf("%s, limit %d: %v", name, tc.limit, err)
					break
				}
				for _, l := range res.GetData() {
					if seen[l.GetId()] {
						t.Errorf("%s, limit %d: a record comes twice", name, tc.limit)
					}
					seen[l.GetId()] = true
				}
				req.Cursor = res.NextCursor
			}
			if len(seen) != 3*int(tc.limit) {
				t.Errorf("%s, limit %d: %d records on three pages", name, tc.limit, len(seen))
			}
		}
	}
}

// limited reads with limits.
type limited struct {
	*warehouse.Warehouse
	limits warehouse.Limits
}

func (l limited) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	return l.QueryLimited(ctx, org, l.limits, sql, args...)
}

func TestPatterns(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	s.exactRecords = 1000 // larger windows are sampled
	const org = "org_patterns"
	start := warehousetest.Noon()
	origin := func(d time.Duration, step string) string {
		return fmt.Sprintf("fromUnixTimestamp64Nano(toInt64(%d) + toInt64(number) * %s, 'UTC')", start.Add(d).UnixNano(), step)
	}
	// There is one hour before, and one hour in which one more pattern appears.
	for _, d := range []time.Duration{-time.Hour, 0} {
		fill(t, w, org, 30000, origin(d, "120000000"), "concat('s', toString(number % 2))",
			"concat('request ', toString(number), ' served in ', toString(number % 90), 'ms')")
		fill(t, w, org, 6000, origin(d, "600000000"), "'cart'", "concat('cart ', toString(generateUUIDv4()), ' saved')")
	}
	fill(t, w, org, 900, origin(0, "4000000000"), "'pay'",
		"concat('upstream 10.0.0.', toString(number % 250), ' refused payment of ', toString(number))")
	ask := func(org principal.OrgID, req *svcv2.SearchLogPatternsRequest) *svcv2.LogPatternList {
		t.Helper()
		req.StartTime, req.EndTime = timestamppb.New(start), timestamppb.New(start.Add(time.Hour-1))
		res, err := s.SearchLogPatterns(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, size := range []int32{100, 2000, 50000} {
		res := ask(org, &svcv2.SearchLogPatternsRequest{SampleSize: &size})
		got := map[string]*svcv2.LogPattern{}
		for _, p := range res.GetData() {
			got[p.GetTemplate()] = p
		}
		for template, want := range map[string]struct {
			count float64
			isNew bool
		}{
			"request <num> served in <num>": {30000, false}, "cart <uuid> saved": {6000, false},
			"upstream <ip> refused payment of <num>": {900, true},
		} {
			p := got[template]
			if p == nil && size == 100 {
				continue // such a small sample can miss a rare pattern
			}
			if p == nil || size > 100 && p.GetIsNew() != want.isNew || p.GetEstimatedCount() < want.count*0.5 && size > 100 ||
				size == 50000 && p.GetEstimatedCount() != want.count {
				t.Errorf("sample of %d: %q is %v, want %v", size, template, p, want)
			}
		}
		if res.GetTotalCount() != 36900 || res.GetBaselineTotalCount() != 35998 || len(got) > 3 || res.GetSampledCount() > size*5/4 ||
			size < 50000 && res.GetSampledCount() < size*8/10 {
			t.Errorf("sample of %d: %d read of %v, before %d of %v, %d patterns", size, res.GetSampledCount(), res.GetTotalCount(),
				res.GetBaselineSampledCount(), res.GetBaselineTotalCount(), len(got))
		}
	}
	only := ask(org, &svcv2.SearchLogPatternsRequest{
		Filters: &svcv2.LogFilters{ServiceName: new("pay")}, Baseline: new("none"), MaxPatterns: new(int32(1)),
	})
	if len(only.GetData()) != 1 || only.GetTruncated() || only.GetData()[0].GetServiceCounts()["pay"] != 900 ||
		only.GetData()[0].GetSeverityCounts()["ERROR"] != 300 ||
		only.GetData()[0].GetIsNew() || !only.GetData()[0].GetFirstSeen().AsTime().Equal(start) || only.GetBaselineStartTime() != nil {
		t.Errorf("of one service: %v", only)
	}
	if nobody := ask("org_nobody", &svcv2.SearchLogPatternsRequest{}); len(nobody.GetData()) > 0 || nobody.GetTotalCount() != 0 {
		t.Errorf("an organization without data sees %v", nobody)
	}
	_, err := s.SearchLogPatterns(warehousetest.As(t.Context(), org), &svcv2.SearchLogPatternsRequest{
		StartTime: timestamppb.New(start), EndTime: timestamppb.New(start.Add(25 * time.Hour)),
	})
	wantError(t, "25 hours", err, apierr.TelemetryRangeTooLarge, "start_time")
}

func TestLogFacets(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_facets"
	insert(t, w,
		record{org: org, at: warehousetest.Noon(), service: "a", severity: "INFO", body: "x"},
		record{org: org, at: warehousetest.Noon(), service: "a", severity: "ERROR", body: "y"},
		record{org: org, at: warehousetest.Noon(), service: "b", severity: "INFO", body: "z"},
		record{org: "org_facets_other", at: warehousetest.Noon(), service: "c", severity: "INFO"},
	)
	req := &svcv2.SearchLogFacetsRequest{
		StartTime: timestamppb.New(warehousetest.Noon()),
		EndTime:   timestamppb.New(warehousetest.Noon().Add(time.Hour)),
	}
	res, err := New(w, engine.New(engine.Config{Warehouse: w})).SearchLogFacets(warehousetest.As(t.Context(), org), req)
	if err != nil {
		t.Fatal(err)
	}
	rolled, err := New(w, engine.New(engine.Config{Warehouse: w, Rollups: query.AllRollups()})).SearchLogFacets(warehousetest.As(t.Context(),
		org), req)
	if diff := cmp.Diff(res, rolled, protocmp.Transform()); err != nil || diff != "" {
		t.Errorf("from rollups: %v, %s", err, diff)
	}
	got := map[string]float64{}
	for _, f := range res.GetData() {
		got[f.GetFacetType()+" "+f.GetName()] = f.GetCount()
	}
	if diff := cmp.Diff(map[string]float64{"service a": 2, "service b": 1, "severity INFO": 2, "severity ERROR": 1}, got); diff != "" {
		t.Errorf("facets (-want +got):\n%s", diff)
	}
}
