package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// column is a query of a breakdown, with its values by group.
type column struct {
	values, previous map[string]float64
	unit             string
	rest, restBefore float64 // for the groups that were not read
	missing          float64 // the value of a group that has no rows
	missingBefore    float64
	// others and othersBefore are the values of the groups that the result leaves out. For an additive column they are the rest
	// of its totals. For other columns a separate read gives them.
	additive             bool
	others, othersBefore float64
}

func newColumn(a *queryAnswer, seconds float64) *column {
	c := &column{unit: a.unit, rest: math.NaN(), missing: math.NaN(), additive: a.plan.Additive, others: math.NaN(), othersBefore: math.NaN()}
	c.values, c.rest, c.missing = groupValues(a, seconds)
	return c
}

func groupValues(a *queryAnswer, seconds float64) (values map[string]float64, total, missing float64) {
	values, total, missing = map[string]float64{}, math.NaN(), math.NaN()
	scale := 1.0
	if a.plan.PerSecond {
		scale = 1 / seconds
	}
	for _, row := range a.groups {
		values[groupKey(row.Group, false)] = row.Value * scale
		if a.plan.Additive {
			total = row.Total * scale
		}
	}
	if a.plan.Zero && !cut(a) {
		missing = 0
	}
	return values, total, missing
}

// cut reports whether there are more groups than were read.
func cut(a *queryAnswer) bool { return len(a.groups) > 0 && a.groups[0].Groups > uint64(len(a.groups)) }

// assembleGroups joins the rows of the queries by their groups and computes the formulas. It takes the groups of all queries, in
// the order of the first query that is shown. If a query has a condition on its value, only groups in the result of that query
// remain. The caller then fills the table with the rows of the keys.
func assembleGroups(
	out *query.Breakdown,
	r *query.Request,
	now, before []queryAnswer,
) (t *breakdownTable, keys []string, groups map[string][]string) {
	seconds := out.Window.Length().Seconds()
	columns := make([]*column, len(r.Queries))
	groups = map[string][]string{}
	for i := range r.Queries {
		columns[i] = newColumn(&now[i], seconds)
		if len(before) > 0 {
			c := columns[i]
			c.previous, c.restBefore, c.missingBefore = groupValues(&before[i], seconds)
		}
		for _, row := range now[i].groups {
			groups[groupKey(row.Group, false)] = row.Group
		}
		out.Truncated = out.Truncated || cut(&now[i])
	}
	gone := map[string]bool{}
	for i := range before {
		if cut(&now[i]) { // a group that was not read may still have rows
			continue
		}
		for _, row := range before[i].groups {
			key := groupKey(row.Group, false)
			if _, ok := groups[key]; !ok {
				groups[key], gone[key] = row.Group, true
			}
		}
	}
	if nothingGrouped(r) {
		groups, gone = map[string][]string{groupKey(nil, false): {}}, nil
	}
	for i, q := range r.Queries {
		if len(q.Having) > 0 {
			for key := range groups {
				if _, ok := columns[i].values[key]; !ok {
					delete(groups, key)
				}
			}
		}
	}
	out.Warnings = append(out.Warnings, groupedApart(r)...)
	first := firstShown(r)
	rows := &ranking{order: r.Queries[first].Order, groups: groups, gone: gone, lead: columns[first]}
	keys, truncated := rows.pick(cmp.Or(r.Queries[first].Limit, limits.DefaultBreakdownRows))
	out.Truncated = out.Truncated || truncated
	return &breakdownTable{request: r, columns: columns, compared: len(before) > 0}, keys, groups
}

// groupedApart warns about queries whose groups differ from those of the first query: their rows appear below each other, not
// side by side.
func groupedApart(r *query.Request) []string {
	var apart []string
	lead := r.Queries[0].GroupBy
	for _, q := range r.Queries[1:] {
		if !slices.Equal(lead, q.GroupBy) {
			apart = append(apart, q.Name)
		}
	}
	if apart == nil {
		return nil
	}
	verb := map[bool]string{true: "groups", false: "group"}[len(apart) == 1]
	return []string{
		fmt.Sprintf(
			"%s %s by other fields than %s. Values of different groups cannot be compared in one row.",
			strings.Join(apart, ", "),
			verb,
			r.Queries[0].Name,
		),
	}
}

func nothingGrouped(r *query.Request) bool {
	return !slices.ContainsFunc(r.Queries, func(q query.Query) bool { return len(q.GroupBy) > 0 })
}

// ranking orders the groups of a breakdown by the leading query.
type ranking struct {
	order  query.Order
	groups map[string][]string
	// gone holds the groups that had rows in the period before and have none now.
	gone map[string]bool
	lead *column
}

// pick returns the first groups. A group that has stopped sending comes last. Its earlier value decides whether it is among the largest
// groups; otherwise it would be the first to be left out.
func (r *ranking) pick(limit int) (keys []string, truncated bool) {
	var gone []string
	for key := range r.groups {
		if r.gone[key] && !r.order.ByGroup {
			gone = append(gone, key)
		} else {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return r.compare(a, b, r.lead.values, r.order) })
	slices.SortFunc(gone, func(a, b string) int { return r.compare(a, b, r.lead.previous, query.Order{}) })
	for truncated = len(keys)+len(gone) > limit; len(keys)+len(gone) > limit; {
		switch {
		case len(gone) == 0 || len(keys) > 0 && !r.order.Ascending && r.less(keys[len(keys)-1], gone[len(gone)-1]):
			keys = keys[:len(keys)-1]
		default:
			gone = gone[:len(gone)-1]
		}
	}
	return append(keys, gone...), truncated
}

// less reports whether the current value of a group is lower than the earlier value of a group that is gone.
func (r *ranking) less(key, gone string) bool {
	now, ok := r.lead.values[key]
	had, was := r.lead.previous[gone]
	return was && (!ok || now < had)
}

func (r *ranking) compare(a, b string, values map[string]float64, by query.Order) int {
	byGroup := slices.Compare(r.groups[a], r.groups[b])
	va, aok := values[a]
	vb, bok := values[b]
	switch {
	case by.ByGroup && by.Ascending:
		return byGroup
	case by.ByGroup:
		return -byGroup
	case aok != bok: // groups without a value in the first query come last
		return map[bool]int{true: -1, false: 1}[aok]
	case math.IsNaN(va) != math.IsNaN(vb):
		return map[bool]int{true: 1, false: -1}[math.IsNaN(va)]
	case by.Ascending:
		return cmp.Or(cmp.Compare(va, vb), byGroup)
	default:
		return cmp.Or(cmp.Compare(vb, va), byGroup)
	}
}

func firstShown(r *query.Request) int {
	for i, q := range r.Queries {
		if !q.Hidden {
			return i
		}
	}
	return 0
}

// breakdownTable makes the rows of a breakdown.
type breakdownTable struct {
	request  *query.Request
	columns  []*column
	compared bool
	zeros    map[string]int
}

func (t *breakdownTable) fill(out *query.Breakdown, keys []string, groups map[string][]string) {
	t.zeros = map[string]int{}
	several := visible(t.request) > 1
	for i, q := range t.request.Queries {
		if !q.Hidden {
			out.Columns = append(out.Columns, query.Column{Query: q.Name, Name: title(q.Name, q.Legend, "", several), Unit: t.columns[i].unit})
		}
	}
	for _, f := range t.request.Formulas {
		if !f.Hidden {
			out.Columns = append(out.Columns, query.Column{Query: f.Name, Name: title(f.Name, f.Legend, "", several)})
		}
	}
	for _, key := range keys {
		g := query.Group{Name: label(groups[key], false), Group: groups[key]}
		g.Values = t.row(func(c *column) float64 { return orElse(c.values, key, c.missing) })
		if t.compared {
			g.Previous = t.row(func(c *column) float64 { return orElse(c.previous, key, c.missingBefore) })
		}
		out.Groups = append(out.Groups, g)
	}
	if out.Truncated {
		rest := func(c *column, others, total float64, values map[string]float64) float64 {
			if !c.additive {
				return others
			}
			for _, key := range keys {
				total -= values[key]
			}
			return math.Max(total, 0)
		}
		g := query.Group{Name: OtherName, Other: true}
		g.Values = t.row(func(c *column) float64 { return rest(c, c.others, c.rest, c.values) })
		if t.compared {
			g.Previous = t.row(func(c *column) float64 { return rest(c, c.othersBefore, c.restBefore, c.previous) })
		}
		if slices.ContainsFunc(g.Values, func(v float64) bool { return !math.IsNaN(v) }) {
			out.Groups = append(out.Groups, g)
		}
	}
	for _, f := range t.request.Formulas {
		if n := t.zeros[f.Name]; n > 0 {
			out.Warnings = append(out.Warnings, divided(f.Name, n, "groups"))
		}
	}
	if t.request.Comparison.Percent {
		for i := range out.Groups {
			out.Groups[i].Change = change(out.Groups[i].Values, out.Groups[i].Previous)
		}
	}
}

func orElse(values map[string]float64, key string, otherwise float64) float64 {
	if v, ok := values[key]; ok {
		return v
	}
	return otherwise
}

// row gives the values of one group for the columns that are shown.
func (t *breakdownTable) row(of func(*column) float64) []float64 {
	byName := map[string]float64{}
	var out []float64
	for i, q := range t.request.Queries {
		v := of(t.columns[i])
		byName[strings.ToLower(q.Name)] = v
		if !q.Hidden {
			out = append(out, v)
		}
	}
	for _, f := range t.request.Formulas {
		v := math.NaN()
		if e, err := query.ParseFormula(f.Expression); err == nil {
			var zero bool
			if v, zero = e.Eval(func(name string) float64 { return byName[name] }); zero {
				t.zeros[f.Name]++
			}
		}
		byName[strings.ToLower(f.Name)] = v
		if !f.Hidden {
			out = append(out, v)
		}
	}
	return out
}
