package traces

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchTraceFacets counts the values that people filter spans by.
func (s *Service) SearchTraceFacets(ctx context.Context, req *svcv2.SearchTraceFacetsRequest) (*svcv2.FacetList, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	filter, err := query.TraceFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.FacetRow](ctx, s.warehouse, org, reads.TraceFacets(window, filter, s.engine.Rollups()).Until(window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.FacetList{Object: "list"}
	for _, r := range reads.CutFacets(rows) {
		res.Data = append(res.Data, &svcv2.Facet{FacetType: r.Type, Name: r.Name, Count: r.Count})
	}
	return res, nil
}
