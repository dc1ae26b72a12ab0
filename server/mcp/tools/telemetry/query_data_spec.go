package telemetry

import (
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
)

// group is one key of the groups.
type group struct {
	// way is the argument, and key its name for readers: of an attribute, the key of the attribute.
	way, key string
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
	for _, f := range []struct {
		field string
		list  []string
	}{
		{"deployment.environment", a.Environments},
		{"event_name", a.EventName},
		{"kind", a.EventKind},
		{"deployment.commit_sha", a.CommitShas},
	} {
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
