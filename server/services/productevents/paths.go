package productevents

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	before = "before"
	after  = "after"
)

// SearchProductEventPaths computes paths. It reads twice: first the nodes to show, then the links between them.
func (s *Service) SearchProductEventPaths(
	ctx context.Context, req *svcv2.SearchProductEventPathsRequest,
) (*svcv2.ProductEventPaths, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	p, err := toPaths(req)
	if err != nil {
		return nil, err
	}
	kept, err := read.All[reads.PathNodeRow](ctx, s.warehouse, org, reads.PathNodes(p).Until(p.Window.End))
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.PathLinkRow](ctx, s.warehouse, org, reads.PathLinks(p, kept).Until(p.Window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.ProductEventPaths{
		Object: "product_event_paths", StartTime: timestamppb.New(p.Window.Start), EndTime: timestamppb.New(p.Window.End),
		Direction: after, KeyBy: string(p.KeyBy),
	}
	if p.Before {
		res.Direction = before
	}
	for _, row := range rows {
		res.Data = append(res.Data, &svcv2.ProductEventPathLink{
			Hop: uint32(row.Hop), FromNode: row.From, ToNode: row.To, Count: float64(row.Count),
		})
		if row.Hop == 1 { // every actor with an anchor makes the first hop, which may lead to the end
			res.Count += float64(row.Count)
		}
	}
	return res, nil
}

func toPaths(req *svcv2.SearchProductEventPathsRequest) (p reads.Paths, err error) {
	if p.Window, err = query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ActivityWindow); err != nil {
		return p, err
	}
	if req.GetAnchor().GetKind() == reads.StepSession {
		return p, invalid("anchor.kind", "must be event or page.")
	}
	if p.Anchor, err = toStep("anchor", req.GetAnchor()); err != nil {
		return p, err
	}
	p.Before, p.Depth, p.Branches, p.Include = req.GetDirection() == before, limits.DefaultPathHops, limits.DefaultPathBranches,
		reads.IncludeAll
	if req.Depth != nil {
		p.Depth = int(req.GetDepth())
	}
	if req.Branches != nil {
		p.Branches = int(req.GetBranches())
	}
	if req.Include != nil {
		p.Include = req.GetInclude()
	}
	p.KeyBy, p.Within = reads.NewKeyBy(req.KeyBy), reads.NewWithin(req.WindowSeconds)
	p.Exclude, p.Sessions = req.GetExclude(), reads.NewSessionFilters(req.GetFilters())
	return p, nil
}
