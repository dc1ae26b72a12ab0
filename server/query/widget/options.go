package widget

import (
	"context"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// optionRows is the number of latest rows that are searched for values.
	optionRows = limits.AttributeRows
	// optionSlice is the last part of a window, which is read first.
	optionSlice = time.Hour
)

// field is the field whose values a variable lists.
func field(s *svcv2.VariableSource) (query.Source, query.Field) {
	builtin := func(key string) query.Field { return query.Field{Key: key} }
	if s.GetKind() == "attribute" {
		if s.GetScope() == "resource" {
			return query.Traces, query.Field{Scope: query.ResourceAttribute, Key: s.GetAttributeKey()}
		}
		return query.Traces, query.Field{Scope: query.OwnAttribute, Key: s.GetAttributeKey()}
	}
	switch s.GetFacet() {
	case "environment":
		return query.Traces, builtin("deployment.environment")
	case "span_name":
		return query.Traces, builtin("span.name")
	case "http_method":
		return query.Traces, builtin("http.method")
	case "http_status_code":
		return query.Traces, builtin("http.status_code")
	case "log_severity":
		return query.Logs, builtin("severity")
	default:
		return query.Traces, builtin("service.name")
	}
}

// Options lists the values of a variable that were sent in a window, most frequent first. For a custom variable it lists the
// variable's options.
func (r *Resolver) Options(
	ctx context.Context,
	org principal.OrgID,
	v *svcv2.DashboardVariable,
	w query.Window,
	search string,
) ([]*svcv2.VariableOption, error) {
	out := []*svcv2.VariableOption{}
	switch v.GetType() {
	case "custom":
		for _, o := range v.GetOptions() {
			if strings.Contains(strings.ToLower(o.GetValue()+" "+o.GetLabel()), strings.ToLower(search)) {
				out = append(out, o)
			}
		}
		return out, nil
	case "textbox":
		return out, nil
	}
	source, f := field(v.GetSource())
	list := reads.AttributeValueList{
		Source: source, Slice: w, Field: &f, Search: search, MaxRows: optionRows,
		MaxDistinct: limits.VariableValues,
	}
	statement := reads.AttributeValues
	if query.RollupColumn(source, f) != "" {
		statement = reads.RolledUpValues
	} else if w.Length() > optionSlice {
		// Read the latest values first. Read the whole window only if its end has no values.
		list.Slice.Start = w.End.Add(-optionSlice)
	}
	rows, err := read.All[reads.AttributeValueRow](ctx, r.warehouse, org, statement(list))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && list.Slice != w {
		list.Slice = w
		if rows, err = read.All[reads.AttributeValueRow](ctx, r.warehouse, org, statement(list)); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		out = append(out, &svcv2.VariableOption{Value: row.Value})
	}
	return out, nil
}

// lists gives the values for the variables of a statement. For a variable that stands for every value it gives the list of all
// options.
func (j *job) lists(ctx context.Context, sql string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, v := range j.values.variables {
		name := v.GetName()
		if !uses(sql, name) {
			continue
		}
		value := j.values.byName[name]
		if value != All {
			out[name] = []string{value}
			continue
		}
		if v.GetType() == "textbox" {
			return nil, apierr.New(
				apierr.QueryEngineValidation,
				"The variable "+name+" has no value, so the statement cannot be completed. Give a value: a text box has no list of all values.",
				apierr.Param("variable_values."+name),
			)
		}
		options, err := j.Options(ctx, j.org, v, j.window, "")
		if err != nil {
			return nil, err
		}
		if len(options) == limits.VariableValues {
			j.warn("The variable " + name + " stands for its " + "100 most frequent values.")
		}
		list := []string{}
		for _, o := range options {
			list = append(list, o.GetValue())
		}
		out[name] = list
	}
	return out, nil
}
