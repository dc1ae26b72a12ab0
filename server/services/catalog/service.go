package catalog

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetService reads one service, with the figures of the list.
func (s *Service) GetService(ctx context.Context, req *svcv2.GetServiceRequest) (*svcv2.Service, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ServiceWindow)
	if err != nil {
		return nil, err
	}
	name := req.GetName()
	rows, err := read.All[reads.ServiceRow](ctx, s.warehouse, org,
		reads.ListServices(reads.ServiceList{Window: window, Name: &name, Limit: 1, Rollups: s.rollups}))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, s.notFound(ctx, org, name, window)
	}
	return toProto(rows[0], window.Length().Seconds()), nil
}

// notFound is the error for a service without spans in the window. It names similar services.
func (s *Service) notFound(ctx context.Context, org principal.OrgID, name string, w query.Window) error {
	const exact = " The name must match exactly, with its letter case."
	text := "No service with this name sent spans in the window." + exact
	switch unknown, err := engine.UnknownService(ctx, s.warehouse, org, w, s.rollups, name); {
	case err != nil: // the error is that of the service, even if similar names cannot be read
	case strings.Contains(unknown, "nearest"):
		text = unknown + exact
	case unknown != "":
		text = unknown
	default:
		text = fmt.Sprintf("Service %q sent no spans in the window, only other telemetry.", name)
	}
	return apierr.New(apierr.ServiceNotFound, text, apierr.Param("name"))
}

// known distinguishes a service without data for an answer from a service that does not exist.
func (s *Service) known(ctx context.Context, org principal.OrgID, name string, w query.Window) error {
	rows, err := read.All[reads.ServiceRow](ctx, s.warehouse, org,
		reads.ListServices(reads.ServiceList{Window: w, Name: &name, Limit: 1, Rollups: s.rollups}))
	if err == nil && len(rows) == 0 {
		return s.notFound(ctx, org, name, w)
	}
	return err
}

// question is the common part of the requests about one service.
type question interface {
	GetName() string
	GetStartTime() *timestamppb.Timestamp
	GetEndTime() *timestamppb.Timestamp
}

// ask checks a question. seconds is the length of a bucket that the caller wants. With nil, ask picks a length for the window.
func (s *Service) ask(ctx context.Context, q question, environment *string, seconds *int32) (principal.OrgID, reads.ServiceRead, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return "", reads.ServiceRead{}, err
	}
	window, err := query.NewWindow(q.GetStartTime(), q.GetEndTime(), limits.ServiceWindow)
	if err != nil {
		return "", reads.ServiceRead{}, err
	}
	bucket, err := bucketLength(window, seconds)
	if err != nil {
		return "", reads.ServiceRead{}, err
	}
	return org, reads.ServiceRead{
		Name: q.GetName(), Window: window, DeploymentEnvironment: environment, Bucket: bucket, Rollups: s.rollups,
	}, nil
}

// bucketLength is the length that the caller wants. Without one it is the step of the ladder that comes nearest to
// limits.DefaultServiceBuckets.
func bucketLength(w query.Window, seconds *int32) (time.Duration, error) {
	if seconds != nil {
		if *seconds < 60 || *seconds%60 != 0 {
			return 0, apierr.New(apierr.ParameterInvalid, fmt.Sprintf("bucket_seconds must be a multiple of 60, not %d.", *seconds),
				apierr.Param("bucket_seconds"))
		}
		return query.GivenBucket(w, *seconds)
	}
	best, distance := time.Minute, math.Inf(1)
	for _, step := range append(query.Ladder(), 7*limits.Day) { // a window can be a year
		if d := math.Abs(math.Log(float64(w.Length()) / float64(step) / limits.DefaultServiceBuckets)); d < distance {
			best, distance = step, d
		}
	}
	return best, nil
}

// buckets lists the starts of the buckets of a window: multiples of their length since 1970. The end of the window is inclusive.
// A bucket that contains only that instant is listed only if it contains last, the start of the last bucket with spans.
func buckets(w query.Window, length time.Duration, last time.Time) []time.Time {
	n := int64(length / time.Second)
	var out []time.Time
	for second := w.Start.Unix() / n * n; second <= w.End.Unix(); second += n {
		at := time.Unix(second, 0).UTC()
		if len(out) == 0 || at.Before(w.End) || at.Equal(last) {
			out = append(out, at)
		}
	}
	return out
}
