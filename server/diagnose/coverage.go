package diagnose

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

const (
	// A period is divided into this many equal parts. A part is covered if it has a span.
	coverageParts = 60
)

// coverage is the part of a period from its first spans to its last ones. It is empty if the period has no spans.
type coverage struct{ Period }

// coverage finds the covered part of a period for the whole organization, in one environment if that is given. It does not look
// at one service alone: a service without earlier spans is new, but an organization without them has no history to compare with.
func (e *Engine) coverage(ctx context.Context, p Period, environment *string) (coverage, error) {
	spec := &svcv2.QuerySpec{Name: "n", Source: "traces", Aggregation: "count"}
	if environment != nil {
		spec.Filter = &svcv2.QueryFilter{All: []*svcv2.QueryFilter{
			{Field: new("deployment.environment"), Operator: new("="), Value: structpb.NewStringValue(*environment)},
		}}
	}
	seconds := max(int32((p.length()+coverageParts*time.Second-1)/(coverageParts*time.Second)), 1)
	out, err := e.read.Query.QueryTimeseries(ctx, &svcv2.QueryTimeseriesRequest{
		StartTime: p.start(), EndTime: p.end(), Queries: []*svcv2.QuerySpec{spec}, BucketSeconds: &seconds,
	})
	if err != nil {
		return coverage{}, err
	}
	c := coverage{Period{p.End, p.Start}}
	length := time.Duration(out.GetBucketSeconds()) * time.Second
	for _, s := range out.GetSeries() {
		for _, point := range s.GetPoints() {
			if at := point.GetTimestamp().AsTime(); point.GetValue() > 0 {
				c.Start, c.End = earlier(c.Start, at), later(c.End, at.Add(length))
			}
		}
	}
	c.Start, c.End = later(c.Start, p.Start), earlier(c.End, p.End)
	if !c.Start.Before(c.End) {
		return coverage{}, nil
	}
	return c, nil
}

// times returns the start and end of the covered part, or nil if it is empty.
func (c coverage) times() (start, end *timestamppb.Timestamp) {
	if c.length() <= 0 {
		return nil, nil
	}
	return c.start(), c.end()
}

// rate converts figures per second of a whole period into figures per second of its covered part.
func (c coverage) rate(p Period, perSecond float64) float64 {
	if c.length() <= 0 {
		return perSecond
	}
	return perSecond * float64(p.length()) / float64(c.length())
}

// thin reports whether the previous period has too little data to find changes against it.
func (c coverage) thin(current coverage) bool {
	return 100*c.length() < limits.ThinBaseline*current.length()
}

func earlier(x, y time.Time) time.Time {
	if x.Before(y) {
		return x
	}
	return y
}

func later(x, y time.Time) time.Time {
	if x.After(y) {
		return x
	}
	return y
}
