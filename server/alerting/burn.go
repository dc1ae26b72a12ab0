package alerting

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// Burn is a service level objective: a rule with one compares how fast errors use up its error budget.
type Burn struct {
	// Target is the share of requests that must not fail, as 0.999.
	Target float64 `json:"target"`
	// PeriodDays is the time over which the target holds.
	PeriodDays int `json:"period_days"`
	// MinimumBad is the number of failed requests in the long window below which a pair of windows does not count.
	MinimumBad float64 `json:"minimum_bad"`
}

// burnPair is a long and a short window that must both burn. share is the part of the budget of the whole period that the long window may
// use up.
type burnPair struct {
	long, short int // minutes
	share       float64
}

func newBurnPair(long, short time.Duration, percent float64) burnPair {
	return burnPair{int(long.Minutes()), int(short.Minutes()), percent / 100}
}

// burnPairs are the pairs of a severity: fast burns are critical, slow ones are warnings.
func burnPairs(severity string) []burnPair {
	if severity == "critical" {
		return []burnPair{
			newBurnPair(limits.AlertFastBurn, limits.AlertFastBurnShort, limits.AlertFastBurnShare),
			newBurnPair(limits.AlertSteadyBurn, limits.AlertSteadyBurnShort, limits.AlertSteadyBurnShare),
		}
	}
	return []burnPair{
		newBurnPair(limits.AlertSlowBurn, limits.AlertSlowBurnShort, limits.AlertSlowBurnShare),
		newBurnPair(limits.AlertCreepingBurn, limits.AlertCreepingBurnShort, limits.AlertCreepingBurnShare),
	}
}

// pace is the burn rate at which a pair uses up its share of the budget.
func (p burnPair) pace(b *Burn) float64 {
	return p.share * float64(b.PeriodDays*24*60) / float64(p.long)
}

func compileBurn(r *store.AlertRule) (*Burn, error) {
	if len(r.Burn) == 0 {
		return nil, nil
	}
	b := &Burn{}
	if err := json.Unmarshal(r.Burn, b); err != nil {
		return nil, &Invalid{"burn", "cannot be read."}
	}
	switch {
	case r.SignalType != "error_rate":
		return nil, &Invalid{"burn", "is only for the signal error_rate."}
	case len(r.GroupBy) > 0 && !slices.Equal(r.GroupBy, []string{"service.name"}):
		return nil, &Invalid{"group_by", "must be service.name, or left out, for a rule with `burn`."}
	case r.Comparator != "gt" && r.Comparator != "gte":
		return nil, &Invalid{"comparator", "must be gt or gte for a rule with `burn`."}
	case !(b.Target > 0 && b.Target < 1):
		return nil, &Invalid{"burn.target", "must be more than 0 and less than 1."}
	case b.PeriodDays < 1 || b.PeriodDays > limits.AlertBurnDays:
		return nil, &Invalid{"burn.period_days", "must be 1 to " + limits.Number(limits.AlertBurnDays) + "."}
	case b.MinimumBad < 0 || math.IsNaN(b.MinimumBad):
		return nil, &Invalid{"burn.minimum_bad", "must not be negative."}
	}
	return b, nil
}

// burn gives, for each group, the largest ratio of a pair's burn rate to its pace. The burn rate of a pair is the smaller one of its two
// windows, so a burn that has ended does not count.
func (r *Reader) burn(
	ctx context.Context, org principal.OrgID, rule *store.AlertRule, p *plan, at time.Time,
) (map[string]Input, int, error) {
	list := reads.ServiceFigureList{ByService: byService(rule), Services: rule.ServiceNames}
	pairs := burnPairs(rule.Severity)
	for _, pair := range pairs {
		for _, minutes := range []int{pair.long, pair.short} {
			start := at.Add(-time.Duration(minutes) * time.Minute)
			if !r.rollups.Minutes.Holds(query.Window{Start: start, End: at}) {
				return nil, 0, &Invalid{"burn", "needs sums by minute since " + start.Format(time.RFC3339) + ", which this server does not have yet."}
			}
			list.Cells = append(list.Cells, reads.ServiceFigureCell{Start: start, End: at, Environments: rule.Environments})
			list.Series = r.rollups.Series.Holds(query.Window{Start: start, End: at})
		}
	}
	rows, err := read.All[reads.ServiceFigureRow](ctx, r.warehouse, org, reads.ServiceFigures(list))
	if err != nil {
		return nil, 0, read.Failure(ctx, err)
	}
	out := map[string]Input{}
	for _, row := range rows {
		key := TotalGroup
		if list.ByService {
			if key = serviceKey(row.Service); slices.Contains(rule.ExcludeServiceNames, row.Service) {
				continue
			}
		}
		in := Input{Present: true, Value: new(0.0)}
		for i, pair := range pairs {
			long, short := row.Figures[2*i], row.Figures[2*i+1]
			in.Samples = max(in.Samples, long[figureSpans])
			if long[figureFailed] < p.burn.MinimumBad || short[figureSpans] == 0 {
				continue
			}
			rate := min(long[figureFailed]/long[figureSpans], short[figureFailed]/short[figureSpans]) / (1 - p.burn.Target)
			in.Value = new(max(*in.Value, rate/pair.pace(p.burn)))
		}
		if in.Samples > 0 {
			out[key] = in
		}
	}
	groups, left := nearest(rule, out, nil)
	return groups, left, nil
}
