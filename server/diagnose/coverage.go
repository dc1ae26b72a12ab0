package diagnose

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
)

const (
	// A period is divided into this many equal parts, and the part in which its spans begin or end again, down to a second.
	coverageParts = 60
	// finestParts is the number of seconds that one read can tell apart. The window of a read has a few more if it begins within one.
	finestParts = limits.Buckets - 2
)

// coverage is the part of a period from its first span to its last one, in whole seconds. It is empty if the period has no spans.
type coverage struct{ Period }

// coverage finds the covered part of a period for the whole organization, in one environment if that is given. It does not look
// at one service alone: a service without earlier spans is new, but an organization without them has no history to compare with.
func (e *Engine) coverage(ctx context.Context, p Period, environment *string) (coverage, error) {
	first, last, err := e.edges(ctx, p, partOf(p), environment)
	if err != nil || first.length() <= 0 {
		return coverage{}, err
	}
	err = atonce.Run(
		func() (err error) { first, _, err = e.toSecond(ctx, p, first, true, environment); return err },
		func() (err error) { _, last, err = e.toSecond(ctx, p, last, false, environment); return err },
	)
	end := earlier(last.End, p.End)
	if next := end.Add(time.Nanosecond); next.Equal(next.Truncate(time.Second)) { // the last instant of a period before another
		end = next
	}
	c := coverage{Period{later(first.Start, p.Start), end}}
	if err != nil || !c.Start.Before(c.End) {
		return coverage{}, err
	}
	return c, nil
}

// partOf is the length of the parts of a period, in whole seconds.
func partOf(p Period) time.Duration {
	return max((p.length()/coverageParts + time.Second - 1).Truncate(time.Second), time.Second)
}

// toSecond finds the seconds of the first and of the last span within a part of a period.
func (e *Engine) toSecond(ctx context.Context, p, part Period, wantFirst bool, environment *string) (first, last Period, err error) {
	first, last = part, part
	for part.length() > time.Second {
		step := time.Second
		if part.length() > finestParts*time.Second {
			step = partOf(part)
		}
		within := Period{later(part.Start, p.Start), earlier(part.End.Add(-time.Nanosecond), p.End)}
		if part.End.Equal(p.End) { // the end of a period belongs to it
			within.End = p.End
		}
		f, l, err := e.edges(ctx, within, step, environment)
		if err != nil {
			return first, last, err
		}
		if f.length() <= 0 { // the spans are gone since the read before, but not yet their sums
			return first, last, nil
		}
		first, last, part = f, l, l
		if wantFirst {
			part = f
		}
	}
	return first, last, nil
}

// edges finds the first and the last part of a period that has spans. Both are empty without spans.
func (e *Engine) edges(ctx context.Context, p Period, length time.Duration, environment *string) (first, last Period, err error) {
	spec := &svcv2.QuerySpec{Name: "n", Source: "traces", Aggregation: "count"}
	if environment != nil {
		spec.Filter = &svcv2.QueryFilter{All: []*svcv2.QueryFilter{
			{Field: new("deployment.environment"), Operator: new("="), Value: structpb.NewStringValue(*environment)},
		}}
	}
	out, err := e.read.Query.QueryTimeseries(ctx, &svcv2.QueryTimeseriesRequest{
		StartTime: p.start(), EndTime: p.end(), Queries: []*svcv2.QuerySpec{spec}, BucketSeconds: new(int32(length / time.Second)),
	})
	if err != nil {
		return first, last, err
	}
	length = time.Duration(out.GetBucketSeconds()) * time.Second
	for _, s := range out.GetSeries() {
		for _, point := range s.GetPoints() {
			if at := point.GetTimestamp().AsTime(); point.GetValue() > 0 {
				if first.length() <= 0 || at.Before(first.Start) {
					first = Period{at, at.Add(length)}
				}
				if at.Add(length).After(last.End) {
					last = Period{at, at.Add(length)}
				}
			}
		}
	}
	return first, last, nil
}

// times returns the start and end of the covered part, or nil if it is empty.
func (c coverage) times() (start, end *timestamppb.Timestamp) {
	if c.length() <= 0 {
		return nil, nil
	}
	return c.start(), c.end()
}

// rate converts figures per second of a whole period into figures per second of its covered part. A part of fewer seconds than partOf
// counts as that long, because one span alone does not make a rate of one span a second.
func (c coverage) rate(p Period, perSecond float64) float64 {
	if c.length() <= 0 {
		return perSecond
	}
	return perSecond * float64(p.length()) / float64(min(max(c.length(), partOf(p)), p.length()))
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
