package traces

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchTraceFacets counts the values that people filter spans by.
func (s *Service) SearchTraceFacets(ctx context.Context, req *svcv2.SearchTraceFacetsRequest) (*svcv2.FacetList, error) {
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	filter, err := filterOf(req)
	if err != nil {
		return nil, err
	}
	return s.engine.Facets(ctx, window, filter, reads.TraceFacets)
}
