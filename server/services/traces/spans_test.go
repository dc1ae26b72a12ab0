package traces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func spansOf(t *testing.T, s *Service, org principal.OrgID, req *svcv2.SearchSpansRequest) []*svcv2.SpanSummary {
	t.Helper()
	req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon().Add(-48*time.Hour)), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	var all []*svcv2.SpanSummary
	for range 1000 {
		res, err := s.SearchSpans(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(res.GetData()); n > int(req.GetLimit()) || res.GetHasMore() && n < int(req.GetLimit()) {
			t.Fatalf("a page of %d, more: %v", n, res.GetHasMore())
		}
		all = append(all, res.GetData()...)
		if req.Cursor = res.NextCursor; !res.GetHasMore() {
			return all
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

// Every page in both orders continues where the one before ended, over ties of times and durations, copies and other slices.
func TestSearchSpansPages(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_span_pages"
	var spans []span
	for i := range 60 {
		parent := ""
		if i%3 > 0 {
			parent = "00000000000000ff"
		}
		one := span{
			org: org, trace: traceID(i / 3), id: fmt.Sprintf("%016x", i+1), parent: parent, name: "n", service: "s",
			at:       warehousetest.Noon().Add(time.Duration(i%4)*time.Nanosecond - time.Duration(i/20)*20*time.Hour),
			duration: time.Duration(i%5) * time.Millisecond, // some are 0
		}
		spans = append(spans, one)
		if i%7 == 0 {
			spans = append(spans, one, one) // retried requests stored it again
		}
	}
	other := spans[0]
	other.org = "org_span_pages_2"
	insert(t, w, append(spans, other)...)
	spans = slices.CompactFunc(spans, func(a, b span) bool { return a.id == b.id })
	for order, compare := range map[string]func(a, b span) int{
		"start_time": func(a, b span) int {
			return cmp.Or(b.at.Compare(a.at), strings.Compare(b.trace, a.trace), strings.Compare(b.id, a.id))
		},
		"duration": func(a, b span) int {
			return cmp.Or(cmp.Compare(b.duration, a.duration), b.at.Compare(a.at), strings.Compare(b.trace, a.trace), strings.Compare(b.id, a.id))
		},
	} {
		slices.SortFunc(spans, compare)
		var want []string
		for _, one := range spans {
			want = append(want, one.id)
		}
		for _, limit := range []int32{1, 7, 100} {
			for _, filters := range []*svcv2.TraceFilters{nil, {ServiceName: new("s")}, {SpanName: new("n")}} {
				var got []string
				for _, one := range spansOf(t, s, org, &svcv2.SearchSpansRequest{Limit: &limit, Filters: filters, OrderBy: &order}) {
					got = append(got, one.GetId())
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("by %s, %d a page, %v (-want +got):\n%s", order, limit, filters, diff)
				}
			}
		}
	}
	if got := spansOf(t, s, "org_span_pages_2", &svcv2.SearchSpansRequest{Limit: new(int32(100))}); len(got) != 1 {
		t.Errorf("another organization sees %d spans", len(got))
	}
}

func TestSearchSpansFields(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_span_fields"
	insert(t, w,
		span{
			org: org, trace: traceID(1), id: "0000000000000001", at: warehousetest.Noon(), name: "GET", method: "GET", route: "/x", service: "s",
			http:     503,
			duration: 250 * time.Millisecond, attributes: map[string]string{"k": "v", "empty": "", "long": strings.Repeat("ä", 1500)},
			resource: map[string]string{"host.name": "h"}, events: []string{"exception"},
		},
		span{
			org: org, trace: traceID(1), id: "0000000000000002", parent: "0000000000000001", at: warehousetest.Noon().Add(-time.Second),
			name: "b", service: "s",
		},
	)
	asked := []string{"attr.k", "attr.empty", "long", "resource.host.name", "event.n", "duration", "http.status_code", "root_only"}
	got := spansOf(t, s, org, &svcv2.SearchSpansRequest{Limit: new(int32(10)), Fields: asked, Where: new("duration >= 0ms")})
	if len(got) != 2 || got[0].GetName() != "GET /x" || got[0].GetHttpStatusCode() != "503" || got[0].ParentSpanId != nil ||
		got[1].GetParentSpanId() != "0000000000000001" || got[0].GetDurationMs() != 250 {
		t.Fatalf("rows %v", got)
	}
	want := map[string]string{
		"attr.k": "v", "long": strings.Repeat("ä", limits.SpanFieldValue), "resource.host.name": "h", "event.n": "0", "duration": "250000000",
		"http.status_code": "503", "root_only": "true",
	}
	if diff := gocmp.Diff(want, got[0].GetFields()); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]string{"root_only": "false", "duration": "0"}, got[1].GetFields()); diff != "" {
		t.Errorf("fields of the other span (-want +got):\n%s", diff)
	}
}

func TestSearchSpansRefuses(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_span_refusals"
	for i := range 3 {
		insert(t, w, span{org: org, trace: traceID(i), id: fmt.Sprintf("%016x", i), at: warehousetest.Noon(), name: "n", service: "s"})
	}
	ask := func(req *svcv2.SearchSpansRequest) (*svcv2.SearchSpansResponse, error) {
		if req.StartTime == nil {
			req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon().Add(-time.Hour)), timestamppb.New(warehousetest.Noon().Add(time.Hour))
		}
		return s.SearchSpans(warehousetest.As(t.Context(), org), req)
	}
	page, err := ask(&svcv2.SearchSpansRequest{Limit: new(int32(1))})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		req   *svcv2.SearchSpansRequest
		tag   apierr.Tag
		param string
	}{
		{&svcv2.SearchSpansRequest{Cursor: page.NextCursor, OrderBy: new("duration")}, apierr.CursorSortMismatch, "cursor"},
		{&svcv2.SearchSpansRequest{Cursor: new("sps_x")}, apierr.CursorInvalid, "cursor"},
		{&svcv2.SearchSpansRequest{Where: new("duration >")}, apierr.TraceQueryInvalid, "where"},
		{&svcv2.SearchSpansRequest{Fields: []string{"attr.k", "metric.k"}}, apierr.TraceQueryInvalid, "fields[1]"},
		{&svcv2.SearchSpansRequest{Fields: []string{"resource."}}, apierr.TraceQueryInvalid, "fields[0]"},
		{
			&svcv2.SearchSpansRequest{
				StartTime: timestamppb.New(warehousetest.Noon().Add(-9 * 24 * time.Hour)),
				EndTime:   timestamppb.New(warehousetest.Noon()),
			},
			apierr.TelemetryRangeTooLarge, "start_time",
		},
	} {
		_, err := ask(tt.req)
		wantError(t, err, tt.tag, tt.param)
	}
}
