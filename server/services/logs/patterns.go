package logs

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/drain"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	maxPatternWindow = limits.PatternWindow
	defaultSample    = 10_000
	maxSample        = limits.PatternSample
	defaultPatterns  = 50
	maxPatterns      = limits.Patterns
	patternBodyBytes = 1024 // characters of a body that are read
	sampleParts      = 64   // equal parts of a window that is too large to be read whole
	noBaseline       = "none"
	// wholeSample is the number of records from which a sample is drawn. If there are more, only a part of the window is read.
	wholeSample = 2_000_000
)

// SearchLogPatterns groups the records of a window by their fixed parts.
func (s *Service) SearchLogPatterns(ctx context.Context, req *svcv2.SearchLogPatternsRequest) (*svcv2.LogPatternList, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	if window.Length() > maxPatternWindow {
		return nil, apierr.New(
			apierr.TelemetryRangeTooLarge,
			"The window is longer than "+limits.Lasts(
				maxPatternWindow,
			)+", the limit for patterns. Move start_time closer to end_time.",
			apierr.Param("start_time"),
		)
	}
	filters, err := query.LogFilter(req.GetFilters())
	if err != nil {
		return nil, err
	}
	size, most := defaultSample, defaultPatterns
	if n := req.SampleSize; n != nil {
		size = min(max(int(*n), 100), maxSample)
	}
	if n := req.MaxPatterns; n != nil {
		most = min(max(int(*n), 1), maxPatterns)
	}
	res := &svcv2.LogPatternList{Object: "log_patterns", StartTime: timestamppb.New(window.Start), EndTime: timestamppb.New(window.End)}
	now, err := s.sample(ctx, org, window, filters, size)
	if err != nil {
		return nil, err
	}
	res.TotalCount, res.SampledCount = float64(now.total), int32(len(now.rows))
	var before sample
	if req.GetBaseline() != noBaseline {
		earlier := window.Before()
		if earlier.Start.Year() < 1970 {
			earlier.Start = time.Unix(0, 0).UTC()
		}
		res.BaselineStartTime, res.BaselineEndTime = timestamppb.New(earlier.Start), timestamppb.New(earlier.End)
		if len(now.rows) > 0 {
			if before, err = s.sample(ctx, org, earlier, filters, size); err != nil {
				return nil, err
			}
		}
		res.BaselineTotalCount, res.BaselineSampledCount = float64(before.total), int32(len(before.rows))
	}
	found := mine(before, now)
	res.PatternCount, res.Truncated = int32(len(found)), len(found) > most
	for _, g := range found[:min(most, len(found))] {
		res.Data = append(res.Data, g.toProto(now, before, res.BaselineStartTime != nil))
	}
	return res, nil
}

// sample holds some of the matching records of a window, and the number of all.
type sample struct {
	rows  []reads.LogSampleRow
	total uint64
}

// weight is the number of records that one record of the sample stands for.
func (s sample) weight() float64 {
	if len(s.rows) == 0 {
		return 0
	}
	return float64(s.total) / float64(len(s.rows))
}

// sample reads size records, or all if there are fewer. Each record of the window is chosen with the same probability. The share
// of the sample times weight is therefore an unbiased estimate. If there are very many records, only parts of the window are
// read.
func (s *Service) sample(ctx context.Context, org principal.OrgID, w query.Window, f query.Filter, size int) (out sample, err error) {
	counted, err := read.All[reads.LogCountRow](ctx, s.warehouse, org, reads.CountLogs(w, f).Until(w.End))
	if err != nil {
		return out, err
	}
	out.total = counted[0].Records
	if out.total == 0 {
		return out, nil
	}
	windows, within := []query.Window{w}, float64(out.total)
	if out.total > s.wholeSample {
		windows = spread(w, float64(s.wholeSample)/within)
		within = float64(s.wholeSample)
	}
	// The share is six standard deviations above the need, so enough records are drawn to cut the sample to its size.
	n := float64(size)
	out.rows, err = read.All[reads.LogSampleRow](ctx, s.warehouse, org,
		reads.LogSample(windows, f, patternBodyBytes, (n+6*math.Sqrt(n)+6)/within, size).Until(w.End))
	return out, err
}

// spread chooses a share of a window: the same share of each of its equal parts. The chosen time begins somewhere in the part. If
// it reaches the part's end, it continues at the part's start, so no instant is favoured. The beginning follows the golden ratio,
// which matches no rhythm of the records.
func spread(w query.Window, share float64) []query.Window {
	var out []query.Window
	length := float64(w.Length()+1) / sampleParts
	for part := range sampleParts {
		at := func(fraction float64) time.Time {
			return w.Start.Add(time.Duration((float64(part) + fraction) * length))
		}
		_, begin := math.Modf(float64(part+1) * math.Phi)
		end := begin + share
		out = append(out, query.Window{Start: at(begin), End: at(min(end, 1)).Add(-1)})
		if end > 1 {
			out = append(out, query.Window{Start: at(0), End: at(end - 1).Add(-1)})
		}
	}
	return out
}

// group holds the records of one pattern.
type group struct {
	pattern              *drain.Pattern
	count, baseline      int
	text                 string
	severities, services map[string]int32
	first, last          time.Time
}

// mine finds the patterns of both samples together, so that they can be compared. It returns the patterns of the second sample,
// most frequent first.
func mine(before, now sample) []*group {
	var tree drain.Tree
	groups := map[*drain.Pattern]*group{}
	of := func(body string) *group {
		p := tree.Add(body)
		g := groups[p]
		if g == nil {
			g = &group{pattern: p, severities: map[string]int32{}, services: map[string]int32{}}
			groups[p] = g
		}
		return g
	}
	for _, r := range slices.Backward(before.rows) {
		of(r.Body).baseline++
	}
	for _, r := range now.rows { // the rows are ordered latest first
		g := of(r.Body)
		if g.count++; g.count == 1 {
			g.text, g.last = r.Body, r.Timestamp
		}
		g.first = r.Timestamp
		g.severities[r.SeverityText]++
		g.services[r.ServiceName]++
	}
	var out []*group
	for _, g := range groups {
		if g.count > 0 {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(x, y *group) int {
		return cmp.Or(cmp.Compare(y.count, x.count), cmp.Compare(x.pattern.Number, y.pattern.Number))
	})
	return out
}

func (g *group) toProto(now, before sample, compared bool) *svcv2.LogPattern {
	return &svcv2.LogPattern{
		Object: "log_pattern", Template: g.pattern.Template(), Sample: g.text, Count: int32(g.count),
		EstimatedCount: float64(g.count) * now.weight(), Share: float64(g.count) / float64(len(now.rows)), SeverityCounts: g.severities,
		ServiceCounts: g.services, FirstSeen: timestamppb.New(g.first), LastSeen: timestamppb.New(g.last),
		BaselineCount: int32(g.baseline), BaselineEstimatedCount: float64(g.baseline) * before.weight(),
		IsNew: compared && g.baseline == 0,
	}
}
