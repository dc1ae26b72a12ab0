package alerting

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// The figures of a cell, in the order of reads.ServiceFigureRow.
const (
	figureReceived = iota
	figureSpans
	figureFailed
	figureP95
	figureP99
)

// signalFigures are the figures of the cells of one kind of rules: those with a group for each service, or those with one group.
type signalFigures map[string]map[string][]float64

// inMinutes reports whether the minutes of services have the figures of a rule over the windows that end at the given minutes.
func (r *Reader) inMinutes(rule *store.AlertRule, minutes []time.Time) bool {
	if !Together(rule) {
		return false
	}
	for _, at := range minutes {
		if !r.rollups.Minutes.Holds(query.Window{Start: windowStart(rule, at), End: at}) {
			return false
		}
	}
	return true
}

// Together reports whether the figures of a rule can be read together with those of others, for many minutes at once.
func Together(rule *store.AlertRule) bool {
	switch rule.SignalType {
	case "error_rate", "p95_latency", "p99_latency", "throughput":
	default:
		return false
	}
	return rule.WindowMinutes <= limits.AlertTogether && len(rule.Burn) == 0 &&
		(len(rule.GroupBy) == 0 || slices.Equal(rule.GroupBy, []string{"service.name"}))
}

func windowStart(rule *store.AlertRule, at time.Time) time.Time {
	return at.Add(-time.Duration(rule.WindowMinutes) * time.Minute)
}

func cellOf(rule *store.AlertRule, at time.Time) reads.ServiceFigureCell {
	return reads.ServiceFigureCell{
		Start: windowStart(rule, at), End: at, Environments: slices.Sorted(slices.Values(rule.Environments)),
		Latency: rule.SignalType == "p95_latency" || rule.SignalType == "p99_latency",
	}
}

func cellKey(c reads.ServiceFigureCell) string {
	return c.Start.Format(time.RFC3339) + c.End.Format(time.RFC3339) + strings.Join(c.Environments, "\x00")
}

func byService(rule *store.AlertRule) bool { return len(rule.ServiceNames)+len(rule.GroupBy) > 0 }

// together reads the figures of all these rules with few statements: a statement has many windows, and all services.
func (r *Reader) together(ctx context.Context, org principal.OrgID, asks []Ask, grouped bool) (signalFigures, error) {
	cells := map[string]reads.ServiceFigureCell{}
	var services []string
	all := false
	for _, ask := range asks {
		all = all || len(ask.Rule.ServiceNames) == 0
		services = append(services, ask.Rule.ServiceNames...)
		for _, at := range ask.Minutes {
			c := cellOf(ask.Rule, at)
			key := cellKey(c)
			c.Latency = c.Latency || cells[key].Latency
			cells[key] = c
		}
	}
	if all {
		services = nil
	}
	list := reads.ServiceFigureList{ByService: grouped}
	if grouped && len(services) > 0 {
		slices.Sort(services)
		list.Services = slices.Compact(services)
	}
	out := signalFigures{}
	keys := slices.Sorted(maps.Keys(cells))
	for _, key := range keys {
		out[key] = map[string][]float64{}
	}
	for part := range slices.Chunk(keys, limits.AlertCells) {
		list.Cells = nil
		for _, key := range part {
			list.Cells = append(list.Cells, cells[key])
		}
		list.Series = r.rollups.Series.Holds(query.Window{Start: cells[part[0]].Start})
		rows, err := read.All[reads.ServiceFigureRow](ctx, r.warehouse, org, reads.ServiceFigures(list))
		if err != nil {
			return nil, read.Failure(ctx, err)
		}
		for _, row := range rows {
			for i, key := range part {
				if row.Figures[i][figureReceived] > 0 {
					out[key][row.Service] = row.Figures[i]
				}
			}
		}
	}
	return out, nil
}

// filled leaves out the windows that certainly have no spans. A preview of a day has many windows, and mostly there are fewer hours of
// data: one statement over long windows saves those over the short ones in them.
func (r *Reader) filled(
	ctx context.Context, org principal.OrgID, cells map[string]reads.ServiceFigureCell, keys []string,
) ([]string, error) {
	first, last := cells[keys[0]].Start, cells[keys[0]].End
	for _, c := range cells {
		if c.Start.Before(first) {
			first = c.Start
		}
		if c.End.After(last) {
			last = c.End
		}
	}
	minutes := int(last.Sub(first)/time.Minute)/limits.AlertCells + 1
	length := time.Duration(minutes) * time.Minute
	list := reads.ServiceFigureList{Series: r.rollups.Series.Holds(query.Window{Start: first})}
	for at := first; at.Before(last); at = at.Add(length) {
		list.Cells = append(list.Cells, reads.ServiceFigureCell{Start: at, End: at.Add(length)})
	}
	rows, err := read.All[reads.ServiceFigureRow](ctx, r.warehouse, org, reads.ServiceFigures(list))
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		for i, long := range list.Cells {
			if !long.Start.Before(cells[key].End) || !long.End.After(cells[key].Start) {
				continue
			}
			for _, row := range rows {
				if row.Figures[i][figureReceived] > 0 {
					return false
				}
			}
		}
		return true
	}), nil
}

// void are the minutes at which a rule of a signal of services has no spans in its window. A rule of few minutes is not asked about.
func (r *Reader) void(ctx context.Context, org principal.OrgID, ask Ask) (map[time.Time]bool, error) {
	if ask.Rule.SignalType != "apdex" || len(ask.Rule.Burn) > 0 || len(ask.Minutes) <= limits.AlertCells {
		return nil, nil
	}
	cells := map[string]reads.ServiceFigureCell{}
	minutes := map[string]time.Time{}
	for _, at := range ask.Minutes {
		c := reads.ServiceFigureCell{Start: windowStart(ask.Rule, at), End: at}
		if !r.rollups.Minutes.Holds(query.Window{Start: c.Start, End: c.End}) {
			return nil, nil
		}
		cells[cellKey(c)], minutes[cellKey(c)] = c, at
	}
	keys, err := r.filled(ctx, org, cells, slices.Sorted(maps.Keys(cells)))
	if err != nil {
		return nil, err
	}
	out := map[time.Time]bool{}
	for _, at := range minutes {
		out[at] = true
	}
	for _, key := range keys {
		delete(out, minutes[key])
	}
	return out, nil
}

// groupsOf picks the groups of a rule.
func (f signalFigures) groupsOf(rule *store.AlertRule, at time.Time, keep []string) (map[string]Input, int) {
	groups := map[string]Input{}
	for service, figures := range f[cellKey(cellOf(rule, at))] {
		key := TotalGroup
		if byService(rule) {
			if len(rule.ServiceNames) > 0 && !slices.Contains(rule.ServiceNames, service) || slices.Contains(rule.ExcludeServiceNames, service) {
				continue
			}
			key = serviceKey(service)
		}
		groups[key] = inputOf(rule, figures)
	}
	return nearest(rule, groups, keep)
}

func serviceKey(service string) string {
	if service == "" {
		return noValue
	}
	return service
}

func inputOf(rule *store.AlertRule, f []float64) Input {
	in := Input{Present: true, Samples: f[figureSpans], Weight: f[figureSpans] / f[figureReceived]}
	switch rule.SignalType {
	case "error_rate":
		in.Value = finite(f[figureFailed] / f[figureSpans])
	case "throughput":
		in.Value = finite(f[figureSpans] / float64(rule.WindowMinutes))
	case "p95_latency":
		in.Value = finite(f[figureP95] / float64(time.Millisecond))
	case "p99_latency":
		in.Value = finite(f[figureP99] / float64(time.Millisecond))
	}
	return in
}

// nearest keeps the groups that are nearest to a breach, and those with an open incident. It returns the number of the others.
func nearest(rule *store.AlertRule, groups map[string]Input, keep []string) (map[string]Input, int) {
	if len(groups) <= limits.AlertGroups {
		return groups, 0
	}
	value := func(key string) float64 {
		v := groups[key].Value
		switch {
		case v == nil:
			return 0
		case rule.Comparator == "lt" || rule.Comparator == "lte":
			return -*v
		default:
			return *v
		}
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		if x, y := value(a), value(b); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	left := 0
	for _, key := range keys[limits.AlertGroups:] {
		if !slices.Contains(keep, key) {
			delete(groups, key)
			left++
		}
	}
	return groups, left
}
