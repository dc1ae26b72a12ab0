package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/wording"
)

const otherGroups = "(all others)"

type dataResult struct {
	TimeRange tool.TimeRange `json:"timeRange"`
	Kind      string         `json:"kind"`
	Metric    string         `json:"metric"`
	// GroupBy has the keys of the groups, with ", " between them.
	GroupBy *string `json:"groupBy,omitempty"`
	// Counted says which rows the values are of, and whether they are corrected for sampling.
	Counted string `json:"counted"`
	// Environments are those of the counted rows, the most frequent first.
	Environments []string  `json:"environments,omitempty"`
	Decisions    []string  `json:"decisions,omitempty"`
	Context      queryEcho `json:"queryContext"`
	// Unit is the unit of the values in Result, for example "ms", or "ratio" (0 to 1). It is empty for counts.
	Unit      string     `json:"unit,omitempty"`
	Result    dataPoints `json:"result"`
	Truncated bool       `json:"truncated"`
}

// group is one key of the groups.
type group struct {
	// way is the argument, and key its name for readers: of an attribute, the key of the attribute.
	way, key string
}

type queryEcho struct {
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`
}

type dataPoints struct {
	Kind string      `json:"kind"`
	Data []dataPoint `json:"data"`
}

type dataPoint struct {
	Bucket string             `json:"bucket,omitempty"`
	Series map[string]float64 `json:"series,omitempty"`
	Name   *string            `json:"name,omitempty"`
	Value  *float64           `json:"value,omitempty"`
}

type queryDataArgs struct {
	Source           string `required:"true" of:"QuerySpec.source" example:"traces"`
	Kind             string `required:"true" of:"WidgetDataSource.result_shape" except:"list" example:"timeseries"`
	Metric           *metric
	GroupBy          grouping
	Service          *string `doc:"Exact name."`
	Environments     []string
	CommitShas       []string
	SpanName         *string
	RootSpansOnly    *bool
	ApdexThresholdMs *float64 `of:"QuerySpec.apdex_threshold_ms" range:"1.."`
	Severity         *string  `of:"LogFilters.severity"`
	MetricName       *string  `doc:"For source=metrics."`
	MetricType       *string  `doc:"Needed only for a metric of several types." of:"QueryMetric.type"`
	EventName        []string
	EventKind        []string
	Host             *string
	PagePath         *string
	AttributeKey     *string `doc:"Attribute to filter by, and to group by with group_by=attribute."`
	AttributeValue   *string `doc:"Exact value of attribute_key."`
	AttributeScope   *string `of:"ListAttributeKeysRequest.scope" except:"link"`
	Where            *string `doc:"More conditions, for example duration > 500 AND attr.http.route = '/cart'."`
	tool.Window
	BucketSeconds *int `of:"QueryTimeseriesRequest.bucket_seconds"`
	Limit         int  `default:"10" of:"QuerySpec.limit" clamp:""`

	// groups are the keys of GroupBy, or the default.
	groups []group
	// partOfName and onResource say how resolveNames understood names that the call leaves ambiguous.
	partOfName, onResource bool
}

// metric is the name of a metric of a source.
type metric string

// Describe lists the metrics of every source.
func (metric) Describe() string {
	sources, err := tool.Choices("QuerySpec.source")
	if err != nil {
		return "" // cannot happen: paramsOf reads the same field of the contract for the parameter source
	}
	var parts []string
	for _, source := range sources {
		parts = append(parts, source+": "+strings.Join(metricsOf(source), ", "))
	}
	return strings.Join(parts, "; ") + "."
}

// metricsOf lists the metrics of a source: the aggregations that need no value_field, which this tool does not have.
func metricsOf(source string) []string {
	s := query.Source(source)
	return slices.DeleteFunc(query.Aggregations(s), func(name string) bool {
		_, err := query.ParseAggregation("", s, name, "", 0)
		return err != nil
	})
}

// grouping is a list of ways to group. The query language takes any field; these are the fields that every organization has.
type grouping []string

// groupings lists the ways to group that the contract has for any source. Those that need attribute_key come last.
func groupings() []string {
	var names, keyed []string
	for _, request := range []string{"Trace", "Log", "Metric", "ProductEvent"} {
		choices, err := tool.Choices("Query" + request + "BreakdownRequest.group_by")
		if err != nil {
			return nil // cannot happen: the golden files of the tools show the list
		}
		for _, name := range choices {
			if slices.Contains(slices.Concat(names, keyed), name) {
				continue
			}
			if ofAttribute(name) {
				keyed = append(keyed, name)
			} else {
				names = append(names, name)
			}
		}
	}
	return append(names, keyed...)
}

// ofAttribute reports whether a way to group needs attribute_key.
func ofAttribute(group string) bool { return strings.HasSuffix(group, "attribute") }

// Describe lists the ways to group.
func (grouping) Describe() string {
	return "At most 5 of " + strings.Join(groupings(), ", ") + " (both need attribute_key), attr.KEY, resource.KEY, none."
}

// groupField is the field of the query language for a way to group.
func groupField(source query.Source, group, key string) string {
	switch {
	case group == "resource_attribute":
		return "resource." + key
	case ofAttribute(group):
		return "attr." + key
	}
	if name, ok := query.CanonicalField(source, group); ok {
		return name
	}
	return group
}

func newQueryData(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[dataResult](&tool.Tool{
		Name:  "query_data",
		Title: "Query",
		Description: "Compute a time series, or the groups with the highest values (breakdown), of spans, logs, one metric or product events, in at most " + limits.Lasts(
			limits.TimeseriesWindow,
		) + ".",
		Run: tool.With(func(ctx context.Context, a *queryDataArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.TimeseriesWindow)
			if err != nil {
				return nil, err
			}
			if err := resolveNames(ctx, s, a, w); err != nil {
				return nil, err
			}
			spec, res, err := spec(a, w)
			if err != nil {
				return nil, err
			}
			var out *tool.Answer
			var environments []string
			err = tool.Parallel(
				func() (err error) { environments, err = tool.EnvironmentsOf(ctx, s, w, spec); return err },
				func() (err error) {
					if res.Kind == "breakdown" {
						out, err = queryBreakdown(ctx, s, a, w, spec, res)
					} else {
						out, err = queryTimeseries(ctx, s, a, w, spec, res)
					}
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			res.Environments = environments
			out.Text.Notes = append(out.Text.Notes, tool.MixedNotes("environments", environments)...)
			return out, nil
		}),
	})
}

// spec converts the arguments to a query of the engine. Every condition is a value in its tree, never text.
func spec(a *queryDataArgs, w tool.TimeRange) (*svcv2.QuerySpec, *dataResult, error) {
	res := &dataResult{TimeRange: w, Kind: a.Kind, Context: queryEcho{Source: a.Source}}
	source := res.Context.Source
	fallback := "count"
	if source == "metrics" {
		fallback = "avg"
	}
	if res.Metric = string(tool.Or(a.Metric, "")); res.Metric == "" {
		res.Metric = fallback
		res.Decisions = append(res.Decisions, "metric="+fallback)
	}
	if known := metricsOf(source); !slices.Contains(known, res.Metric) {
		return nil, nil, a.Bad(&a.Metric, fmt.Sprintf("is %q; source=%s has %s.", res.Metric, source, strings.Join(known, ", ")), known[0])
	}
	ways := slices.DeleteFunc(slices.Clone(a.GroupBy), func(way string) bool { return way == "none" })
	if len(a.GroupBy) == 0 && res.Kind == "breakdown" {
		ways = grouping{"service"}
		if source == "product_events" {
			ways = grouping{"event_name"}
		}
		res.Decisions = append(res.Decisions, "group_by="+ways[0])
	}
	keyed := slices.IndexFunc(ways, ofAttribute)
	filter := &svcv2.QueryFilter{}
	var echo []string
	add := func(field, op string, values ...any) {
		one := &svcv2.QueryFilter{Field: &field, Operator: &op}
		text := field + " " + op
		switch {
		case op == "in":
			for _, v := range values {
				one.Values = append(one.Values, tool.StructValue(v))
			}
			text += fmt.Sprintf(" %v", values)
		case len(values) > 0:
			one.Value = tool.StructValue(values[0])
			text += fmt.Sprintf(" %v", values[0])
		}
		filter.All, echo = append(filter.All, one), append(echo, text)
	}
	for field, v := range map[string]*string{
		"service.name": a.Service, "span.name": a.SpanName, "severity": a.Severity, "host": a.Host,
		"page.path": a.PagePath,
	} {
		if v != nil {
			op := "="
			if v == a.SpanName && a.partOfName {
				op = "contains"
				res.Decisions = append(res.Decisions, "span_name as a part of names, because no span has exactly this name")
			}
			add(field, op, *v)
		}
	}
	slices.SortFunc(filter.All, func(x, y *svcv2.QueryFilter) int { return strings.Compare(x.GetField(), y.GetField()) })
	slices.Sort(echo)
	commit := "deployment.commit_sha" // the field of the language, which reads all of query.CommitKeys
	if source == "product_events" {
		commit = "resource." + query.CommitKeys()[0] // they have no such field
	}
	for _, f := range []struct {
		field string
		list  []string
	}{{"deployment.environment", a.Environments}, {"event_name", a.EventName}, {"kind", a.EventKind}, {commit, a.CommitShas}} {
		if len(f.list) > 0 {
			var values []any
			for _, v := range f.list {
				values = append(values, v)
			}
			add(f.field, "in", values...)
		}
	}
	if tool.Or(a.RootSpansOnly, false) {
		add("root_only", "=", true)
	}
	key := tool.Or(a.AttributeKey, "")
	if keyed >= 0 && key == "" {
		return nil, nil, a.Bad(&a.AttributeKey, "is required to group by "+ways[keyed]+".", "http.route")
	}
	if key != "" {
		field := "attr." + key
		if tool.Or(a.AttributeScope, "") == "resource" || a.onResource || slices.Contains(ways, "resource_attribute") {
			field = "resource." + key
			if a.onResource {
				res.Decisions = append(res.Decisions, "attribute_scope=resource")
				if keyed >= 0 {
					ways[keyed] = "resource_attribute"
				}
			}
		} else if tool.Or(a.AttributeScope, "") == "event" {
			field = "event." + key
		}
		switch v := a.AttributeValue; {
		case v != nil:
			add(field, "=", *v)
		case keyed < 0:
			add(field, "exists")
		}
	} else if a.AttributeValue != nil {
		return nil, nil, a.Bad(&a.AttributeValue, "needs attribute_key, the name of the attribute that has this value.", "")
	}
	spec := &svcv2.QuerySpec{Name: "A", Source: source, Aggregation: res.Metric, Where: a.Where, ApdexThresholdMs: a.ApdexThresholdMs}
	if len(filter.All) > 0 {
		spec.Filter = filter
	}
	res.Context.Where = strings.Join(append(echo, tool.Or(a.Where, "")), " AND ")
	res.Context.Where = strings.TrimSuffix(res.Context.Where, " AND ")
	for _, way := range ways {
		spec.GroupBy = append(spec.GroupBy, groupField(query.Source(source), way, key))
		shown := way
		if ofAttribute(way) {
			shown = key
		}
		a.groups = append(a.groups, group{way, shown})
	}
	if len(ways) > 0 {
		res.GroupBy = new(strings.Join(ways, ", "))
	}
	res.Counted = countedRows(source, tool.Or(a.RootSpansOnly, false))
	if source == "metrics" {
		name := a.MetricName
		if name == nil {
			return nil, nil, a.Bad(&a.MetricName, "is required for source=metrics. list_metrics has the names.", "http.server.request.duration")
		}
		spec.Metric = &svcv2.QueryMetric{Name: *name, Type: tool.Or(a.MetricType, "")}
	}
	limit := int32(a.Limit)
	spec.Limit, spec.SeriesLimit = &limit, &limit
	return spec, res, nil
}

// countedRows says which rows a query of a source counts.
func countedRows(source string, rootsOnly bool) string {
	switch {
	case source == "traces" && rootsOnly:
		return "root spans, corrected for sampling"
	case source == "traces":
		return "all spans, not only entry spans, corrected for sampling"
	case source == "logs":
		return "records as received"
	case source == "metrics":
		return "data points as received"
	}
	return "events as received"
}

func queryBreakdown(
	ctx context.Context,
	s *tool.Clients,
	a *queryDataArgs,
	w tool.TimeRange,
	spec *svcv2.QuerySpec,
	res *dataResult,
) (*tool.Answer, error) {
	out, err := s.Query.QueryBreakdown(
		ctx,
		&svcv2.QueryBreakdownRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Queries: []*svcv2.QuerySpec{spec}},
	)
	if err != nil {
		return nil, err
	}
	if c := out.GetColumns(); len(c) > 0 {
		res.Unit = c[0].GetUnit()
	}
	res.Result, res.Truncated = dataPoints{Kind: "breakdown", Data: []dataPoint{}}, out.GetTruncated()
	var cells [][]string
	for _, r := range out.GetData() {
		name := r.GetName()
		if r.GetOther() {
			name = otherGroups
		}
		p := dataPoint{Name: &name}
		shown := ""
		if v := r.GetValues(); len(v) > 0 && v[0].Value != nil {
			p.Value, shown = v[0].Value, res.shown(v[0].GetValue())
		}
		res.Result.Data = append(res.Result.Data, p)
		cells = append(cells, append(groupCells(r, name, len(a.groups)), shown))
	}
	heads := []string{"all"}
	if len(a.groups) > 0 {
		heads = nil
		for _, g := range a.groups {
			heads = append(heads, g.key)
		}
	}
	text := dataText(a, w, res, out.GetWarnings())
	text.Blocks = []tool.Block{
		tool.Table(
			"",
			"Nothing matches. Look up names with explore_attributes or list_metrics, or try a longer time range.",
			append(heads, res.heading()),
			cells,
		),
	}
	text.Shown = tool.ShownOf(len(cells), out.GetTruncated(), "groups")
	text.Next = dataNext(a, w, res)
	return &tool.Answer{Data: res, Text: text}, nil
}

// groupCells are the values of the keys of a group, one in each column.
func groupCells(r *svcv2.QueryRow, name string, keys int) []string {
	if keys < 2 {
		return []string{wording.Clip(name, 200)}
	}
	cells := make([]string, keys)
	for i := range cells {
		switch g := r.GetGroup(); {
		case r.GetOther() && i == 0:
			cells[i] = otherGroups
		case r.GetOther() || i >= len(g):
		case g[i] == "":
			cells[i] = "(none)"
		default:
			cells[i] = wording.Clip(g[i], 200)
		}
	}
	return cells
}

// heading names the metric with its unit. A share is printed in percent, so its numbers carry their unit themselves.
func (r *dataResult) heading() string {
	if r.Unit == "" || r.Unit == query.UnitRatio {
		return r.Metric
	}
	return r.Metric + " (" + r.Unit + ")"
}

// shown prints a value. It prints an error rate in percent; the structured result has it as a ratio, with that unit.
func (r *dataResult) shown(v float64) string {
	if r.Metric == string(query.ErrorRate) {
		return wording.Percent(v)
	}
	return wording.Number(v)
}

func queryTimeseries(
	ctx context.Context,
	s *tool.Clients,
	a *queryDataArgs,
	w tool.TimeRange,
	spec *svcv2.QuerySpec,
	res *dataResult,
) (*tool.Answer, error) {
	req := &svcv2.QueryTimeseriesRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Queries: []*svcv2.QuerySpec{spec}}
	if b := a.BucketSeconds; b != nil {
		n := int32(*b)
		req.BucketSeconds = &n
	}
	out, err := s.Query.QueryTimeseries(ctx, req)
	if err != nil {
		return nil, err
	}
	if s := out.GetSeries(); len(s) > 0 {
		res.Unit = s[0].GetUnit()
	}
	res.Result, res.Truncated = dataPoints{Kind: "timeseries", Data: []dataPoint{}}, out.GetTruncated()
	var names []string
	at := map[time.Time]map[string]float64{}
	var order []time.Time
	for _, series := range out.GetSeries() {
		name := strings.Join(series.GetGroup(), ", ")
		switch {
		case series.GetOther():
			name = otherGroups
		case name == "" && res.GroupBy != nil:
			name = "(none)" // the rows do not have the field
		case name == "":
			name = res.Metric
		}
		names = append(names, name)
		for _, p := range series.GetPoints() {
			t := p.GetTimestamp().AsTime()
			if at[t] == nil {
				at[t] = map[string]float64{}
				order = append(order, t)
			}
			at[t][name] = p.GetValue()
		}
	}
	slices.SortFunc(order, time.Time.Compare)
	var cells [][]string
	for _, t := range order {
		res.Result.Data = append(res.Result.Data, dataPoint{Bucket: wording.Clock(t), Series: at[t]})
		line := []string{wording.Clock(t)}
		for _, name := range names {
			shown := ""
			if v, ok := at[t][name]; ok {
				shown = res.shown(v)
			}
			line = append(line, shown)
		}
		cells = append(cells, line)
	}
	text := dataText(a, w, res, out.GetWarnings())
	heads := []string{"Bucket"}
	for _, name := range names {
		heads = append(heads, wording.Clip(wording.OneLine(name), 60))
	}
	text.Blocks = []tool.Block{
		tool.Table(
			res.heading(),
			"Nothing matches. Look up names with explore_attributes or list_metrics, or try a longer time range.",
			heads,
			cells,
		),
	}
	if len(cells) > 0 {
		text.Shown = fmt.Sprintf("Shown: %d buckets of %d series.", len(cells), len(names))
	}
	text.Next = dataNext(a, w, res)
	return &tool.Answer{Data: res, Text: text}, nil
}

func dataText(a *queryDataArgs, w tool.TimeRange, res *dataResult, warnings []string) tool.Page {
	text := tool.Page{Scope: append([]tool.Pair{w.Label()}, tool.Labeled("source", res.Context.Source), tool.Labeled("metric", res.Metric),
		tool.Labeled("counted", res.Counted))}
	if res.Context.Where != "" {
		text.Scope = append(text.Scope, tool.Labeled("where", res.Context.Where))
	}
	text.Notes = append(text.Notes, warnings...)
	if len(res.Decisions) > 0 {
		text.Notes = append(text.Notes, "Defaults: "+strings.Join(res.Decisions, ", ")+".")
	}
	if res.Kind == "timeseries" && !w.To.Before(a.Now) {
		text.Notes = append(text.Notes, "The last bucket is not complete yet.")
	}
	return text
}
