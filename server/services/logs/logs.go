// Package logs answers the methods of svc.v2.LogsService (rest-wire.md section 9).
package logs

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
)

// Service implements svcv2connect.LogsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
}

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{warehouse: w} }

// SearchLogs finds the latest records of a window.
func (s *Service) SearchLogs(ctx context.Context, req *svcv2.SearchLogsRequest) (*svcv2.SearchLogsResponse, error) {
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
	before, err := paging.ParseLog(req.Cursor)
	if err != nil {
		return nil, err
	}
	filters, err := toFilters(req.GetFilters())
	if err != nil {
		return nil, err
	}
	rows, err := read.All[query.LogRow](ctx, s.warehouse, org, query.SearchLogs(query.LogSearch{
		Window: window, Before: before, Filters: filters, Limit: limit + 1,
	}))
	if err != nil {
		return nil, err
	}
	res := &svcv2.SearchLogsResponse{Object: "list", HasMore: len(rows) > limit}
	if res.HasMore {
		rows = rows[:limit]
		last := rows[limit-1]
		next := paging.FormatLog(paging.LogKey{
			Timestamp: last.Timestamp, Service: last.ServiceName, TraceID: last.TraceID, SpanID: last.SpanID, Record: last.Record, Copy: last.Copy,
		})
		res.NextCursor = &next
	}
	for _, row := range rows {
		p, err := toProto(row)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, p)
	}
	return res, nil
}

func toFilters(f *svcv2.LogFilters) (query.LogFilters, error) {
	attributes, err := query.NewAttributeFilters("filters.attributes", f.GetAttributes())
	if err != nil {
		return query.LogFilters{}, err
	}
	resource, err := query.NewAttributeFilters("filters.resource_attributes", f.GetResourceAttributes())
	if err != nil {
		return query.LogFilters{}, err
	}
	if f == nil {
		return query.LogFilters{}, nil
	}
	return query.LogFilters{
		ServiceName: f.ServiceName, Severity: mapText(f.Severity, severity), TraceID: mapText(f.TraceId, strings.ToLower),
		SpanID: mapText(f.SpanId, strings.ToLower), BodySearch: f.BodySearch, MinimumSeverity: f.MinimumSeverity,
		DeploymentEnvironment: f.DeploymentEnvironment, ServiceNamespace: f.ServiceNamespace, Attributes: attributes, ResourceAttributes: resource,
	}, nil
}

// severity is the form that ingest stores.
func severity(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }

func mapText(s *string, f func(string) string) *string {
	if s == nil {
		return nil
	}
	out := f(*s)
	return &out
}
