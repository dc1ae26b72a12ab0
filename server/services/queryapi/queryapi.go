// Package queryapi answers the methods of svc.v2.QueryService: the query language over every source.
package queryapi

import (
	"context"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
)

// Service implements svcv2connect.QueryServiceHandler. It is safe for concurrent use.
type Service struct {
	engine *engine.Engine
}

// New returns the service.
func New(e *engine.Engine) *Service { return &Service{engine: e} }

// QueryTimeseries computes values over time.
func (s *Service) QueryTimeseries(ctx context.Context, req *svcv2.QueryTimeseriesRequest) (*svcv2.QueryTimeseriesResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.TimeseriesWindow)
	if err != nil {
		return nil, err
	}
	r, err := query.FromProto(req.GetQueries(), req.GetFormulas(), req.GetComparison())
	if err != nil {
		return nil, query.ExplainAll(err)
	}
	r.Window, r.Bucket = window, time.Duration(req.GetBucketSeconds())*time.Second
	result, err := s.engine.Timeseries(ctx, org, r)
	if err != nil {
		return nil, query.ExplainAll(err)
	}
	return result.Proto(), nil
}

// QueryBreakdown computes values of groups.
func (s *Service) QueryBreakdown(ctx context.Context, req *svcv2.QueryBreakdownRequest) (*svcv2.QueryBreakdownResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.BreakdownWindow)
	if err != nil {
		return nil, err
	}
	r, err := query.FromProto(req.GetQueries(), req.GetFormulas(), req.GetComparison())
	if err != nil {
		return nil, query.ExplainAll(err)
	}
	r.Window = window
	result, err := s.engine.Breakdown(ctx, org, r)
	if err != nil {
		return nil, query.ExplainAll(err)
	}
	return result.Proto(), nil
}
