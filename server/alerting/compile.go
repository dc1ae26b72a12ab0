package alerting

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/store"
)

// plan is how the figures of a rule are read.
type plan struct {
	// request is a breakdown over the window of an evaluation; its window is not set. It is nil for a rule with SQL.
	request *query.Request
	// value is the name of the column with the value, samples that of the number of samples.
	value, samples string
	// grouped is true when each group of the breakdown is a group of the rule.
	grouped bool
	// scale is multiplied with the value.
	scale    float64
	sql      string
	burn     *Burn
	baseline *Baseline
}

// The names of the queries that a plan adds to those of a rule.
const (
	valueQuery   = "Z1"
	samplesQuery = "Z2"
)

// Invalid reports a field of a rule that cannot be evaluated.
type Invalid struct{ Field, Message string }

func (e *Invalid) Error() string { return "`" + e.Field + "` " + e.Message }

// Validate reports whether a rule can be evaluated. Its error is an *Invalid.
func Validate(r *store.AlertRule) error {
	_, err := compile(r)
	return err
}

func compile(r *store.AlertRule) (p *plan, err error) {
	switch r.SignalType {
	case "builder_query":
		p, err = compileDraft(r)
	case "raw_query":
		p, err = compileSQL(r)
	default:
		p, err = compileSignal(r)
	}
	if err != nil {
		return nil, err
	}
	if p.burn, err = compileBurn(r); err != nil {
		return nil, err
	}
	if p.baseline, err = compileBaseline(r); err != nil {
		return nil, err
	}
	return p, nil
}

// compileSignal makes the plan of a signal of services: it reads entry spans, weighted by their sampling.
func compileSignal(r *store.AlertRule) (*plan, error) {
	a := query.Aggregation{}
	p := &plan{value: valueQuery, samples: samplesQuery, scale: 1}
	duration := query.Field{Key: "duration"}
	switch r.SignalType {
	case "error_rate":
		a.Func = query.ErrorRate
	case "p95_latency":
		a.Func, a.Value, a.Level = query.Quantile, &duration, 0.95
	case "p99_latency":
		a.Func, a.Value, a.Level = query.Quantile, &duration, 0.99
	case "apdex":
		a.Func, a.Threshold = query.Apdex, limits.DefaultApdex
		if r.ApdexThresholdMs != nil {
			a.Threshold = time.Duration(*r.ApdexThresholdMs * float64(time.Millisecond))
		}
	case "throughput":
		a.Func = query.Count
		p.scale = 1 / float64(r.WindowMinutes)
	default:
		return nil, &Invalid{"signal_type", fmt.Sprintf("has the unknown signal %q.", r.SignalType)}
	}
	filters := []query.Filter{equals("is_entry", "true")}
	for field, values := range map[string][]string{"service.name": r.ServiceNames, "deployment.environment": r.Environments} {
		if len(values) > 0 {
			filters = append(filters, oneOf(field, query.OpIn, values))
		}
	}
	if len(r.ExcludeServiceNames) > 0 {
		filters = append(filters, oneOf("service.name", query.OpNotIn, r.ExcludeServiceNames))
	}
	// Of too many groups, those nearest to a breach are kept.
	spec := query.Spec{
		Source: query.Traces, Filter: query.And(filters...), Limit: limits.AlertGroups, Groups: limits.AlertGroups,
		Order: query.Order{Ascending: r.Comparator == "lt" || r.Comparator == "lte"},
	}
	for i, text := range r.GroupBy {
		f, err := query.ParseField(query.Traces, text)
		if err != nil {
			return nil, &Invalid{fmt.Sprintf("group_by[%d]", i), "cannot be read: " + err.Error()}
		}
		if problem := query.CheckGroup(query.Traces, f); problem != "" {
			return nil, &Invalid{fmt.Sprintf("group_by[%d]", i), problem}
		}
		spec.GroupBy = append(spec.GroupBy, f)
	}
	if len(r.ServiceNames) > 0 {
		spec.GroupBy = []query.Field{{Key: "service.name"}}
	}
	p.grouped = len(spec.GroupBy) > 0
	value, samples := spec, spec
	value.Aggregation, samples.Aggregation = a, query.Aggregation{Func: query.Count}
	p.request = &query.Request{Queries: []query.Query{{Spec: value, Name: valueQuery}, {Spec: samples, Name: samplesQuery}}}
	return p, nil
}

func equals(field, value string) query.Filter {
	return query.Filter{Match: &query.Match{Field: query.Field{Key: field}, Op: query.OpEqual, Values: []string{value}}}
}

func oneOf(field string, op query.Op, values []string) query.Filter {
	return query.Filter{Match: &query.Match{Field: query.Field{Key: field}, Op: op, Values: values}}
}

// draft is the stored form of a query of the query builder: one query, or several with formulas.
type draft struct {
	Queries    []json.RawMessage `json:"queries"`
	Formulas   []json.RawMessage `json:"formulas"`
	Comparison struct {
		Mode string `json:"mode"`
	} `json:"comparison"`
}

// compileDraft makes the plan of a query of the query builder. A condition that gives only a warning on a chart is an error here.
func compileDraft(r *store.AlertRule) (*plan, error) {
	const field = "query_builder_draft"
	if len(r.QueryBuilderDraft) == 0 {
		return nil, &Invalid{field, "is needed for the signal builder_query."}
	}
	var d draft
	if err := json.Unmarshal(r.QueryBuilderDraft, &d); err != nil {
		return nil, &Invalid{field, "must be an object with the fields of a query of the query builder."}
	}
	if d.Comparison.Mode != "" && d.Comparison.Mode != "none" {
		return nil, &Invalid{field + ".comparison.mode", "must be `none`: an alert compares with its threshold."}
	}
	alone := d.Queries == nil
	if alone {
		d.Queries = []json.RawMessage{r.QueryBuilderDraft}
	}
	req := &query.Request{}
	p := &plan{request: req, scale: 1}
	for i, text := range d.Queries {
		path := fmt.Sprintf("%s.queries[%d]", field, i)
		if alone {
			path = field
		}
		q, on, err := draftQuery(path, text, i, r)
		if err != nil {
			return nil, err
		}
		if on {
			req.Queries = append(req.Queries, q)
		}
	}
	if len(req.Queries) == 0 {
		return nil, &Invalid{field, "has no query that is switched on."}
	}
	if err := draftFormulas(field, d.Formulas, req, p); err != nil {
		return nil, err
	}
	first := req.Queries[0]
	p.grouped = len(first.GroupBy) > 0
	counted := first.Spec
	counted.Having = nil
	if first.Source != query.Metrics {
		counted.Aggregation = query.Aggregation{Func: query.Count}
		req.Queries = append(req.Queries, query.Query{Spec: counted, Name: samplesQuery})
		p.samples = samplesQuery
	}
	check := *req
	check.Window = query.Window{Start: time.Unix(0, 0), End: time.Unix(int64(r.WindowMinutes)*60, 0)}
	if err := check.Validate(true); err != nil {
		return nil, draftInvalid(field, err)
	}
	return p, nil
}

func draftQuery(path string, text json.RawMessage, i int, r *store.AlertRule) (query.Query, bool, error) {
	d := &svcv2.QueryDraft{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, d); err != nil {
		return query.Query{}, false, &Invalid{path, "cannot be read as a query: " + strings.TrimPrefix(err.Error(), "proto: ") + "."}
	}
	if d.GetName() == "" {
		d.Name = string(rune('A' + i%25))
	}
	if widget.SwitchedOff(d) {
		return query.Query{}, false, nil
	}
	if bad := widget.CheckGroups(path, d); bad != nil {
		return query.Query{}, false, &Invalid{bad.Field, bad.Message}
	}
	q, err := widget.Query(path, d)
	if err != nil {
		return q, false, draftInvalid(path, err)
	}
	if len(r.GroupBy) > 0 {
		q.GroupBy = nil
		for n, name := range r.GroupBy {
			f, err := query.ParseField(q.Source, name)
			if err != nil {
				return q, false, &Invalid{fmt.Sprintf("group_by[%d]", n), "cannot be read: " + err.Error()}
			}
			if problem := query.CheckGroup(q.Source, f); problem != "" {
				return q, false, &Invalid{fmt.Sprintf("group_by[%d]", n), problem}
			}
			q.GroupBy = append(q.GroupBy, f)
		}
	}
	q.Limit, q.Groups, q.SeriesLimit = limits.AlertGroups, limits.AlertGroups, 0
	q.Order = query.Order{Ascending: r.Comparator == "lt" || r.Comparator == "lte"}
	return q, true, nil
}

// draftFormulas adds the formulas, and chooses the value: the last formula that is shown, else the first query that is.
func draftFormulas(field string, formulas []json.RawMessage, req *query.Request, p *plan) error {
	for i, text := range formulas {
		f := &svcv2.QueryFormula{}
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, f); err != nil {
			return &Invalid{fmt.Sprintf("%s.formulas[%d]", field, i), "cannot be read as a formula."}
		}
		req.Formulas = append(req.Formulas, query.Formula{Name: f.GetName(), Expression: f.GetExpression(), Hidden: f.GetHidden()})
		if !f.GetHidden() {
			p.value = f.GetName()
		}
	}
	if p.value != "" {
		return nil
	}
	for _, q := range req.Queries {
		if !q.Hidden {
			p.value = q.Name
			return nil
		}
	}
	return &Invalid{field, "hides all its queries, so there is no value to compare."}
}

func draftInvalid(path string, err error) error {
	var bad *query.Invalid
	if errors.As(err, &bad) {
		return &Invalid{bad.Field, bad.Message}
	}
	return &Invalid{path, "cannot be read: " + err.Error()}
}

var timeFilter = regexp.MustCompile(`\$__(timeFilter|startTime|endTime)\b`)

// compileSQL checks what a statement must have. The engine checks the rest when it runs.
func compileSQL(r *store.AlertRule) (*plan, error) {
	const field = "raw_query_sql"
	if r.RawQuerySQL == nil || strings.TrimSpace(*r.RawQuerySQL) == "" {
		return nil, &Invalid{field, "is needed for the signal raw_query."}
	}
	text := *r.RawQuerySQL
	if !strings.Contains(text, "$__orgFilter") {
		return nil, &Invalid{field, "must hold $__orgFilter in its WHERE."}
	}
	if !timeFilter.MatchString(text) {
		return nil, &Invalid{field, "must hold $__timeFilter(column) in its WHERE, so that it reads the window of the evaluation only."}
	}
	return &plan{sql: text, scale: 1}, nil
}
