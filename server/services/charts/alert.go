package charts

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// Incident is the address of the picture of an incident at a decision.
func (l *Links) Incident(rule *store.AlertRule, incident *store.AlertIncident, at time.Time) (string, error) {
	start := alertStart(rule, at)
	if opening := incident.FirstTriggeredAt.Add(-limits.ChartWindow / 4); opening.Before(start) {
		start = opening // the whole incident, as far as there is room
	}
	if longest := at.Add(-limits.ChartLongestWindow); start.Before(longest) {
		start = longest
	}
	return l.address(&id{
		Org: incident.Org, Subject: ofIncident, Things: []uuid.UUID{incident.ID}, Version: rule.Version, Start: start, At: at,
	}, kindAlert)
}

// Rule is the address of the picture of the groups of a rule that breached at the same minute.
func (l *Links) Rule(rule *store.AlertRule, at time.Time) (string, error) {
	return l.address(&id{
		Org: rule.Org, Subject: ofRule, Things: []uuid.UUID{rule.ID}, Version: rule.Version, Start: alertStart(rule, at), At: at,
	}, kindAlert)
}

// alertStart shows some windows of the rule before a decision.
func alertStart(rule *store.AlertRule, at time.Time) time.Time {
	window := 4 * time.Duration(rule.WindowMinutes) * time.Minute
	return at.Add(-min(max(window, limits.ChartWindow), limits.ChartLongestWindow))
}

// alert has the data of the chart of an alert.
type alert struct {
	*id

	rule store.AlertRule
	// incident is nil for the groups of the rule.
	incident *store.AlertIncident
	grid     []time.Time
}

// figure is the compared value of a group at a minute.
type figure struct {
	value     *float64
	threshold float64
}

// figures are by group and minute.
type figures map[string]map[time.Time]figure

func (f figures) put(group string, at time.Time, one figure) {
	if f[group] == nil {
		f[group] = map[time.Time]figure{}
	}
	f[group][at] = one
}

// OpenAlert finds what the chart of an alert shows and returns the function that reads it. The error of a chart that is not there is
// store.ErrNotFound, whatever the reason is. The organization is that of the chart.
func (c *Charts) OpenAlert(ctx context.Context, text string) (principal.OrgID, Read, error) {
	i, err := open(c.cfg.Seals, kindAlert, text, c.cfg.Now())
	if err != nil {
		return "", nil, errors.Join(store.ErrNotFound, err)
	}
	a := &alert{id: i}
	rule := i.Things[0]
	if i.Subject == ofIncident {
		incident, err := c.cfg.Store.GetAlertIncident(ctx, i.Org, rule)
		if err != nil {
			return "", nil, err
		}
		a.incident, rule = &incident, incident.RuleID
	}
	if a.rule, err = c.cfg.Store.GetAlertRule(ctx, i.Org, rule); err != nil {
		return "", nil, err
	}
	a.grid = grid(i.Start, i.At)
	return i.Org, func(ctx context.Context) (*svcv2.ChartPicture, error) { return c.alert(ctx, a) }, nil
}

// grid are the minutes of a chart: the last one is that of the decision.
func grid(start, at time.Time) []time.Time {
	minutes := int(at.Sub(start) / time.Minute)
	step := time.Duration(max(1, (minutes+limits.ChartPoints-1)/limits.ChartPoints)) * time.Minute
	var out []time.Time
	for t := at; !t.Before(start); t = t.Add(-step) {
		out = append(out, t)
	}
	slices.Reverse(out)
	return out
}

func (c *Charts) alert(ctx context.Context, a *alert) (*svcv2.ChartPicture, error) {
	if a.incident != nil {
		return c.ofIncident(ctx, a)
	}
	return c.ofRule(ctx, a)
}

// ofIncident draws the group of an incident. The checks of the rule hold the compared values. Minutes without one, such as those before the
// rule was made, are evaluated again, but only as long as the rule is the same.
func (c *Charts) ofIncident(ctx context.Context, a *alert) (*svcv2.ChartPicture, error) {
	group := a.incident.GroupKey
	f := figures{}
	if err := c.checks(ctx, a, group, a.Start, limits.AlertPreviewPointsTogether, f); err != nil {
		return nil, err
	}
	if err := c.evaluate(ctx, a, f[group], []string{group}, f); err != nil {
		return nil, err
	}
	out := &svcv2.ChartPicture{
		Kind: kindOf(a.rule.SignalType), Title: a.incident.RuleName, Unit: unitOf(&a.rule),
		Series: []*svcv2.ChartPictureSeries{a.series(group, f[group])},
	}
	if group != alerting.TotalGroup {
		out.Title += " · " + group
	} else {
		out.Series[0].Name = a.incident.RuleName
	}
	threshold := a.incident.Threshold
	if last, ok := f[group][a.At]; ok {
		threshold = last.threshold // that of a baseline moves
	}
	compare(out, a.incident.Comparator, threshold, a.incident.ThresholdUpper, f[group][a.At].value)
	return out, nil
}

// ofRule draws the groups of a rule that are furthest beyond its threshold.
func (c *Charts) ofRule(ctx context.Context, a *alert) (*svcv2.ChartPicture, error) {
	f := figures{}
	if err := c.checks(ctx, a, "", a.At, limits.AlertGroups, f); err != nil {
		return nil, err
	}
	if len(f) == 0 { // not stored yet
		if err := c.evaluate(ctx, &alert{id: a.id, rule: a.rule, grid: []time.Time{a.At}}, nil, nil, f); err != nil {
			return nil, err
		}
	}
	groups := a.worst(f)
	f = figures{}
	for _, group := range groups {
		if err := c.checks(ctx, a, group, a.Start, limits.AlertPreviewPointsTogether, f); err != nil {
			return nil, err
		}
	}
	known := map[time.Time]figure{}
	if len(groups) > 0 {
		known = f[groups[0]] // all groups of a rule are evaluated at the same minutes
	}
	if err := c.evaluate(ctx, a, known, groups, f); err != nil {
		return nil, err
	}
	out := &svcv2.ChartPicture{Kind: "line", Title: a.rule.Name, Unit: unitOf(&a.rule)}
	for _, group := range groups {
		out.Series = append(out.Series, a.series(group, f[group]))
	}
	if len(groups) == 0 {
		out.Series = []*svcv2.ChartPictureSeries{{Name: a.rule.Name}}
		compare(out, a.rule.Comparator, a.rule.Threshold, a.rule.ThresholdUpper, nil)
		return out, nil
	}
	last := f[groups[0]][a.At]
	threshold := a.rule.Threshold
	if last.value != nil {
		threshold = last.threshold
	}
	compare(out, a.rule.Comparator, threshold, a.rule.ThresholdUpper, last.value)
	return out, nil
}

// worst lists the groups that are furthest beyond the threshold at the decision.
func (a *alert) worst(f figures) []string {
	beyond := func(group string) float64 {
		one := f[group][a.At]
		if one.value == nil {
			return math.Inf(-1)
		}
		switch a.rule.Comparator {
		case "lt", "lte":
			return one.threshold - *one.value
		case "gt", "gte":
			return *one.value - one.threshold
		default:
			return math.Abs(*one.value - one.threshold)
		}
	}
	groups := slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(f))), func(x, y string) int {
		switch bx, by := beyond(x), beyond(y); {
		case bx > by:
			return -1
		case bx < by:
			return 1
		default:
			return 0
		}
	})
	return groups[:min(len(groups), limits.ChartSeries)]
}

// checks reads the stored results of evaluations of a group, or of all groups, from a time to the decision.
func (c *Charts) checks(ctx context.Context, a *alert, group string, since time.Time, limit int, into figures) error {
	rows, err := read.All[reads.AlertCheckRow](ctx, c.cfg.Warehouse, a.Org, reads.AlertChecks(reads.AlertCheckList{
		Rule: publicid.Encode(publicid.AlertRule, a.rule.ID), Group: group, Since: since, Until: a.At.Add(time.Second), Limit: limit,
	}))
	if err != nil {
		return read.Failure(ctx, err)
	}
	on := map[time.Time]bool{}
	for _, at := range a.grid {
		on[at] = true
	}
	for i := range rows {
		if at := rows[i].Timestamp.UTC(); on[at] {
			into.put(rows[i].GroupKey, at, figure{rows[i].ObservedValue, rows[i].Threshold})
		}
	}
	return nil
}
