package logs

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchLogFacets counts the values that people filter records by.
func (s *Service) SearchLogFacets(ctx context.Context, req *svcv2.SearchLogFacetsRequest) (*svcv2.FacetList, error) {
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	filter, err := filterOf(req)
	if err != nil {
		return nil, err
	}
	return s.engine.Facets(ctx, window, filter, reads.LogFacets)
}

// filterOf is the filter of a request with conditions and further ones as text.
func filterOf(req interface {
	GetFilters() *svcv2.LogFilters
	GetWhere() string
},
) (query.Filter, error) {
	conditions, err := query.LogFilter(req.GetFilters())
	if err != nil {
		return conditions, err
	}
	return query.Narrowed(query.Logs, conditions, req.GetWhere(), apierr.LogQueryInvalid)
}
