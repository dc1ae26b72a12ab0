package catalog

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetServiceOverview reads a service over time, and its operations.
func (s *Service) GetServiceOverview(ctx context.Context, req *svcv2.GetServiceOverviewRequest) (*svcv2.ServiceOverview, error) {
	org, r, err := s.ask(ctx, req, req.DeploymentEnvironment, req.BucketSeconds)
	if err != nil {
		return nil, err
	}
	points, err := read.All[reads.ServicePointRow](ctx, s.warehouse, org, reads.ServicePoints(r).Until(r.Window.End))
	if err != nil {
		return nil, err
	}
	if len(points) == 0 {
		if err := s.known(ctx, org, r.Name, r.Window); err != nil {
			return nil, err
		}
	}
	operations, err := read.All[reads.OperationRow](ctx, s.warehouse, org,
		reads.ServiceOperations(r, "", limits.DefaultApdex, 0, limits.ServiceOperations).Until(r.Window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.ServiceOverview{
		Object: "service_overview", Service: r.Name, StartTime: timestamppb.New(r.Window.Start), EndTime: timestamppb.New(r.Window.End),
		BucketSeconds: int32(r.Bucket / time.Second),
	}
	var last time.Time
	if n := len(points); n > 0 {
		last = points[n-1].Bucket
	}
	next := 0
	for _, at := range buckets(r.Window, r.Bucket, last) {
		p := &svcv2.ServiceOverviewPoint{Timestamp: timestamppb.New(at)}
		if next < len(points) && points[next].Bucket.Equal(at) {
			row := points[next]
			next++
			p.SpanCount, p.EstimatedSpanCount, p.ErrorRate = float64(row.SpanCount), row.EstimatedSpanCount, ratio(row.EstimatedErrors,
				row.EstimatedSpanCount)
			p.P50LatencyMs, p.P95LatencyMs, p.P99LatencyMs = milliseconds(row.Latencies, 0), milliseconds(row.Latencies,
				1), milliseconds(row.Latencies, 2)
		}
		res.Points = append(res.Points, p)
	}
	for _, row := range operations {
		res.Operations = append(res.Operations, &svcv2.ServiceOperation{
			Name: row.Name, SpanCount: float64(row.SpanCount), EstimatedSpanCount: row.EstimatedSpanCount, ErrorCount: float64(row.ErrorCount),
			ErrorRate:    ratio(row.EstimatedErrors, row.EstimatedSpanCount),
			P50LatencyMs: milliseconds(row.Latencies, 0), P95LatencyMs: milliseconds(row.Latencies, 1), P99LatencyMs: milliseconds(row.Latencies, 2),
		})
	}
	return res, nil
}

// ListServiceOperations lists the operations of a service.
func (s *Service) ListServiceOperations(
	ctx context.Context, req *svcv2.ListServiceOperationsRequest,
) (*svcv2.ListServiceOperationsResponse, error) {
	org, r, err := s.ask(ctx, req, req.DeploymentEnvironment, nil)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.OperationRow](ctx, s.warehouse, org,
		reads.ServiceOperations(r, req.GetOrderBy(), limits.DefaultApdex, page.Offset, page.Want()).Until(r.Window.End))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if err := s.known(ctx, org, r.Name, r.Window); err != nil {
			return nil, err
		}
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListServiceOperationsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	seconds := r.Window.Length().Seconds()
	for _, row := range rows {
		res.Data = append(res.Data, &svcv2.ServiceOperationDetail{
			Object: "service_operation", Name: row.Name, SpanCount: float64(row.SpanCount), EstimatedSpanCount: row.EstimatedSpanCount,
			Throughput: row.EstimatedSpanCount / seconds, ErrorCount: float64(row.ErrorCount),
			ErrorRate: ratio(row.EstimatedErrors, row.EstimatedSpanCount), AvgLatencyMs: row.AverageNano / 1e6,
			P50LatencyMs: milliseconds(row.Latencies, 0), P95LatencyMs: milliseconds(row.Latencies, 1),
			P99LatencyMs: milliseconds(row.Latencies, 2), Apdex: apdex(row.Satisfied, row.Tolerated, row.EstimatedSpanCount),
			LastSeen: timestamppb.New(row.LastSeen),
		})
	}
	return res, nil
}

// apdex is the Apdex score with four decimals.
func apdex(satisfied, tolerated, total float64) float64 {
	return math.Round(ratio(satisfied+tolerated/2, total)*1e4) / 1e4
}

// GetServiceApdex reads how satisfied the callers of a service are.
func (s *Service) GetServiceApdex(ctx context.Context, req *svcv2.GetServiceApdexRequest) (*svcv2.ServiceApdex, error) {
	org, r, err := s.ask(ctx, req, req.DeploymentEnvironment, req.BucketSeconds)
	if err != nil {
		return nil, err
	}
	threshold := limits.DefaultApdex
	if t := req.ApdexThresholdMs; t != nil {
		threshold = time.Duration(*t * float64(time.Millisecond))
	}
	rows, err := read.All[reads.ApdexRow](ctx, s.warehouse, org, reads.ServiceApdex(r, threshold).Until(r.Window.End))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if err := s.known(ctx, org, r.Name, r.Window); err != nil {
			return nil, err
		}
	}
	res := &svcv2.ServiceApdex{
		Object: "service_apdex", Service: r.Name, StartTime: timestamppb.New(r.Window.Start), EndTime: timestamppb.New(r.Window.End),
		BucketSeconds: int32(r.Bucket / time.Second), ApdexThresholdMs: float64(threshold) / float64(time.Millisecond),
	}
	var all reads.ApdexRow
	for _, row := range rows {
		all.Total, all.Satisfied, all.Tolerated = all.Total+row.Total, all.Satisfied+row.Satisfied, all.Tolerated+row.Tolerated
		res.Points = append(res.Points, &svcv2.ServiceApdexPoint{
			Timestamp: timestamppb.New(row.Bucket), TotalCount: row.Total, SatisfiedCount: row.Satisfied, ToleratingCount: row.Tolerated,
			ApdexScore: apdex(row.Satisfied, row.Tolerated, row.Total),
		})
	}
	if all.Total > 0 {
		score := apdex(all.Satisfied, all.Tolerated, all.Total)
		res.ApdexScore = &score
	}
	return res, nil
}

// ListServiceReleases lists the versions of a service.
func (s *Service) ListServiceReleases(ctx context.Context, req *svcv2.ListServiceReleasesRequest) (*svcv2.ServiceReleases, error) {
	org, r, err := s.ask(ctx, req, req.DeploymentEnvironment, req.BucketSeconds)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.ReleaseRow](ctx, s.warehouse, org, reads.ServiceReleases(r, limits.ServiceReleases).Until(r.Window.End))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if err := s.known(ctx, org, r.Name, r.Window); err != nil {
			return nil, err
		}
	}
	res := &svcv2.ServiceReleases{
		Object: "service_releases", Service: r.Name, StartTime: timestamppb.New(r.Window.Start), EndTime: timestamppb.New(r.Window.End),
		BucketSeconds: int32(r.Bucket / time.Second),
	}
	for _, row := range rows {
		p := &svcv2.ServiceRelease{
			Version: row.Version, FirstSeen: timestamppb.New(row.First), LastSeen: timestamppb.New(row.Last), SpanCount: float64(row.SpanCount),
			EstimatedSpanCount: row.EstimatedSpanCount, ErrorRate: ratio(row.EstimatedErrors, row.EstimatedSpanCount),
			P95LatencyMs: milliseconds(row.Latencies, 1),
		}
		for i, at := range row.Buckets {
			p.Points = append(p.Points, &svcv2.ServiceReleasePoint{Timestamp: timestamppb.New(time.Unix(at, 0)), Count: row.Counts[i]})
		}
		res.Data = append(res.Data, p)
	}
	return res, nil
}
