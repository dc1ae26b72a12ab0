package logs

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchLogFacets counts the values that people filter records by.
func (s *Service) SearchLogFacets(ctx context.Context, req *svcv2.SearchLogFacetsRequest) (*svcv2.FacetList, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	filter, err := query.LogFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.FacetRow](ctx, s.warehouse, org, reads.LogFacets(window, filter, s.engine.Rollups()).Until(window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.FacetList{Object: "list"}
	for _, r := range reads.CutFacets(rows) {
		res.Data = append(res.Data, &svcv2.Facet{FacetType: r.Type, Name: r.Name, Count: r.Count})
	}
	return res, nil
}
