package metrics

import (
	"context"
	"math"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetMetric describes the metric with a name.
func (s *Service) GetMetric(ctx context.Context, req *svcv2.GetMetricRequest) (*svcv2.MetricDetail, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.MetricWindow)
	if err != nil {
		return nil, err
	}
	kinds, err := read.All[reads.MetricKindRow](ctx, s.warehouse, org, reads.MetricKinds(window, req.GetName(), req.ServiceName))
	if err != nil {
		return nil, err
	}
	if len(kinds) == 0 {
		text := "No data points of this metric were received in the window."
		if at := s.engine.MetricElsewhere(ctx, org, window, req.GetName(), req.ServiceName); at != "" {
			text += " " + at
		}
		return nil, apierr.New(apierr.MetricNotFound, text, apierr.Param("name"))
	}
	res := &svcv2.MetricDetail{Object: "metric_detail", Name: req.GetName()}
	for _, k := range kinds {
		latest := reads.MetricLatest{Name: req.GetName(), Type: k.MetricType, ServiceName: req.ServiceName, Last: k.Last}
		if latest.Last.After(window.End) {
			latest.Last = window.End
		}
		of, err := s.ofType(ctx, org, k, latest)
		if err != nil {
			return nil, err
		}
		res.Types = append(res.Types, of)
	}
	return res, nil
}

func (s *Service) ofType(
	ctx context.Context, org principal.OrgID, k reads.MetricKindRow, latest reads.MetricLatest,
) (*svcv2.MetricOfType, error) {
	state, err := read.One[reads.MetricStateRow](ctx, s.warehouse, org, reads.MetricState(latest))
	if err != nil {
		return nil, err
	}
	attributes, err := read.All[reads.MetricAttributeRow](ctx, s.warehouse, org, reads.MetricAttributes(latest))
	if err != nil {
		return nil, err
	}
	of := &svcv2.MetricOfType{
		Type: k.MetricType, Description: k.Description, Unit: k.Unit, IsMonotonic: k.MetricType == "sum" && len(k.Falling) == 0,
		DataPointCount: float64(k.DataPoints), FirstSeen: timestamppb.New(k.First), LastSeen: timestamppb.New(k.Last), Services: k.Services,
		SeriesCount: float64(state.Series),
	}
	if state.Series > 0 && !math.IsNaN(state.Value) && !math.IsInf(state.Value, 0) {
		of.LatestValue = &state.Value
	}
	for _, a := range attributes {
		p := &svcv2.MetricAttribute{Key: a.Key, ValueCount: float64(a.Values), Values: a.Some}
		if a.Resource {
			of.ResourceAttributes = append(of.ResourceAttributes, p)
		} else {
			of.Attributes = append(of.Attributes, p)
		}
	}
	return of, nil
}
