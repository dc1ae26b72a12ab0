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
	defaultSample    = limits.DefaultPatternSample
	maxSample        = limits.PatternSample
	defaultPatterns  = limits.DefaultPatterns
	maxPatterns      = limits.Patterns
	patternBodyBytes = limits.PatternBody
	sampleParts      = 64 // equal parts of a window that is too large to be read whole
	noBaseline       = "none"
	// exactRecords is the number of records that are counted without a sample, and exactShapes the number of shapes among them.
	exactRecords = limits.PatternRecords
	exactShapes  = limits.PatternShapes
	// certainty is the number of standard deviations in a margin of error at a confidence of 95 %.
	certainty = 1.96
	// wholeSample is the number of records from which a sample is drawn. If there are more, only a part of the window is read.
	wholeSample = limits.PatternsRead
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
			"The window is longer than "+limits.Lasts(maxPatternWindow)+", the limit for patterns. Move start_time closer to end_time.",
			apierr.Param("start_time"),
		)
	}
	filters, err := filterOf(req)
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
	res.TotalCount, res.SampledCount = float64(now.total), int32(now.read())
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
		res.BaselineTotalCount, res.BaselineSampledCount = float64(before.total), int32(before.read())
	}
	found := mine(before, now)
	if res.BaselineStartTime != nil && len(found) > 0 {
		covered, thin, err := s.coverage(ctx, org, window, res.BaselineStartTime.AsTime())
		if err != nil {
			return nil, err
		}
		res.BaselineIsThin = thin
		if covered.Parts > 0 {
			res.BaselineDataStartTime, res.BaselineDataEndTime = timestamppb.New(covered.First), timestamppb.New(covered.Last)
		}
	}
	compared := res.BaselineStartTime != nil && !res.BaselineIsThin
	slices.SortFunc(found, func(x, y *group) int { return x.compare(y, compared) })
	res.PatternCount, res.Truncated = int32(len(found)), len(found) > most
	for _, g := range found[:min(most, len(found))] {
		res.Data = append(res.Data, g.toProto(now, before, compared))
	}
	return res, nil
}

// coverage is that of the time before the window. It is thin if the organization has too few records there to call anything in the window
// new. It looks at all records, because a filter may rightly match none of the time before.
func (s *Service) coverage(
	ctx context.Context, org principal.OrgID, w query.Window, earlier time.Time,
) (of reads.LogCoverageRow, thin bool, err error) {
	now, err := read.All[reads.LogCoverageRow](ctx, s.warehouse, org, reads.LogCoverage(w).Until(w.End))
	if err != nil {
		return of, false, err
	}
	w = query.Window{Start: earlier, End: w.Start.Add(-1)}
	before, err := read.All[reads.LogCoverageRow](ctx, s.warehouse, org, reads.LogCoverage(w).Until(w.End))
	if err != nil {
		return of, false, err
	}
	return before[0], 100*before[0].Parts < limits.ThinBaseline*now[0].Parts, nil
}

// sample holds the matching records of a window, or some of them, and the number of all.
type sample struct {
	rows  []reads.LogShapeRow
	total uint64
}

// read is the number of records that were read.
func (s sample) read() (n uint64) {
	for _, r := range s.rows {
		n += r.Records
	}
	return n
}

// weight is the number of records that one record of the sample stands for.
func (s sample) weight() float64 { return float64(s.total) / float64(max(s.read(), 1)) }

// deviation is the margin of error of the estimate for a pattern that has a number of records in the sample.
func (s sample) deviation(n uint64) float64 {
	if s.read() >= s.total {
		return 0
	}
	// One more record makes the margin wide enough for a pattern with very few records in the sample.
	return certainty * s.weight() * math.Sqrt(float64(n+1)*(1-float64(n)/float64(s.read())))
}

// sample counts all records by their shape, unless there are too many. Then it reads about size of them. Each record of the
// window is chosen with the same probability. The share of the sample times weight is therefore an unbiased estimate. If there
// are very many records, only parts of the window are read.
func (s *Service) sample(ctx context.Context, org principal.OrgID, w query.Window, f query.Filter, size int) (out sample, err error) {
	counted, err := read.All[reads.LogCountRow](ctx, s.warehouse, org, reads.CountLogs(w, f).Until(w.End))
	if err != nil {
		return out, err
	}
	out.total = counted[0].Records
	if out.total == 0 {
		return out, nil
	}
	if out.total <= s.exactRecords {
		out.rows, err = read.All[reads.LogShapeRow](ctx, s.warehouse, org,
			reads.LogShapes(w, f, patternBodyBytes, exactShapes).Until(w.End))
		if err != nil || len(out.rows) < exactShapes {
			out.total = out.read() // records may have arrived after they were counted
			return out, err
		}
	}
	windows, within := []query.Window{w}, float64(out.total)
	if out.total > s.wholeSample {
		windows = spread(w, float64(s.wholeSample)/within)
		within = float64(s.wholeSample)
	}
	// The share is six standard deviations above the need, so enough records are drawn to cut the sample to its size.
	n := float64(size)
	rows, err := read.All[reads.LogSampleRow](ctx, s.warehouse, org,
		reads.LogSample(windows, f, patternBodyBytes, (n+6*math.Sqrt(n)+6)/within, size).Until(w.End))
	out.rows = nil
	for _, r := range rows {
		out.rows = append(out.rows, reads.LogShapeRow{
			ServiceName: r.ServiceName, SeverityText: r.SeverityText, Latest: r.Body, Records: 1, First: r.Timestamp, Last: r.Timestamp,
		})
	}
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
	count, baseline      uint64
	text                 string
	severities, services map[string]int32
	first, last          time.Time
}

// compare orders patterns. If the samples can be compared, new patterns come first, and among them those with errors. Then the
// order is by frequency. So a list that is cut keeps the patterns that explain most.
func (g *group) compare(other *group, compared bool) int {
	rank := func(g *group) int {
		switch {
		case !compared || g.baseline > 0:
			return 2
		case g.severities["ERROR"]+g.severities["FATAL"] > 0:
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(g), rank(other)), cmp.Compare(other.count, g.count), cmp.Compare(g.pattern.Number, other.pattern.Number))
}

// mine finds the patterns of both samples together, so that they can be compared. It returns the patterns of the second sample.
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
		of(r.Latest).baseline += r.Records
	}
	for _, r := range now.rows { // the rows are ordered latest first
		g := of(r.Latest)
		if g.count == 0 {
			g.text, g.first, g.last = r.Latest, r.First, r.Last
		}
		if r.First.Before(g.first) {
			g.first = r.First
		}
		g.count += r.Records
		g.severities[r.SeverityText] += int32(r.Records)
		g.services[r.ServiceName] += int32(r.Records)
	}
	var out []*group
	for _, g := range groups {
		if g.count > 0 {
			out = append(out, g)
		}
	}
	return out
}

func (g *group) toProto(now, before sample, compared bool) *svcv2.LogPattern {
	estimated := float64(g.count) * now.weight()
	return &svcv2.LogPattern{
		Object: "log_pattern", Template: g.pattern.Template(), Sample: g.text, Count: int32(g.count),
		EstimatedCount: estimated, Share: float64(g.count) / float64(now.read()), SeverityCounts: g.severities,
		ServiceCounts: g.services, FirstSeen: timestamppb.New(g.first), LastSeen: timestamppb.New(g.last),
		BaselineCount: int32(g.baseline), BaselineEstimatedCount: float64(g.baseline) * before.weight(),
		IsNew: compared && g.baseline == 0, CountError: now.deviation(g.count),
		RecordsPerMinute: estimated / max(g.last.Sub(g.first).Minutes(), 1),
	}
}
