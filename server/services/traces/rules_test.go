package traces

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// A filter means the same in every read: the method is compared in its stored form.
func TestMethodIsExact(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	const org = "org_methods"
	insert(
		t, w,
		span{org: org, trace: traceID(1), id: "01", at: warehousetest.Noon(), name: "GET", method: "GET", route: "/x/{id}", service: "s"},
		span{org: org, trace: traceID(2), id: "01", at: warehousetest.Noon(), name: "http.server GET", method: "GET", route: "/t", service: "s"},
		span{org: org, trace: traceID(3), id: "01", at: warehousetest.Noon(), name: "list", method: "get", route: "/t", service: "s"},
	)
	s := New(w, engine.New(engine.Config{Warehouse: w, Rollups: query.AllRollups()}))
	start, end := timestamppb.New(warehousetest.Noon().Add(-time.Hour)), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	for method, want := range map[string]int{"GET": 2, "get": 1, "Get": 0} {
		filters := &svcv2.TraceFilters{HttpMethod: &method}
		if found := search(t, s, org, &svcv2.SearchTracesRequest{Filters: filters}); len(found) != want {
			t.Errorf("%s: search finds %d, want %d", method, len(found), want)
		}
		facets, err := s.SearchTraceFacets(warehousetest.As(t.Context(), org),
			&svcv2.SearchTraceFacetsRequest{StartTime: start, EndTime: end, Filters: filters})
		if err != nil {
			t.Fatal(err)
		}
		counted := 0.0
		for _, f := range facets.GetData() {
			if f.GetFacetType() == "http_method" {
				counted += f.GetCount()
			}
		}
		breakdown, err := s.QueryTraceBreakdown(warehousetest.As(t.Context(), org), &svcv2.QueryTraceBreakdownRequest{
			StartTime: start, EndTime: end, Aggregation: "count", GroupBy: "http_method", Filters: filters,
		})
		if err != nil {
			t.Fatal(err)
		}
		grouped := 0.0
		for _, row := range breakdown.GetData() {
			if row.GetName() != method {
				t.Errorf("%s: a group of %s", method, row.GetName())
			}
			grouped += row.GetValue()
		}
		if counted != float64(want) || grouped != float64(want) {
			t.Errorf("%s: facets count %v, the breakdown %v, want %d", method, counted, grouped, want)
		}
	}
	names := map[string]string{}
	for _, tr := range search(t, s, org, &svcv2.SearchTracesRequest{}) {
		names[tr.GetId()] = tr.GetRootSpanName()
	}
	if names[traceID(1)] != "GET /x/{id}" || names[traceID(2)] != "GET /t" || names[traceID(3)] != "list" {
		t.Errorf("root spans are called %v", names)
	}
}

// Every read has the same limit for the text of a filter, and the error names the field.
func TestFiltersAreBounded(t *testing.T) {
	t.Parallel()
	long, most := strings.Repeat("x", 1025), strings.Repeat("x", 1024)
	equals := func(key, value string) []*svcv2.AttributeFilter {
		return []*svcv2.AttributeFilter{{Key: "k", Operator: "exists"}, {Key: key, Operator: "equals", Value: structpb.NewStringValue(value)}}
	}
	for param, filters := range map[string]*svcv2.TraceFilters{
		"filters.attributes[1].value":          {Attributes: equals("k", long)},
		"filters.resource_attributes[1].value": {ResourceAttributes: equals("k", long)},
		"filters.attributes[1].key":            {Attributes: equals(long, "v")},
		"filters.service_name":                 {ServiceName: &long},
		"filters.http_route":                   {HttpRoute: &long},
		"":                                     {Attributes: equals("k", most), ServiceName: &most},
	} {
		_, err := query.TraceFilter(filters)
		var e *apierr.Error
		if param == "" && err != nil || param != "" && (!errors.As(err, &e) || e.Tag != apierr.InvalidRequest || e.Param != param) {
			t.Errorf("error %v, want one of %q", err, param)
		}
	}
	_, err := query.LogFilter(&svcv2.LogFilters{BodySearch: &long})
	var e *apierr.Error
	if !errors.As(err, &e) || e.Param != "filters.body_search" {
		t.Errorf("logs: error %v", err)
	}
}
