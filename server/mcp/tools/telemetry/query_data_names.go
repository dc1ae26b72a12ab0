package telemetry

import (
	"context"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// resolveNames looks up the meaning of names that a call leaves ambiguous. If no span has exactly the given name, the name is
// matched as a part of span names. If only resources have the given attribute, it is read as a resource attribute.
func resolveNames(ctx context.Context, s *tool.Clients, a *queryDataArgs, w tool.TimeRange) error {
	source := a.Source
	key := a.AttributeKey
	askName := source == "traces" && a.SpanName != nil
	askKey := key != nil && a.AttributeScope == nil && source != "product_events" && !slices.Contains(a.GroupBy, "resource_attribute")
	if source == "metrics" && a.MetricName == nil {
		return nil // refused later
	}
	if !askName && !askKey {
		return nil
	}
	if longest := limits.BreakdownWindow; w.Length() > longest {
		w = tool.Period(w.To.Add(-longest), w.To)
	}
	req := &svcv2.QueryBreakdownRequest{StartTime: w.StartProto(), EndTime: w.EndProto()}
	ask := func(name, field, op string, value any) {
		f := &svcv2.QueryFilter{Field: &field, Operator: &op}
		if value != nil {
			f.Value = tool.StructValue(value)
		}
		q := &svcv2.QuerySpec{Name: name, Source: source, Aggregation: "count", Filter: &svcv2.QueryFilter{All: []*svcv2.QueryFilter{f}}}
		if source == "metrics" {
			q.Metric = &svcv2.QueryMetric{Name: *a.MetricName, Type: tool.Or(a.MetricType, "")}
		}
		req.Queries = append(req.Queries, q)
	}
	if askName {
		ask("name", "span.name", "=", *a.SpanName)
	}
	if askKey {
		ask("own", "attr."+*key, "exists", nil)
		ask("resource", "resource."+*key, "exists", nil)
	}
	out, err := s.Query.QueryBreakdown(ctx, req)
	if err != nil {
		return err
	}
	counts := map[string]float64{}
	for _, row := range out.GetData() {
		for i, v := range row.GetValues() {
			counts[req.GetQueries()[i].GetName()] += v.GetValue()
		}
	}
	a.partOfName = askName && counts["name"] == 0
	a.onResource = askKey && counts["own"] == 0 && counts["resource"] > 0
	return nil
}
