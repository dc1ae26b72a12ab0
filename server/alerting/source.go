package alerting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/rawsql"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
)

// Engine runs the plans. *engine.Engine does.
type Engine interface {
	Breakdown(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Breakdown, error)
	Timeseries(ctx context.Context, org principal.OrgID, r *query.Request) (*query.Timeseries, error)
}

// Warehouse runs statements. *read.Reader does.
type Warehouse interface {
	read.Warehouse
	rawsql.Warehouse
}

// Reader reads the figures of rules from the warehouse.
type Reader struct {
	engine    Engine
	warehouse Warehouse
	rollups   query.Rollups
	past      *cache.Cache[pastKey, map[string]past]
}

// NewSource returns a Reader. Give it the warehouse reader of background work, so that its statements wait behind those of people. The
// rollups are those that the engine may read.
func NewSource(e Engine, w Warehouse, r query.Rollups) *Reader {
	return &Reader{engine: e, warehouse: w, rollups: r, past: cache.New[pastKey, map[string]past](limits.AlertBaselines, time.Now)}
}

// minuteFigures is the answer to a question about one minute.
type minuteFigures struct {
	groups map[string]Input
	left   int
	err    error
}

// Figures reads the figures of rules. The figures of services are read for all rules together. Of the others, rules that ask the same
// question about the same minute share the answer.
func (r *Reader) Figures(ctx context.Context, org principal.OrgID, asks []Ask) ([]Figures, error) {
	out := make([]Figures, len(asks))
	measured, err := r.fromMinutes(ctx, org, asks)
	if err != nil {
		return nil, err
	}
	seen := map[string]minuteFigures{}
	for i, ask := range asks {
		if m, ok := measured[i]; ok {
			out[i].Took = m.took
			for _, at := range ask.Minutes {
				groups, left := m.figures.groupsOf(ask.Rule, at, ask.Keep)
				out[i].Groups, out[i].LeftOut = append(out[i].Groups, groups), max(out[i].LeftOut, left)
			}
			if err := r.judge(ctx, org, ask, &out[i]); err != nil {
				return nil, err
			}
			continue
		}
		start := time.Now()
		f := &out[i]
		p, err := compile(ask.Rule)
		if err != nil {
			f.Err, f.Category = err, "validation"
			continue
		}
		question := questionOf(ask.Rule)
		void, err := r.void(ctx, org, ask)
		if err != nil {
			return nil, err
		}
		for _, at := range ask.Minutes {
			key := fmt.Sprintf("%s@%d", question, at.Unix())
			if void[at] { // each window without spans has the same answer
				key = question + "@void"
			}
			a, known := seen[key]
			if !known {
				a.groups, a.left, a.err = r.evaluate(ctx, org, ask.Rule, p, at)
				seen[key] = a
			}
			if a.err != nil {
				if outage(a.err) {
					return nil, a.err
				}
				f.Err, f.Category = a.err, "query"
				break
			}
			f.Groups, f.LeftOut = append(f.Groups, unread(a, ask.Keep)), max(f.LeftOut, a.left)
		}
		f.Took = time.Since(start)
		if f.Err != nil {
			continue
		}
		if err := r.judge(ctx, org, ask, f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// judge gives the groups of a rule with a baseline their thresholds, once its figures are read. Its error is a failure of all rules.
func (r *Reader) judge(ctx context.Context, org principal.OrgID, ask Ask, f *Figures) error {
	if len(ask.Rule.Baseline) == 0 {
		return nil
	}
	p, err := compile(ask.Rule)
	if err != nil {
		f.Groups, f.Err, f.Category = nil, err, "validation"
		return nil //nolint:nilerr // it is the failure of this rule only
	}
	for i, groups := range f.Groups {
		judged, err := r.judgedByPast(ctx, org, ask.Rule, p, ask.Minutes[i], groups)
		switch {
		case err == nil:
			f.Groups[i] = judged
		case outage(err):
			return err
		default:
			f.Groups, f.Err, f.Category = nil, err, "query"
			return nil
		}
	}
	return nil
}

// unread adds the groups with an open incident that were left out because there are too many groups. Nothing is known about them, so their
// incidents stay as they are.
func unread(a minuteFigures, keep []string) map[string]Input {
	if a.left == 0 {
		return a.groups
	}
	groups := maps.Clone(a.groups) // another rule may have the same answer
	for _, key := range keep {
		if _, read := groups[key]; !read {
			groups[key] = Input{Failed: true}
		}
	}
	return groups
}

// questionOf identifies what is read for a rule, without its thresholds.
func questionOf(r *store.AlertRule) string {
	severity := ""
	if len(r.Burn) > 0 {
		severity = r.Severity // it chooses the windows
	}
	return digest(scopeOf(r), r.ServiceNames, r.ExcludeServiceNames, r.WindowMinutes, r.ApdexThresholdMs, severity)
}

// outage reports whether an error says nothing about the rule: the warehouse does not answer, is busy, or the process stops.
func outage(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var e *apierr.Error
	return errors.As(err, &e) && (e.Tag == apierr.WarehouseUpstream || e.Tag == apierr.WorkerUnavailable || e.Tag == apierr.RateLimit)
}

// evaluate reads the figures of one rule over the window that ends at a minute.
func (r *Reader) evaluate(
	ctx context.Context, org principal.OrgID, rule *store.AlertRule, p *plan, at time.Time,
) (map[string]Input, int, error) {
	switch {
	case p.burn != nil:
		return r.burn(ctx, org, rule, p, at)
	case p.request == nil:
		return r.statement(ctx, org, rule, p, windowOf(rule, at))
	default:
		return r.breakdown(ctx, org, rule, p, at)
	}
}

// windowOf is the window of an evaluation. Both of its ends are part of it.
func windowOf(rule *store.AlertRule, at time.Time) query.Window {
	return query.Window{Start: windowStart(rule, at), End: at.Add(-time.Nanosecond)}
}

// breakdown reads the figures with the query engine.
func (r *Reader) breakdown(
	ctx context.Context, org principal.OrgID, rule *store.AlertRule, p *plan, at time.Time,
) (map[string]Input, int, error) {
	req := *p.request
	req.Window = windowOf(rule, at)
	b, err := r.engine.Breakdown(ctx, org, &req)
	if err != nil {
		return nil, 0, query.ExplainAll(err)
	}
	value, samples := -1, -1
	for i, c := range b.Columns {
		switch c.Query {
		case p.value:
			value = i
		case p.samples:
			samples = i
		}
	}
	if value < 0 {
		return nil, 0, fmt.Errorf("the answer has no column %q", p.value)
	}
	groups, left := map[string]Input{}, 0
	for _, g := range b.Groups {
		if g.Other {
			left++
			continue
		}
		in := Input{Present: true, Value: finite(g.Values[value] * p.scale)}
		if samples >= 0 && samples < len(g.Values) && !math.IsNaN(g.Values[samples]) {
			in.Samples = g.Values[samples]
		} else if samples < 0 && in.Value != nil {
			in.Samples = 1 // a metric has no number of samples here
		}
		if samples >= 0 && in.Samples == 0 {
			continue // a group without rows has no data
		}
		groups[groupKey(p, g.Group)] = in
	}
	return groups, left, nil
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// noValue is the label of a group without a value.
const noValue = "(none)"

// groupKey is the label of a group: its values, in the order of the fields.
func groupKey(p *plan, values []string) string {
	if !p.grouped {
		return TotalGroup
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = cmp.Or(v, noValue)
	}
	return strings.Join(parts, " · ")
}

// sqlRow is a row of a statement: the columns `value`, `group` and `samples`.
type sqlRow struct {
	value   float64
	group   string
	samples float64
}

// statement runs the SQL of a rule, and reduces the rows of each group to one value.
func (r *Reader) statement(
	ctx context.Context, org principal.OrgID, rule *store.AlertRule, p *plan, w query.Window,
) (map[string]Input, int, error) {
	result, err := rawsql.Run(ctx, r.warehouse, org, rawsql.Request{SQL: p.sql, Window: w, MaxRows: limits.AlertSQLRows})
	if err != nil {
		return nil, 0, err
	}
	rows, err := readRows(result)
	if err != nil {
		return nil, 0, err
	}
	reducer := "identity"
	if rule.RawQueryReducer != nil {
		reducer = *rule.RawQueryReducer
	}
	byGroup := map[string][]sqlRow{}
	var order []string
	for _, row := range rows {
		if _, ok := byGroup[row.group]; !ok {
			order = append(order, row.group)
		}
		byGroup[row.group] = append(byGroup[row.group], row)
	}
	groups, left := map[string]Input{}, 0
	for _, key := range order {
		if len(groups) == limits.AlertSQLGroups {
			left++
			continue
		}
		in := Input{Present: true, Value: finite(reduce(reducer, byGroup[key]))}
		for _, row := range byGroup[key] {
			in.Samples += row.samples
		}
		groups[key] = in
	}
	return groups, left, nil
}

func readRows(result *rawsql.Result) ([]sqlRow, error) {
	value, group, samples := -1, -1, -1
	for i, c := range result.Columns {
		switch c.Name {
		case "value":
			value = i
		case "group":
			group = i
		case "samples":
			samples = i
		}
	}
	if value < 0 {
		return nil, &Invalid{"raw_query_sql", "must give a column named `value`."}
	}
	out := make([]sqlRow, 0, len(result.Rows))
	for _, text := range result.Rows {
		var cells []any
		if err := json.Unmarshal(text, &cells); err != nil {
			return nil, fmt.Errorf("a row cannot be read: %w", err)
		}
		row := sqlRow{value: number(cells[value]), group: TotalGroup, samples: 1}
		if group >= 0 {
			row.group = fmt.Sprint(cells[group])
		}
		if samples >= 0 {
			row.samples = number(cells[samples])
		}
		if math.IsNaN(row.samples) {
			row.samples = 0
		}
		out = append(out, row)
	}
	return out, nil
}

// number reads a number, which the engine writes as text if it is a large integer.
func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		n := json.Number(v)
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return math.NaN()
}

// reduce makes one value of the rows of a group. identity takes the first row.
func reduce(reducer string, rows []sqlRow) float64 {
	values := make([]float64, 0, len(rows))
	for _, row := range rows {
		if !math.IsNaN(row.value) {
			values = append(values, row.value)
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	switch reducer {
	case "sum":
		return sum
	case "avg":
		return sum / float64(len(values))
	case "min":
		return slices.Min(values)
	case "max":
		return slices.Max(values)
	default:
		return values[0]
	}
}
