package alerting

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// measured are the figures of a rule from minutes of services.
type measured struct {
	figures signalFigures
	took    time.Duration
}

// fromMinutes reads the figures of the rules for which minutes of services are enough, by their place in asks: of rules about many
// minutes one by one, of the others together. A rule that is missing in the answer was too costly and must be read alone.
func (r *Reader) fromMinutes(ctx context.Context, org principal.OrgID, asks []Ask) (map[int]measured, error) {
	out := map[int]measured{}
	together := map[bool][]int{}
	for i, ask := range asks {
		if !r.inMinutes(ask.Rule, ask.Minutes) {
			continue
		}
		if minutes, ok := gridOf(ask.Minutes); ok {
			start := time.Now()
			f, err := r.onGrid(ctx, org, ask, minutes)
			if err == nil {
				out[i] = measured{f, time.Since(start)}
				continue
			} else if outage(err) {
				return nil, err
			}
		}
		grouped := byService(ask.Rule)
		together[grouped] = append(together[grouped], i)
	}
	for grouped, places := range together {
		start := time.Now()
		var some []Ask
		for _, i := range places {
			some = append(some, asks[i])
		}
		f, err := r.together(ctx, org, some, grouped)
		if outage(err) {
			return nil, err
		} else if err != nil {
			continue
		}
		for _, i := range places {
			out[i] = measured{f, time.Since(start)}
		}
	}
	return out, nil
}

// grid are minutes of a rule that are equally far apart.
type grid struct {
	first time.Time
	step  time.Duration
	count int
}

// gridOf reports whether minutes are more than one statement reads as cells, and equally far apart. The preview of a day has a window for
// each minute.
func gridOf(minutes []time.Time) (grid, bool) {
	if len(minutes) <= limits.AlertCells {
		return grid{}, false
	}
	out := grid{first: minutes[0], step: minutes[1].Sub(minutes[0]), count: len(minutes)}
	if out.step < time.Minute {
		return grid{}, false
	}
	for i, at := range minutes {
		if !at.Equal(out.first.Add(time.Duration(i) * out.step)) {
			return grid{}, false
		}
	}
	return out, true
}

// onGrid reads the figures of one rule for minutes that are equally far apart, with one statement. Each minute is read once, although it is
// part of many windows.
func (r *Reader) onGrid(ctx context.Context, org principal.OrgID, ask Ask, minutes grid) (signalFigures, error) {
	cell := cellOf(ask.Rule, minutes.first)
	list := reads.ServiceWindowList{
		First: minutes.first, Step: minutes.step, Length: cell.End.Sub(cell.Start), Count: minutes.count,
		Environments: cell.Environments, Latency: cell.Latency, ByService: byService(ask.Rule),
		Services: slices.Compact(slices.Sorted(slices.Values(ask.Rule.ServiceNames))),
		Series:   r.rollups.Series.Holds(query.Window{Start: cell.Start}),
	}
	rows, err := read.All[reads.ServiceWindowRow](ctx, r.warehouse, org, reads.ServiceWindows(list))
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	keys := make([]string, minutes.count)
	out := signalFigures{}
	for i, at := range ask.Minutes {
		keys[i] = cellKey(cellOf(ask.Rule, at))
		out[keys[i]] = map[string][]float64{}
	}
	for _, f := range rows {
		if f.Figures[figureReceived] > 0 {
			out[keys[f.Window]][f.Service] = f.Figures
		}
	}
	return out, nil
}
