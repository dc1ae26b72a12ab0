package traces

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func wantError(t *testing.T, err error, tag apierr.Tag, param string) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) || e.Tag != tag || e.Param != param {
		t.Errorf("error %v, want %v on %s", err, tag, param)
	}
}

func TestGetSpan(t *testing.T) {
	w := warehousetest.Shared(t)
	const org, id, child = "org_span", "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1", "00000000000000ab"
	s := span{
		org: org, trace: id, id: child, parent: "0000000000000001", at: warehousetest.Noon(), name: "child", service: "db", status: "Error",
		duration:   3 * time.Millisecond,
		attributes: map[string]string{"k": "v"}, resource: map[string]string{"r": "1"}, events: []string{"exception"},
	}
	elsewhere := s
	elsewhere.trace, elsewhere.name = strings.Repeat("b1", 16), "of another trace"
	insert(t, w, s, s, elsewhere) // a retried request stored the span twice
	got, err := New(w, engine.New(engine.Config{Warehouse: w})).GetSpan(warehousetest.As(t.Context(), org),
		&svcv2.GetSpanRequest{TraceId: strings.ToUpper(id), SpanId: strings.ToUpper(child)})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := New(w, engine.New(engine.Config{Warehouse: w})).GetTrace(warehousetest.As(t.Context(), org),
		&svcv2.GetTraceRequest{TraceId: id})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.GetSpans()[0], got, protocmp.Transform()); diff != "" || got.GetName() != "child" ||
		len(got.GetEvents()) != 1 || len(got.GetLinks()) != 1 {
		t.Errorf("not the span of the trace (-trace +span):\n%s", diff)
	}
	for _, ask := range []*svcv2.GetSpanRequest{
		{TraceId: id, SpanId: "00000000000000ff"},
		{TraceId: strings.Repeat("c1", 16), SpanId: child},
	} {
		_, err := New(w, engine.New(engine.Config{Warehouse: w})).GetSpan(warehousetest.As(t.Context(), org), ask)
		wantError(t, err, apierr.SpanNotFound, "span_id")
	}
	_, err = New(w, engine.New(engine.Config{Warehouse: w})).GetSpan(warehousetest.As(t.Context(), "org_nobody"),
		&svcv2.GetSpanRequest{TraceId: id, SpanId: child})
	wantError(t, err, apierr.SpanNotFound, "span_id")
}

// bigTrace stores one trace of n spans of 40 services: a root whose children have children, all within a minute.
func bigTrace(t *testing.T, w *warehouse.Warehouse, org principal.OrgID, n int) (id string) {
	t.Helper()
	id = strings.Repeat("d1", 16)
	err := w.Exec(t.Context(), fmt.Sprintf(`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ParentSpanId, SpanName, SpanKind, ServiceName, DurationNano, StatusCode, HasError, SpanAttributes)
		SELECT '%s', fromUnixTimestamp64Nano(toInt64(%d + number * 500000), 'UTC'), '%s', lower(leftPad(hex(number + 1), 16, '0')),
			if(number = 0, '', lower(leftPad(hex(intDiv(number - 1, 10) + 1), 16, '0'))), concat('operation ', toString(number %% 300)), 'Internal', concat('service-', toString(number %% 40)),
			1000000 + number %% 1000, if(number %% 1000 = 7, 'Error', 'Unset'), number %% 1000 = 7,
			map('http.request.header', repeat('x', 200), 'n', toString(number), 'user.id', toString(rand() %% 10000))
		FROM numbers(%d)`, org, warehousetest.Noon().UnixNano(), id, n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestHugeTrace: 100,000 spans are returned as a skeleton in parts, each span once. The log shows the time and the size.
func TestHugeTrace(t *testing.T) {
	w := warehousetest.Shared(t)
	const org, n = "org_huge", 100_000
	id := bigTrace(t, w, org, n)
	s, ctx := New(w, engine.New(engine.Config{Warehouse: w})), warehousetest.As(t.Context(), org)
	req := &svcv2.GetTraceSkeletonRequest{TraceId: id}
	seen := map[string]bool{}
	var last time.Duration
	var first, took time.Duration
	bytes, parts := 0, 0
	for {
		started := time.Now()
		part, err := s.GetTraceSkeleton(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		took += time.Since(started)
		if parts++; parts == 1 {
			first = took
		}
		bytes += proto.Size(part)
		if part.GetSpanCount() != n || part.GetServiceCount() != 40 || part.GetErrorCount() != n/1000 ||
			part.GetHasMore() != (part.NextCursor != nil) {
			t.Fatalf("%d spans, %d services, %d failed", part.GetSpanCount(), part.GetServiceCount(), part.GetErrorCount())
		}
		for _, sp := range part.GetSpans() {
			at := time.Duration(sp.GetOffsetMs() * 1e6)
			if seen[sp.GetId()] || at < last || part.GetNames()[sp.GetName()] == "" || part.GetServices()[sp.GetService()] == "" {
				t.Fatalf("span %v comes twice, too late, or without name", sp)
			}
			seen[sp.GetId()], last = true, at
		}
		if req.Cursor = part.NextCursor; req.Cursor == nil {
			break
		}
	}
	if len(seen) != n || parts != n/defaultSkeletonSpans {
		t.Errorf("%d spans in %d parts", len(seen), parts)
	}
	t.Logf("%d spans: first part of %d after %v, all %d parts in %v, %d bytes a span on the wire (protobuf)", n,
		defaultSkeletonSpans, first, parts, took, bytes/n)

	one := func(req *svcv2.GetTraceSkeletonRequest) *svcv2.TraceSkeleton {
		t.Helper()
		req.TraceId = id
		part, err := s.GetTraceSkeleton(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	if got := one(&svcv2.GetTraceSkeletonRequest{ParentSpanId: new("0000000000000001")}); len(got.GetSpans()) != 10 ||
		got.GetHasMore() || got.GetSpans()[0].GetParentSpanId() != "0000000000000001" {
		t.Errorf("%d children", len(got.GetSpans()))
	}
	if got := one(&svcv2.GetTraceSkeletonRequest{ErrorsOnly: new(true)}); len(got.GetSpans()) != n/1000 || !got.GetSpans()[0].GetHasError() {
		t.Errorf("%d failed", len(got.GetSpans()))
	}
	from, to := warehousetest.Noon().Add(10*time.Second), warehousetest.Noon().Add(11*time.Second)
	if got := one(&svcv2.GetTraceSkeletonRequest{
		StartTime: timestamppb.New(from),
		EndTime:   timestamppb.New(to),
	}); len(got.GetSpans()) != 2001 || got.GetSpans()[0].GetOffsetMs() != 10000 {
		t.Errorf("%d spans in a second", len(got.GetSpans()))
	}
	if got := one(&svcv2.GetTraceSkeletonRequest{StartTime: timestamppb.New(warehousetest.Noon().Add(time.Hour))}); len(got.GetSpans()) != 0 ||
		got.GetSpanCount() != n {
		t.Errorf("%d spans after the end", len(got.GetSpans()))
	}
	if got := one(&svcv2.GetTraceSkeletonRequest{MaxSpans: new(int32(20000))}); len(got.GetSpans()) != 20000 {
		t.Errorf("%d spans of 20000", len(got.GetSpans()))
	}
	started := time.Now()
	sp, err := s.GetSpan(ctx, &svcv2.GetSpanRequest{TraceId: id, SpanId: fmt.Sprintf("%016x", 77777+1)})
	if err != nil || sp.GetAttributes()["n"] != "77777" {
		t.Errorf("span: %v, %v", sp, err)
	}
	t.Logf("one span of it with attributes: %v", time.Since(started))

	_, err = s.GetTraceSkeleton(warehousetest.As(t.Context(), "org_nobody"), &svcv2.GetTraceSkeletonRequest{TraceId: id})
	wantError(t, err, apierr.TraceNotFound, "trace_id")
	_, err = s.GetTraceSkeleton(ctx, &svcv2.GetTraceSkeletonRequest{TraceId: id, Cursor: new("trc_x")})
	wantError(t, err, apierr.CursorInvalid, "cursor")
	_, err = s.GetTraceSkeleton(ctx, &svcv2.GetTraceSkeletonRequest{
		TraceId: id, StartTime: timestamppb.New(to), EndTime: timestamppb.New(from),
	})
	wantError(t, err, apierr.TimeRangeInvalid, "end_time")
	_, err = s.GetTraceSkeleton(ctx, &svcv2.GetTraceSkeletonRequest{TraceId: id, MaxSpans: new(int32(0))})
	wantError(t, err, apierr.ParameterInvalid, "max_spans")
}

// slow makes every read take long in the warehouse itself.
type slow struct {
	*warehouse.Warehouse
	started chan struct{}
}

func (s slow) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	close(s.started)
	return s.Warehouse.Query(ctx, org, "SELECT count() FROM numbers(1900000000) WHERE length(hex(MD5(toString(number)))) < 3 AND "+
		"{org:String} != '' AND {trace_id:String} != ''", args...)
}

// TestCancelReachesTheWarehouse: when the caller disconnects, the engine stops its query.
func TestCancelReachesTheWarehouse(t *testing.T) {
	w := warehousetest.Shared(t)
	ctx, cancel := context.WithCancel(warehousetest.As(t.Context(), "org_cancel"))
	s := slow{w, make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := New(s, engine.New(engine.Config{Warehouse: s})).GetTrace(ctx, &svcv2.GetTraceRequest{TraceId: strings.Repeat("e1", 16)})
		ended <- err
	}()
	<-s.started
	running := func() string {
		var out strings.Builder
		if err := w.RawQuery(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1900000000)%' AND query NOT LIKE "+
			"'%system.processes%'", "TSV", &out); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	for deadline := time.Now().Add(30 * time.Second); running() == "0"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the read does not run")
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it succeeded")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on for its caller")
	}
	for deadline := time.Now().Add(30 * time.Second); running() != "0"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the engine goes on")
		}
	}
}

func TestFacets(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_facets"
	var spans []span
	want := map[string]float64{}
	for i := range 300 {
		s := span{
			org: org, trace: traceID(i), id: "01", at: warehousetest.Noon(), name: fmt.Sprintf("op %02d", i%30), service: fmt.Sprintf("s%02d", i%60),
			status: "Unset",
		}
		if i%3 == 0 {
			s.method, s.http, s.status = "GET", uint16(200+i%2), "Error"
			want["http_method GET"]++
			want[fmt.Sprintf("http_status %d", s.http)]++
			want["error_count error"]++
		}
		spans = append(spans, s)
	}
	insert(t, w, spans...)
	ask := func(org principal.OrgID, filters *svcv2.TraceFilters) (map[string]float64, map[string]int) {
		// An hour begins in the window with its spans. It is read from spans, and again from rollups.
		req := &svcv2.SearchTraceFacetsRequest{
			StartTime: timestamppb.New(warehousetest.Noon().Add(-time.Hour)), EndTime: timestamppb.New(warehousetest.Noon().Add(time.Hour)),
			Filters: filters,
		}
		res, err := New(w, engine.New(engine.Config{Warehouse: w})).SearchTraceFacets(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		rolled, err := New(w, engine.New(engine.Config{
			Warehouse: w,
			Rollups:   query.AllRollups(),
		})).SearchTraceFacets(warehousetest.As(t.Context(), org), req)
		if diff := cmp.Diff(res, rolled, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("from rollups: %v, %s", err, diff)
		}
		values, kinds := map[string]float64{}, map[string]int{}
		for _, f := range res.GetData() {
			kinds[f.GetFacetType()]++
			values[f.GetFacetType()+" "+f.GetName()] = f.GetCount()
		}
		return values, kinds
	}
	values, kinds := ask(org, nil)
	if diff := cmp.Diff(map[string]int{"service": 50, "span_name": 20, "http_method": 1, "http_status": 2, "error_count": 1},
		kinds); diff != "" {
		t.Errorf("values of each facet (-want +got):\n%s", diff)
	}
	for name, count := range want {
		if values[name] != count {
			t.Errorf("%s: %v, want %v", name, values[name], count)
		}
	}
	if values["span_name op 00"] != 10 || values["service s00"] != 5 {
		t.Errorf("%v of an operation, %v of a service", values["span_name op 00"], values["service s00"])
	}
	filtered, _ := ask(org, &svcv2.TraceFilters{ServiceName: new("s00"), HasError: new(true)})
	if diff := cmp.Diff(map[string]float64{
		"service s00": 5, "span_name op 00": 5, "http_method GET": 5, "http_status 200": 5,
		"error_count error": 5,
	}, filtered); diff != "" {
		t.Errorf("with filters (-want +got):\n%s", diff)
	}
	if nobody, _ := ask("org_nobody", nil); len(nobody) > 0 {
		t.Errorf("an organization without data sees %v", nobody)
	}
}

// One statement finds more traces than a list of ids may hold, with the same pages.
func TestSearchThroughCrowds(t *testing.T) {
	w := warehousetest.Shared(t)
	const org, n = "org_crowds", maxListed + 300
	var spans []span
	for i := range n {
		parent := ""
		if i%3 == 0 {
			parent = "00000000000000ff" // its root was lost
		}
		spans = append(spans, span{
			org: org, trace: traceID(i), id: "01", parent: parent, at: warehousetest.Noon().Add(time.Duration(i%7) * time.Millisecond), name: "n",
			service: "s",
		})
	}
	insert(t, w, spans...)
	for name, filters := range map[string]*svcv2.TraceFilters{
		"all": nil, "of a name": {SpanName: new("n")},
		"of a service": {ServiceName: new("s")},
	} {
		seen := map[string]bool{}
		found := search(t, New(w, engine.New(engine.Config{Warehouse: w})), org,
			&svcv2.SearchTracesRequest{Limit: new(int32(100)), Filters: filters})
		for i, tr := range found {
			seen[tr.GetId()] = true
			if i > 0 {
				a, b := found[i-1], tr
				if at := a.GetStartTime().AsTime().Compare(b.GetStartTime().AsTime()); at < 0 || at == 0 && a.GetId() <= b.GetId() {
					t.Fatalf("%s: %v comes before %v", name, a, b)
				}
			}
		}
		if len(found) != n || len(seen) != n {
			t.Errorf("%s: %d rows, %d traces, want %d", name, len(found), len(seen), n)
		}
	}
}
