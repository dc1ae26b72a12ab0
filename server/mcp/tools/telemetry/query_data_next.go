package telemetry

import (
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// dataNext suggests calls after a result: they examine its largest group or its steepest rise, or list the existing names if the
// result is empty.
func dataNext(a *queryDataArgs, w tool.TimeRange, res *dataResult) []tool.Suggestion {
	source := res.Context.Source
	if len(res.Result.Data) == 0 {
		switch source {
		case "metrics":
			return []tool.Suggestion{
				tool.Next(
					"list_metrics",
					tool.ClampWindow(a.Again(w, nil, &a.Service), w, limits.MetricWindow),
					"the metrics that exist, with their types",
				),
			}
		case "product_events":
			return []tool.Suggestion{
				tool.Next("list_product_events", tool.ClampWindow(a.Again(w, nil), w, limits.ActivityWindow), "the events that exist"),
			}
		}
		return []tool.Suggestion{
			tool.Next("list_services", a.Again(w, nil), "the services that send data"),
			tool.Next(
				"explore_attributes",
				tool.ClampWindow(a.Again(w, map[string]any{"source": source}, &a.Service), w, limits.AttributeWindow),
				"the attributes that exist",
			),
		}
	}
	var next []tool.Suggestion
	switch rise := res.steepest(); {
	case res.Kind == "breakdown":
		next = groupNext(a, w, res)
	case !rise.IsZero() && source != "product_events":
		next = []tool.Suggestion{
			tool.Next(
				"compare_periods",
				a.Again(w, map[string]any{"around_time": wording.Clock(rise)}, &a.Service),
				"changes at the steepest rise of the values",
			),
		}
		delete(next[0].Args, "start_time")
		delete(next[0].Args, "end_time")
	}
	fields := []any{
		&a.Source,
		&a.Metric,
		&a.Service,
		&a.Environments,
		&a.CommitShas,
		&a.SpanName,
		&a.RootSpansOnly,
		&a.ApdexThresholdMs,
		&a.Severity,
		&a.MetricName,
		&a.MetricType,
		&a.EventName,
		&a.EventKind,
		&a.Host,
		&a.PagePath,
		&a.Where,
	}
	switch {
	case res.Kind == "breakdown":
		next = append(
			next,
			tool.Next(
				"query_data",
				a.Again(w, map[string]any{"kind": "timeseries"}, append(fields, &a.GroupBy, &a.AttributeKey, &a.AttributeValue, &a.AttributeScope)...),
				"the same over time",
			),
		)
	case res.GroupBy == nil && w.Length() <= limits.BreakdownWindow:
		next = append(
			next,
			tool.Next(
				"query_data",
				a.Again(w, map[string]any{"kind": "breakdown"}, append(fields, &a.AttributeKey, &a.AttributeValue, &a.AttributeScope)...),
				"the groups with the highest values",
			),
		)
	}
	return next
}

// groupNext examines the first group of a breakdown.
func groupNext(a *queryDataArgs, w tool.TimeRange, res *dataResult) []tool.Suggestion {
	first := ""
	for _, p := range res.Result.Data {
		if p.Name != nil && *p.Name != "" && *p.Name != otherGroups {
			first = *p.Name
			break
		}
	}
	if first == "" || len(a.groups) != 1 {
		return nil
	}
	within := func(more map[string]any) map[string]any {
		return tool.ClampWindow(a.Again(w, more, &a.Service), w, limits.SearchWindow)
	}
	switch source, group := res.Context.Source, a.groups[0].way; {
	case group == "service" && source != "product_events":
		return []tool.Suggestion{
			tool.Next("diagnose_service", within(map[string]any{"service": first}), "changes in the first group, and their causes"),
		}
	case source == "traces" && group == "span_name":
		return []tool.Suggestion{tool.Next("search_traces", within(map[string]any{"span_name": first}), "traces of the first group")}
	case source == "traces" && group == "attribute":
		return []tool.Suggestion{
			tool.Next(
				"search_traces",
				within(map[string]any{a.NameOf(&a.AttributeKey): tool.Or(a.AttributeKey, ""), a.NameOf(&a.AttributeValue): first}),
				"traces of the first group",
			),
		}
	case source == "logs" && group == "severity" && usualSeverity(first):
		return []tool.Suggestion{
			tool.Next("search_logs", within(map[string]any{"severity": strings.ToUpper(first)}), "records of the first group"),
		}
	case source == "product_events" && group == "event_name" && len(res.Result.Data) > 1:
		second := res.Result.Data[1].Name
		return []tool.Suggestion{
			tool.Next(
				"query_funnel",
				a.Again(w, map[string]any{"steps_json": []any{map[string]any{"event_name": first}, map[string]any{"event_name": *second}}}),
				"the conversion from the first to the second",
			),
		}
	}
	return nil
}

// steepest is the start of the bucket in which a value rises most over the bucket before. It is zero if no value rises.
func (r *dataResult) steepest() (at time.Time) {
	most := 0.0
	for i := 1; i < len(r.Result.Data); i++ {
		for name, v := range r.Result.Data[i].Series {
			before, ok := r.Result.Data[i-1].Series[name]
			if !ok || v-before <= most {
				continue
			}
			if t, err := time.Parse(time.RFC3339Nano, r.Result.Data[i].Bucket); err == nil {
				most, at = v-before, t
			}
		}
	}
	return at
}

// usualSeverity reports whether search_logs takes a severity.
func usualSeverity(text string) bool {
	known, err := tool.Choices("LogFilters.severity")
	return err == nil && slices.Contains(known, strings.ToUpper(text))
}
