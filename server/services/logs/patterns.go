package logs

import (
	"cmp"
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/drain"
	"github.com/svc-observability/svc/server/query/read"
)

const (
	maxPatternWindow  = 24 * time.Hour
	defaultSample     = 10_000
	maxSample         = 50_000
	defaultPatterns   = 50
	maxPatterns       = 200
	patternBodyBytes  = 1024 // characters of a body that are looked at
	histogramSlots    = 256  // how finely the sample follows the load
	sampleStrata      = 16   // parts of the window of which each gives its share of the sample
	noBaseline        = "none"
	sampleOversupply  = 1.25 // slots are not evenly filled; what is too much is cut
	leastStratumShare = 10
)

// SearchLogPatterns groups the records of a window by their fixed parts.
func (s *Service) SearchLogPatterns(ctx context.Context, req *svcv2.SearchLogPatternsRequest) (*svcv2.LogPatternList, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), query.MaxSearchWindow)
	if err != nil {
		return nil, err
	}
	if window.End.Sub(window.Start) > maxPatternWindow {
		return nil, apierr.New(apierr.TelemetryRangeTooLarge, "The window is longer than the 24 hours in which patterns are found. Move start_time closer to end_time.", apierr.Param("start_time"))
	}
	filters, err := toFilters(req.GetFilters())
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
		earlier := query.Window{Start: window.Start.Add(-window.End.Sub(window.Start)), End: window.Start.Add(-1)}
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

// sample is some of the matching records of a window, and how many there are.
type sample struct {
	rows  []query.LogSampleRow
	total uint64
}

// weight is how many records one of the sample stands for.
func (s sample) weight() float64 {
	if len(s.rows) == 0 {
		return 0
	}
	return float64(s.total) / float64(len(s.rows))
}

// sample reads at most size records. Of more, each part of the window gives a share that follows its load, from one short span of time:
// the newest alone would show the last seconds of a flood, and records from everywhere would cost the read of all.
func (s *Service) sample(ctx context.Context, org principal.OrgID, w query.Window, f query.LogFilters, size int) (out sample, err error) {
	slot := max((w.End.Sub(w.Start)+histogramSlots)/histogramSlots, 1)
	slots, err := read.All[query.LogSlotRow](ctx, s.warehouse, org, query.LogHistogram(w, slot, f).Over(w))
	if err != nil {
		return out, err
	}
	for _, r := range slots {
		out.total += r.Records
	}
	if out.total == 0 {
		return out, nil
	}
	windows := []query.Window{w}
	if out.total > uint64(size) {
		windows = spread(w, slot, slots, out.total, size)
	}
	out.rows, err = read.All[query.LogSampleRow](ctx, s.warehouse, org, query.LogSample(windows, f, patternBodyBytes, min(int(float64(size)*sampleOversupply), maxSample)))
	return out, err
}

// spread chooses spans of time that hold about size records: in each stratum of the window its busiest slots, as many as its share needs, the
// last of them from its end backwards.
func spread(w query.Window, slot time.Duration, slots []query.LogSlotRow, total uint64, size int) []query.Window {
	const width = histogramSlots / sampleStrata
	var strata [sampleStrata][]query.LogSlotRow
	for _, r := range slots {
		n := min(r.Slot/width, sampleStrata-1)
		strata[n] = append(strata[n], r)
	}
	var out []query.Window
	for _, stratum := range strata {
		var records uint64
		for _, r := range stratum {
			records += r.Records
		}
		share := max(float64(size)*float64(records)/float64(total), leastStratumShare)
		slices.SortFunc(stratum, func(a, b query.LogSlotRow) int {
			return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(b.Slot, a.Slot))
		})
		for _, r := range stratum {
			begin := w.Start.Add(time.Duration(r.Slot) * slot)
			end := begin.Add(slot - 1)
			if end.After(w.End) {
				end = w.End
			}
			part := min(share/float64(r.Records), 1)
			out = append(out, query.Window{Start: end.Add(-time.Duration(part * float64(end.Sub(begin)))), End: end})
			if share -= float64(r.Records); share <= 0 {
				break
			}
		}
	}
	return out
}

// group is the records of one pattern.
type group struct {
	pattern              *drain.Pattern
	count, baseline      int
	text                 string
	severities, services map[string]int32
	first, last          time.Time
}

// mine finds the patterns of both samples together, so that they can be compared, and returns those of the second, most frequent first.
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
	for _, r := range now.rows { // latest first
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
		Object: "log_pattern", Template: g.pattern.Template(), Sample: g.text, Count: int32(g.count), EstimatedCount: float64(g.count) * now.weight(),
		Share: float64(g.count) / float64(len(now.rows)), SeverityCounts: g.severities, ServiceCounts: g.services,
		FirstSeen: timestamppb.New(g.first), LastSeen: timestamppb.New(g.last), BaselineCount: int32(g.baseline),
		BaselineEstimatedCount: float64(g.baseline) * before.weight(), IsNew: compared && g.baseline == 0,
	}
}
