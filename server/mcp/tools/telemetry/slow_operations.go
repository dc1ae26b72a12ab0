package telemetry

import (
	"cmp"
	"context"
	"math"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// readStats reads durations of root spans or of the entry spans of a service, of all operations together and of each.
func readStats(ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange) (*slowStats, []slowOperation, error) {
	filter := diagnose.Scope{Service: a.Service, Environment: a.Environment}.Filter()
	if a.Service == nil {
		return readDurations(ctx, s, w, filter, "root spans")
	}
	entries := &svcv2.QueryFilter{All: append(slices.Clone(filter.GetAll()), &svcv2.QueryFilter{
		Field: new("is_entry"), Operator: new("="), Value: structpb.NewBoolValue(true),
	})}
	stats, operations, err := readDurations(ctx, s, w, entries, "entry spans of "+*a.Service)
	if err != nil || stats != nil {
		return stats, operations, err
	}
	return readDurations(ctx, s, w, filter, "all spans of "+*a.Service+", which has no entry spans")
}

// readDurations returns nil without spans.
func readDurations(
	ctx context.Context, s *tool.Clients, w tool.TimeRange, filter *svcv2.QueryFilter, spans string,
) (*slowStats, []slowOperation, error) {
	ask := func(groups ...string) ([]*svcv2.QueryRow, error) {
		req := &svcv2.QueryBreakdownRequest{StartTime: w.StartProto(), EndTime: w.EndProto()}
		for _, q := range [][2]string{
			{"high", "max_duration"}, // the first query decides on the order of the groups
			{"p50", "p50_duration"},
			{"p95", "p95_duration"},
			{"low", "min_duration"},
			{"n", "count"},
		} {
			req.Queries = append(req.Queries, &svcv2.QuerySpec{Name: q[0], Source: "traces", Aggregation: q[1], Filter: filter, GroupBy: groups})
		}
		out, err := s.Query.QueryBreakdown(ctx, req)
		return out.GetData(), err
	}
	all, err := ask()
	if err != nil || len(all) == 0 || len(all[0].GetValues()) < 5 || all[0].GetValues()[4].GetValue() == 0 {
		return nil, nil, err
	}
	v := all[0].GetValues()
	stats := &slowStats{spans, v[1].GetValue(), v[2].GetValue(), v[3].GetValue(), v[0].GetValue()}
	groups, err := ask("service.name", "span.name")
	var operations []slowOperation
	for _, g := range groups {
		if v, name := g.GetValues(), g.GetGroup(); !g.GetOther() && len(v) == 5 && len(name) == 2 {
			operations = append(operations, slowOperation{
				name[0], name[1], v[4].GetValue(), v[1].GetValue(), v[2].GetValue(), v[0].GetValue(),
			})
		}
	}
	slices.SortStableFunc(operations, func(x, y slowOperation) int { return cmp.Compare(y.MaxMs, x.MaxMs) })
	return stats, operations[:min(len(operations), 2*slowOperations)], err
}

// slowest searches the slowest traces of some operations, so that one that is always slow does not fill the list.
func slowest(
	ctx context.Context,
	s *tool.Clients,
	a *findSlowTracesArgs,
	w tool.TimeRange,
	stats *slowStats,
	operations []slowOperation,
) ([]*svcv2.TraceSummary, error) {
	operations = operations[:min(len(operations), slowOperations, a.Limit)]
	found := make([][]*svcv2.TraceSummary, len(operations))
	var reads []func() error
	for i, op := range operations {
		reads = append(reads, func() error {
			for _, least := range []float64{op.P95Ms + (op.MaxMs-op.P95Ms)/2, op.P50Ms} {
				most := int32(100)
				filters := &svcv2.TraceFilters{
					ServiceName: &op.ServiceName, SpanName: &op.SpanName, DeploymentEnvironment: a.Environment, MinDurationMs: &least,
				}
				if a.Service == nil {
					filters.SpanScope = new("root")
				}
				out, err := s.Traces.SearchTraces(
					ctx, &svcv2.SearchTracesRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &most, Filters: filters},
				)
				if found[i] = out.GetData(); err != nil || len(found[i]) > 0 {
					slices.SortFunc(found[i], byDuration)
					return err
				}
			}
			return nil
		})
	}
	if err := atonce.Run(reads...); err != nil {
		return nil, err
	}
	// Each operation has its share of the list; places that one does not need go to the others in their order.
	var rows []*svcv2.TraceSummary
	seen := map[string]bool{}
	add := func(row *svcv2.TraceSummary) {
		if len(rows) < a.Limit && !seen[row.GetId()] {
			seen[row.GetId()] = true
			rows = append(rows, row)
		}
	}
	longest := 0
	for _, list := range found {
		longest = max(longest, len(list))
	}
	for n := range longest {
		for _, list := range found {
			if n < len(list) {
				add(list[n])
			}
		}
	}
	for _, least := range []float64{stats.P50Ms, 0} {
		if len(rows) == a.Limit {
			break
		}
		others, err := slowerThan(ctx, s, a, w, least)
		if err != nil {
			return nil, err
		}
		for _, row := range others {
			add(row)
		}
	}
	slices.SortStableFunc(rows, byDuration)
	return rows, nil
}

// slowerThan returns the latest traces of at least a duration in milliseconds, the slowest first.
func slowerThan(
	ctx context.Context, s *tool.Clients, a *findSlowTracesArgs, w tool.TimeRange, least float64,
) ([]*svcv2.TraceSummary, error) {
	filters := &svcv2.TraceFilters{ServiceName: a.Service, DeploymentEnvironment: a.Environment, MinDurationMs: &least}
	if a.Service == nil {
		filters.SpanScope = new("root")
	}
	rows, _, err := tool.Collect(
		ctx, nil, 0, slowCandidates,
		func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.TraceSummary, *string, error) {
			res, err := s.Traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
				StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, Filters: filters,
			})
			return res.GetData(), tool.NextCursor(res), err
		},
	)
	slices.SortStableFunc(rows, byDuration)
	return rows, err
}

func operationBlock(list []slowOperation) tool.Block {
	var cells [][]string
	for _, o := range list {
		cells = append(cells, []string{
			o.ServiceName, wording.Clip(o.SpanName, 120), wording.Number(math.Round(o.Count)), wording.Number(o.P50Ms), wording.Number(o.P95Ms),
			wording.Number(o.MaxMs),
		})
	}
	return tool.Table(
		"By operation", "No operation has spans.", []string{"Service", "Operation", "Spans", "p50 ms", "p95 ms", "Longest ms"}, cells,
	)
}
