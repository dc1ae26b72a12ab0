package traces

import (
	"context"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchTraces finds the latest traces of a window.
func (s *Service) SearchTraces(ctx context.Context, req *svcv2.SearchTracesRequest) (*svcv2.SearchTracesResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxSearchWindow)
	if err != nil {
		return nil, err
	}
	limit, err := paging.Limit(req.Limit)
	if err != nil {
		return nil, err
	}
	before, err := paging.ParseTrace(req.Cursor)
	if err != nil {
		return nil, err
	}
	filters, possible, err := toFilters(req.GetFilters())
	if err != nil {
		return nil, err
	}
	var rows []reads.TraceRow
	if possible {
		if rows, err = (&finder{s, org, before, filters}).latest(ctx, window, limit+1); err != nil {
			return nil, err
		}
	}
	rows, next := paging.CutAfter(limit, rows, func(last reads.TraceRow) string {
		return paging.FormatTrace(paging.TraceKey{Start: last.Start, TraceID: last.TraceID})
	})
	res := &svcv2.SearchTracesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toSummary(row))
	}
	return res, nil
}

// toFilters returns nil when every trace matches; possible is false when none can.
func toFilters(f *svcv2.TraceFilters) (filters *reads.TraceFilters, possible bool, err error) {
	if f == nil {
		return nil, true, nil
	}
	if err := query.BoundedFilters("filters", f); err != nil {
		return nil, false, err
	}
	attributes, err := query.NewAttributeFilters("filters.attributes", f.GetAttributes())
	if err != nil {
		return nil, false, err
	}
	resource, err := query.NewAttributeFilters("filters.resource_attributes", f.GetResourceAttributes())
	if err != nil {
		return nil, false, err
	}
	filters = &reads.TraceFilters{
		ServiceName: f.ServiceName, SpanName: f.SpanName, StatusCode: f.StatusCode, HTTPMethod: f.HttpMethod, HTTPRoute: f.HttpRoute,
		DeploymentEnvironment: f.DeploymentEnvironment, ServiceNamespace: f.ServiceNamespace, HasError: f.HasError,
		MinDuration: duration(f.MinDurationMs), MaxDuration: duration(f.MaxDurationMs), RootOnly: f.GetSpanScope() == "root",
		Attributes: attributes, ResourceAttributes: resource, SpanNameContains: f.SpanNameContains,
	}
	if f.TraceId != nil {
		id := strings.ToLower(f.GetTraceId())
		filters.TraceID = &id
	}
	if f.HttpStatusCode == nil && reflect.ValueOf(*filters).IsZero() {
		return nil, true, nil // an empty object filters nothing
	}
	if f.HttpStatusCode != nil {
		status, err := strconv.ParseUint(f.GetHttpStatusCode(), 10, 16)
		if err != nil || status == 0 || f.GetHttpStatusCode()[0] == '0' {
			return nil, false, nil //nolint:nilerr // not an error: no span has such a status
		}
		code := uint16(status)
		filters.HTTPStatusCode = &code
	}
	return filters, true, nil
}

func duration(ms *float64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := time.Duration(math.MaxInt64)
	if *ms < float64(math.MaxInt64)/1e6 {
		d = time.Duration(math.Round(*ms * 1e6))
	}
	return &d
}
