package traces

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// QueryTraceDistribution counts spans by time and duration.
func (s *Service) QueryTraceDistribution(ctx context.Context, req *svcv2.QueryTraceDistributionRequest) (*svcv2.TraceDistribution, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	w, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	filter, err := filterOf(req)
	if err != nil {
		return nil, err
	}
	bucket, err := distributionBucket(w, req.GetBucketSeconds())
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.DistributionRow](ctx, s.warehouse, org, reads.Distribution(w, filter, bucket).Until(w.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.TraceDistribution{
		Object: "trace_distribution", StartTime: timestamppb.New(w.Start), EndTime: timestamppb.New(w.End),
		BucketSeconds: int32(bucket.Seconds()),
	}
	fillDistribution(res, rows)
	return res, nil
}

// distributionBucket is the length of a column.
func distributionBucket(w query.Window, seconds int32) (time.Duration, error) {
	if seconds == 0 {
		return query.AutoBucket(w, limits.DefaultDistributionColumns), nil
	}
	bucket := time.Duration(seconds) * time.Second
	columns, err := query.Buckets(w, bucket)
	if err != nil {
		return 0, err
	}
	if len(columns) > limits.DistributionColumns {
		return 0, apierr.New(
			apierr.TelemetryBucketCountTooLarge,
			fmt.Sprintf(
				"The window has %d columns of %d seconds; %d are allowed. Give a larger bucket_seconds, or a shorter window.",
				len(columns), seconds, limits.DistributionColumns,
			),
			apierr.Param("bucket_seconds"),
		)
	}
	return bucket, nil
}

// fillDistribution writes the rows, which are in the order of the statement, with the bounds from the shortest to the longest.
func fillDistribution(res *svcv2.TraceDistribution, rows []reads.DistributionRow) {
	if len(rows) == 0 {
		return
	}
	bounds := reads.DurationBounds()
	at := func(r reads.DistributionRow) int { i, _ := slices.BinarySearch(bounds, r.Shortest); return i }
	first, last := len(bounds), 0
	for _, r := range rows {
		first, last = min(first, at(r)), max(last, at(r))
	}
	for _, n := range bounds[first : last+1] {
		res.BoundsMs = append(res.BoundsMs, float64(n)/1e6)
	}
	if last+1 < len(bounds) {
		res.BoundsMs = append(res.BoundsMs, float64(bounds[last+1])/1e6)
	} else {
		res.BoundsMs = append(res.BoundsMs, math.MaxUint64/1e6) // the longest row has no other end
	}
	var column *svcv2.TraceDistributionColumn
	for _, r := range rows {
		if column == nil || !column.GetTimestamp().AsTime().Equal(r.Bucket) {
			column = &svcv2.TraceDistributionColumn{Timestamp: timestamppb.New(r.Bucket)}
			res.Data = append(res.Data, column)
		}
		column.Cells = append(column.Cells, &svcv2.TraceDistributionCell{
			Row: int32(at(r) - first), Count: r.Estimated,
			ErrorCount: r.EstimatedErrors,
		})
		res.Count, res.ErrorCount, res.ReceivedCount = res.GetCount()+r.Estimated, res.GetErrorCount()+r.EstimatedErrors,
			res.GetReceivedCount()+float64(r.Received)
	}
}
