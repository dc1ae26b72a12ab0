package widget

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// SwitchedOff reports whether a query does not run. A query without `enabled` runs.
func SwitchedOff(d *svcv2.QueryDraft) bool { return d.Enabled != nil && !d.GetEnabled() }

// request converts the drafts, formulas and comparison of the data source to a request of the query language.
func (j *job) request() (*query.Request, error) {
	r := &query.Request{Window: j.window, Bucket: j.bucket()}
	c := j.source.GetComparison()
	r.Comparison.Previous = c.GetMode() == "previous_period" || j.req.Widget.GetDisplay().GetChartPresentation().GetCompareToPreviousPeriod()
	r.Comparison.Percent = r.Comparison.Previous && c.GetIncludePercentChange()
	if j.visual == "stat" || j.visual == "gauge" {
		r.Comparison.Percent = r.Comparison.Previous
	}
	for i, d := range j.source.GetQueries() {
		if SwitchedOff(d) {
			continue
		}
		q, err := j.draft(fmt.Sprintf("queries[%d]", i), d)
		if err != nil {
			return nil, err
		}
		r.Queries = append(r.Queries, q)
	}
	if len(r.Queries) == 0 {
		return nil, apierr.New(
			apierr.QueryEngineValidation,
			"All `queries` of the widget are switched off. Switch one on.",
			apierr.Param("queries"),
		)
	}
	for _, f := range j.source.GetFormulas() {
		text, err := j.values.formula(f.GetExpression())
		if err != nil {
			return nil, err
		}
		r.Formulas = append(r.Formulas, query.Formula{Name: f.GetName(), Expression: text, Legend: f.GetLegend(), Hidden: f.GetHidden()})
	}
	return r, nil
}

// on reports whether an optional clause of a draft applies. Without add_ons every clause applies.
func on(d *svcv2.QueryDraft, clause func(*svcv2.QueryAddOns) bool) bool {
	return d.GetAddOns() == nil || clause(d.GetAddOns())
}

func (j *job) draft(path string, d *svcv2.QueryDraft) (q query.Query, err error) {
	q.Name, q.Legend, q.Hidden = d.GetName(), d.GetLegend(), d.GetHidden()
	q.Source = query.Source(d.GetDataSource())
	if q.Source == query.Metrics {
		q.Metric = query.Metric{Name: d.GetMetricName(), Type: d.GetMetricType()}
	}
	if q.Aggregation, err = query.ParseAggregation(path, q.Source, d.GetAggregation(), d.GetValueField(), 0); err != nil {
		return q, err
	}
	if q.Filter, err = j.filter(path+".where_clause", q.Source, d.GetWhereClause()); err != nil {
		return q, err
	}
	if err = groups(path, d, &q.Spec); err != nil {
		return q, err
	}
	q.Order.Ascending = d.GetOrderByDirection() == "asc"
	if by := strings.TrimSpace(d.GetOrderBy()); by != "" && on(d, (*svcv2.QueryAddOns).GetOrderBy) {
		q.Order.ByGroup = by != "value" && by != d.GetAggregation() && !strings.EqualFold(by, d.GetName())
	}
	q.Limit = j.limit(d)
	if n, err := strconv.Atoi(d.GetSeriesLimit()); err == nil && n > 0 {
		q.SeriesLimit = min(n, limits.Series)
	}
	return q, nil
}

// groups reads the fields by which a draft groups, and the condition on its groups.
func groups(path string, d *svcv2.QueryDraft, q *query.Spec) (err error) {
	if on(d, (*svcv2.QueryAddOns).GetGroupBy) {
		for i, text := range d.GetGroupBy() {
			if text == "none" || text == "all" {
				continue
			}
			f, err := query.ParseField(q.Source, text)
			if err != nil {
				return &query.Invalid{Field: fmt.Sprintf("%s.group_by[%d]", path, i), Message: "cannot be read: " + err.Error()}
			}
			q.GroupBy = append(q.GroupBy, f)
		}
	}
	if text := d.GetHaving(); text != "" && on(d, (*svcv2.QueryAddOns).GetHaving) {
		if q.Having, err = having(text); err != nil {
			return &query.Invalid{Field: path + ".having", Message: err.Error()}
		}
	}
	return nil
}

// CheckGroups reports whether the query language can read group_by and having of a draft. It returns the first fault, or nil.
func CheckGroups(path string, d *svcv2.QueryDraft) *query.Invalid {
	q := query.Spec{Source: query.Source(d.GetDataSource())}
	var bad *query.Invalid
	if err := groups(path, d, &q); errors.As(err, &bad) {
		return bad
	}
	for i, f := range q.GroupBy {
		if problem := query.CheckGroup(q.Source, f); problem != "" {
			return &query.Invalid{Field: fmt.Sprintf("%s.group_by[%d]", path, i), Message: problem}
		}
	}
	return nil
}

// Conditions is the number of conditions that apply in `having` of a draft that CheckGroups accepts.
func Conditions(d *svcv2.QueryDraft) int {
	q := query.Spec{Source: query.Source(d.GetDataSource())}
	if groups("", d, &q) != nil {
		return 0
	}
	return len(q.Having)
}

// limit is the number of groups to return. The draft's limit comes before the limit of its data source.
func (j *job) limit(d *svcv2.QueryDraft) int {
	if n, err := strconv.Atoi(d.GetLimit()); err == nil && n > 0 && on(d, (*svcv2.QueryAddOns).GetLimit) {
		return min(n, limits.BreakdownRows)
	}
	for _, l := range []*float64{j.source.Limit, j.source.DefaultLimit} {
		if l != nil && *l >= 1 {
			return int(min(*l, limits.BreakdownRows))
		}
	}
	return 0
}

// filter reads a filter after writing the values of variables into it.
func (j *job) filter(path string, s query.Source, text string) (query.Filter, error) {
	if name := UnknownVariable(text, j.values.variables); name != "" { // the definition was saved before this was refused
		j.warn(fmt.Sprintf("%s refers to $%s, a variable that the dashboard does not have: it is compared with these letters.", path, name))
	}
	f, err := query.ParseWhereExcept(s, j.values.where(text), allMark)
	if err != nil {
		return f, &query.Invalid{Field: path, Message: "cannot be read: " + err.Error()}
	}
	return f, nil
}

var havingClause = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9_.()]*\s*)?(=|!=|>=|<=|>|<)\s*(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$`)

var conjunction = regexp.MustCompile(`(?i)\s+and\s+`)

// having reads conditions on a value, such as `> 10` or `count > 10 AND count < 100`.
func having(text string) (out []query.Having, err error) {
	for _, part := range conjunction.Split(strings.TrimSpace(text), -1) {
		m := havingClause.FindStringSubmatch(part)
		if m == nil {
			return nil, fmt.Errorf("must be comparisons of the value with numbers, joined by AND, as `> 10`, not %q", part)
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, fmt.Errorf("has the number %q, which is too large", m[2])
		}
		out = append(out, query.Having{Op: query.Op(m[1]), Value: n})
	}
	return out, nil
}

// bucket is the length of the buckets. It is the length in the first draft if that fits. Otherwise it gives about the wanted
// number of points.
func (j *job) bucket() time.Duration {
	for _, d := range j.source.GetQueries() {
		text := d.GetStepInterval()
		if text == "" {
			continue
		}
		step, ok := interval(text)
		if ok && j.window.Length()/step < limits.Buckets-1 {
			return step
		}
		j.warn(fmt.Sprintf("The step_interval %q does not fit the window; the length of the buckets follows from it.", text))
		break
	}
	if j.req.Points > 0 {
		return query.AutoBucket(j.window, j.req.Points)
	}
	return 0
}

// interval reads a number of seconds, or a number with the unit s, m, h or d.
func interval(text string) (time.Duration, bool) {
	unit := time.Second
	switch text[len(text)-1] {
	case 'm':
		unit = time.Minute
	case 'h':
		unit = time.Hour
	case 'd':
		unit = 24 * time.Hour
	}
	n, err := strconv.ParseUint(strings.TrimRight(text, "smhd"), 10, 31)
	if err != nil || n == 0 || time.Duration(n) > limits.TimeseriesWindow/unit {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// Query converts a draft that stands outside of a dashboard, where no variables are. A reference to a variable is an error.
func Query(path string, d *svcv2.QueryDraft) (query.Query, error) {
	if name := UnknownVariable(d.GetWhereClause(), nil); name != "" {
		return query.Query{}, &query.Invalid{
			Field:   path + ".where_clause",
			Message: fmt.Sprintf("refers to the variable $%s, which does not exist here", name),
		}
	}
	j := &job{source: &svcv2.WidgetDataSource{}, out: &svcv2.WidgetData{}}
	return j.draft(path, d)
}
