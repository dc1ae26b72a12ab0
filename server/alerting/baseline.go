package alerting

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/store"
)

// Baseline makes a rule compare with the past of the same group: the same hour of the last seven days, and the hours beside it.
type Baseline struct {
	// Sensitivity is low, normal or high.
	Sensitivity string `json:"sensitivity"`
}

// How far a value must be from the median of the past, by sensitivity.
const (
	LowDeviations, LowRatio       = 6, 3
	NormalDeviations, NormalRatio = 4, 2
	HighDeviations, HighRatio     = 3, 1.5
)

// distances are how far a value must be from the median of the past: deviations is in median absolute deviations, ratio is a factor. Both
// must be passed.
func (b *Baseline) distances() (deviations, ratio float64, ok bool) {
	switch b.Sensitivity {
	case "low":
		return LowDeviations, LowRatio, true
	case "normal":
		return NormalDeviations, NormalRatio, true
	case "high":
		return HighDeviations, HighRatio, true
	default:
		return 0, 0, false
	}
}

// OneSided reports whether a comparator has one threshold with a good side.
func OneSided(comparator string) bool {
	return comparator == "gt" || comparator == "gte" || comparator == "lt" || comparator == "lte"
}

func compileBaseline(r *store.AlertRule) (*Baseline, error) {
	if len(r.Baseline) == 0 {
		return nil, nil
	}
	b := &Baseline{}
	if err := json.Unmarshal(r.Baseline, b); err != nil {
		return nil, &Invalid{"baseline", "cannot be read."}
	}
	_, _, ok := b.distances()
	switch {
	case !ok:
		return nil, &Invalid{"baseline.sensitivity", "must be low, normal or high."}
	case r.SignalType == "builder_query" || r.SignalType == "raw_query":
		return nil, &Invalid{"baseline", "is only for the signals of services."}
	case !OneSided(r.Comparator):
		return nil, &Invalid{"comparator", "must be gt, gte, lt or lte for a rule with `baseline`."}
	case len(r.Burn) > 0:
		return nil, &Invalid{"baseline", "cannot be combined with `burn`."}
	case r.ResolveThreshold != nil:
		return nil, &Invalid{"resolve_threshold", "cannot be combined with `baseline`, which moves the threshold."}
	}
	return b, nil
}

// past is the median of a group's hours and their median absolute deviation.
type past struct{ median, deviation float64 }

// threshold is the value beyond which a breach begins: the rule's own threshold, or the one of the past if that is further away.
func (p past) threshold(r *store.AlertRule, b *Baseline) float64 {
	deviations, ratio, _ := b.distances()
	if r.Comparator == "lt" || r.Comparator == "lte" {
		return min(r.Threshold, p.median-deviations*p.deviation, p.median/ratio)
	}
	return max(r.Threshold, p.median+deviations*p.deviation, p.median*ratio)
}

// judgedByPast gives each group the threshold of its past. A group with too little of it has no value to compare.
func (r *Reader) judgedByPast(
	ctx context.Context, org principal.OrgID, rule *store.AlertRule, p *plan, at time.Time, groups map[string]Input,
) (map[string]Input, error) {
	pasts, err := r.pasts(ctx, org, rule, p, at)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Input, len(groups))
	for key, in := range groups {
		if known, ok := pasts[key]; ok {
			in.Threshold = new(known.threshold(rule, p.baseline))
		} else if !in.Failed {
			in.Value = nil
		}
		out[key] = in
	}
	return out, nil
}

// pastKey identifies the past of a rule's groups at an hour.
type pastKey struct {
	org      principal.OrgID
	question string
	hour     int64
}

// pasts reads the past of all groups of a rule. It is read once an hour.
func (r *Reader) pasts(ctx context.Context, org principal.OrgID, rule *store.AlertRule, p *plan, at time.Time) (map[string]past, error) {
	hour := at.Truncate(time.Hour)
	key := pastKey{org, questionOf(rule), hour.Unix()}
	if known, ok := r.past.Get(key); ok {
		return known, nil
	}
	req := *p.request
	req.Queries = slices.Clone(req.Queries)
	for i := range req.Queries {
		q := &req.Queries[i]
		q.Limit, q.Groups, q.SeriesLimit, q.Order = 0, 0, limits.Series, query.Order{}
	}
	req.Bucket = time.Hour
	req.Window = query.Window{Start: hour.Add(-limits.AlertBaseline - time.Hour), End: hour.Add(-22*time.Hour - time.Nanosecond)}
	series, err := r.engine.Timeseries(ctx, org, &req)
	if err != nil {
		return nil, query.ExplainAll(err)
	}
	scale := p.scale * float64(rule.WindowMinutes) / 60 // a throughput is a count a minute; p.scale has the window
	if rule.SignalType != "throughput" {
		scale = 1
	}
	samples := map[string][]float64{}
	for _, s := range series.Series {
		if s.Query == samplesQuery {
			samples[groupKey(p, s.Group)] = s.Values
		}
	}
	out := map[string]past{}
	for _, s := range series.Series {
		if s.Query != p.value || s.Other {
			continue
		}
		group := groupKey(p, s.Group)
		var values []float64
		for i, v := range s.Values {
			apart := int(hour.Sub(series.Buckets[i])/time.Hour) % 24
			n := samples[group]
			if (apart == 0 || apart == 1 || apart == 23) && i < len(n) && n[i] > 0 && !math.IsNaN(v) {
				values = append(values, v*scale)
			}
		}
		if len(values) >= limits.AlertBaselineHours {
			out[group] = pastOf(values)
		}
	}
	r.past.Put(key, out, 1+len(out), time.Hour)
	return out, nil
}

func pastOf(values []float64) past {
	m := median(values)
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = math.Abs(v - m)
	}
	return past{median: m, deviation: median(away)}
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(a, b) })
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
