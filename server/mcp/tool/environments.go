package tool

import (
	"context"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// EntrySpans are the spans that measure services.
const EntrySpans = "entry spans, or all spans of a service that has no entry spans"

// Weighted says which spans the figures of an answer count, and that they are corrected for sampling.
func Weighted(spans string) Pair { return Labeled("Counted", spans+", weighted by sampling") }

// Estimated is Weighted for figures with quantiles from digests.
func Estimated(spans string) Pair {
	return Labeled("Counted", spans+", weighted by sampling; percentiles ≈, within 2 % of ranks or the next value beside these")
}

// MixedNotes returns a note if the figures mix several environments. The note names the parameter with which a call chooses one
// environment.
func MixedNotes(parameter string, environments []string) []string {
	if len(environments) < 2 {
		return nil
	}
	return []string{"The figures mix the environments " + wording.Clip(strings.Join(environments, ", "), 300) +
		". Give " + parameter + " to see one of them."}
}

// ReadMixed reads the environments of the spans of a window, of one service if that is given, and returns the note of MixedNotes. If the
// call chooses an environment, it reads nothing.
func ReadMixed(ctx context.Context, s *Clients, w TimeRange, service, environment *string) ([]string, error) {
	if environment != nil {
		return nil, nil
	}
	spec := &svcv2.QuerySpec{Source: "traces"}
	if service != nil {
		spec.Filter = &svcv2.QueryFilter{Field: new("service.name"), Operator: new("="), Value: StructValue(*service)}
	}
	list, err := EnvironmentsOf(ctx, s, w, spec)
	return MixedNotes("environment", list), err
}

// EnvironmentsOf lists the environments of the rows that a query counts, those with the most rows first. It is empty if the query itself
// groups by them. Product events have none. Of a longer window than a breakdown may have, it reads the last part.
func EnvironmentsOf(ctx context.Context, s *Clients, w TimeRange, spec *svcv2.QuerySpec) ([]string, error) {
	if spec.GetSource() == "product_events" ||
		slices.ContainsFunc(spec.GetGroupBy(), func(f string) bool { return strings.Contains(f, "environment") }) {
		return nil, nil
	}
	if longest := limits.BreakdownWindow; w.Length() > longest {
		w = Period(w.To.Add(-longest), w.To)
	}
	out, err := s.Query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
		StartTime: w.StartProto(), EndTime: w.EndProto(), Queries: []*svcv2.QuerySpec{{
			Name: "n", Source: spec.GetSource(), Aggregation: "count", Metric: spec.GetMetric(), Filter: spec.GetFilter(), Where: spec.Where,
			GroupBy: []string{"deployment.environment"}, Limit: new(int32(20)),
		}},
	})
	var list []string
	for _, r := range out.GetData() {
		if g := r.GetGroup(); len(g) == 1 && g[0] != "" && !r.GetOther() {
			list = append(list, g[0])
		}
	}
	return list, err
}

// Foremost returns the environment to suggest first: production if there is one.
func Foremost(environments []string) string {
	if i := slices.IndexFunc(environments, func(e string) bool { return strings.HasPrefix(strings.ToLower(e), "prod") }); i >= 0 {
		return environments[i]
	}
	return environments[0]
}
