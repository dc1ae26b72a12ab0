package mcp

import (
	"context"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// resolveNames looks up how the names of a call are meant, where it does not say: a span name that no span has exactly is a part of names, and
// an attribute that only resources have is one of the resource.
func (s *Server) resolveNames(ctx context.Context, a *arguments, w timeRange) error {
	source := *a.text("source")
	key := a.text("attribute_key")
	askName := source == "traces" && a.text("span_name") != nil
	askKey := key != nil && a.text("attribute_scope") == nil && source != "product_events" && a.textOr("group_by", "") != "resource_attribute"
	if source == "metrics" && (a.text("metric_name") == nil || a.text("metric_type") == nil) {
		return nil // which is refused later
	}
	if !askName && !askKey {
		return nil
	}
	if longest := 30 * 24 * time.Hour; w.end.Sub(w.start) > longest {
		w = period(w.end.Add(-longest), w.end)
	}
	req := &svcv2.QueryBreakdownRequest{StartTime: w.startProto(), EndTime: w.endProto()}
	ask := func(name, field, op string, value any) {
		f := &svcv2.QueryFilter{Field: &field, Operator: &op}
		if value != nil {
			f.Value = structValue(value)
		}
		q := &svcv2.QuerySpec{Name: name, Source: source, Aggregation: "count", Filter: &svcv2.QueryFilter{All: []*svcv2.QueryFilter{f}}}
		if source == "metrics" {
			q.Metric = &svcv2.QueryMetric{Name: *a.text("metric_name"), Type: *a.text("metric_type")}
		}
		req.Queries = append(req.Queries, q)
	}
	if askName {
		ask("name", "span.name", "=", *a.text("span_name"))
	}
	if askKey {
		ask("own", "attr."+*key, "exists", nil)
		ask("resource", "resource."+*key, "exists", nil)
	}
	out, err := s.clients.query.QueryBreakdown(ctx, req)
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
