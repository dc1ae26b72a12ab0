package query

import (
	"fmt"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// FromProto reads the queries of a svc.v2.QueryService request. Errors are *Invalid.
func FromProto(specs []*svcv2.QuerySpec, formulas []*svcv2.QueryFormulaSpec, comparison *svcv2.QueryComparison) (*Request, error) {
	r := &Request{Comparison: Comparison{Previous: comparison.GetMode() == "previous_period", Percent: comparison.GetIncludePercentChange()}}
	if r.Comparison.Percent && !r.Comparison.Previous {
		return nil, invalid("comparison.include_percent_change", "needs the mode previous_period")
	}
	for i, in := range specs {
		q, err := queryFromProto(fmt.Sprintf("queries[%d]", i), in)
		if err != nil {
			return nil, err
		}
		r.Queries = append(r.Queries, q)
	}
	for _, f := range formulas {
		r.Formulas = append(r.Formulas, Formula{Name: f.GetName(), Expression: f.GetExpression(), Legend: f.GetLegend(), Hidden: f.GetHidden()})
	}
	return r, nil
}

func queryFromProto(path string, in *svcv2.QuerySpec) (Query, error) {
	q := Query{Name: in.GetName(), Legend: in.GetLegend(), Hidden: in.GetHidden()}
	q.Source = Source(in.GetSource())
	q.Metric = Metric{Name: in.GetMetric().GetName(), Type: in.GetMetric().GetType()}
	q.Limit, q.SeriesLimit = int(in.GetLimit()), int(in.GetSeriesLimit())
	q.Order = Order{ByGroup: in.GetOrder().GetBy() == "group", Ascending: in.GetOrder().GetDirection() == "asc"}
	var err error
	if q.Aggregation, err = ParseAggregation(path, q.Source, in.GetAggregation(), in.GetValueField(),
		time.Duration(in.GetApdexThresholdMs()*1e6)); err != nil {
		return q, err
	}
	where, err := ParseWhere(q.Source, in.GetWhere())
	if err != nil {
		return q, BadWhere(path+".where", err)
	}
	tree := Filter{}
	if in.GetFilter() != nil {
		if tree, err = filterFromProto(path+".filter", q.Source, in.GetFilter(), 0); err != nil {
			return q, err
		}
		if err := tree.Validate(path+".filter", q.Source); err != nil {
			return q, err
		}
	}
	q.Filter = And(tree, where)
	for i, text := range in.GetGroupBy() {
		f, err := ParseField(q.Source, text)
		if err != nil {
			return q, invalid(fmt.Sprintf("%s.group_by[%d]", path, i), "cannot be read: %s", err)
		}
		q.GroupBy = append(q.GroupBy, f)
	}
	for _, h := range in.GetHaving() {
		q.Having = append(q.Having, Having{Op: Op(h.GetOperator()), Value: h.GetValue()})
	}
	return q, nil
}

func filterFromProto(path string, s Source, in *svcv2.QueryFilter, depth int) (Filter, error) {
	if depth > maxFilterDepth {
		return Filter{}, invalid(path, "is nested more than %d deep", maxFilterDepth)
	}
	set := 0
	for _, is := range []bool{len(in.GetAll()) > 0, len(in.GetAny()) > 0, in.GetNot() != nil, in.Field != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return Filter{}, invalid(path, "must have one of all, any, not and field")
	}
	if in.Field == nil && (in.Operator != nil || in.GetValue() != nil || len(in.GetValues()) > 0) {
		return Filter{}, invalid(path, "has an operator or a value without a field")
	}
	list := func(name string, in []*svcv2.QueryFilter) (out []Filter, err error) {
		for i, child := range in {
			f, err := filterFromProto(fmt.Sprintf("%s.%s[%d]", path, name, i), s, child, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
		return out, nil
	}
	switch {
	case len(in.GetAll()) > 0:
		all, err := list("all", in.GetAll())
		return Filter{All: all}, err
	case len(in.GetAny()) > 0:
		alternatives, err := list("any", in.GetAny())
		return Filter{Any: alternatives}, err
	case in.GetNot() != nil:
		f, err := filterFromProto(path+".not", s, in.GetNot(), depth+1)
		return Filter{Not: &f}, err
	}
	m, err := matchFromProto(path, s, in)
	return Filter{Match: m}, err
}

func matchFromProto(path string, s Source, in *svcv2.QueryFilter) (*Match, error) {
	f, err := ParseField(s, in.GetField())
	if err != nil {
		return nil, invalid(path+".field", "cannot be read: %s", err)
	}
	m := &Match{Field: f, Op: Op(in.GetOperator())}
	if in.Operator == nil {
		return nil, invalid(path+".operator", "is required with a field")
	}
	values := in.GetValues()
	if in.GetValue() != nil {
		if len(values) > 0 {
			return nil, invalid(path+".values", "must be left out beside value")
		}
		values = append(values, in.GetValue())
	}
	for _, v := range values {
		text, ok := valueText(v)
		if !ok {
			return nil, invalid(path+".value", "must be text, a finite number or a boolean")
		}
		m.Values = append(m.Values, text)
	}
	return m, nil
}
