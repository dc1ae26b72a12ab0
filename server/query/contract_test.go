package query_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/query"
)

// choices lists the values that the contract gives a field: those of its rule, or else those of its description.
func choices(f protoreflect.FieldDescriptor) []string {
	allowed, shown := contract.Choices(f)
	if len(allowed) > 0 {
		return allowed
	}
	return shown
}

func field(m proto.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return m.ProtoReflect().Descriptor().Fields().ByName(name)
}

// TestAggregationsOfMethods holds the aggregations that the methods of the signals offer against the query language. The methods may
// offer fewer.
func TestAggregationsOfMethods(t *testing.T) {
	for s, requests := range map[query.Source][]proto.Message{
		query.Traces:        {&svcv2.QueryTraceTimeseriesRequest{}, &svcv2.QueryTraceBreakdownRequest{}},
		query.Logs:          {&svcv2.QueryLogTimeseriesRequest{}, &svcv2.QueryLogBreakdownRequest{}},
		query.Metrics:       {&svcv2.QueryMetricsTimeseriesRequest{}, &svcv2.QueryMetricBreakdownRequest{}},
		query.ProductEvents: {&svcv2.QueryProductEventTimeseriesRequest{}, &svcv2.QueryProductEventBreakdownRequest{}},
	} {
		first := choices(field(requests[0], "aggregation"))
		for _, r := range requests {
			f := field(r, "aggregation")
			offered := choices(f)
			if len(offered) == 0 {
				t.Errorf("%s has no list of values", f.FullName())
			}
			if !slices.Equal(offered, first) {
				t.Errorf("%s offers %v, the timeseries method offers %v", f.FullName(), offered, first)
			}
			for _, name := range offered {
				if _, err := query.ParseAggregation("", s, name, "", 0); err != nil {
					t.Errorf("%s offers %s, which the query language does not read: %v", f.FullName(), name, err)
				}
			}
		}
	}
}

// TestCounting checks that each aggregation that counts is one of a source, needs no field, and has a function that counts.
func TestCounting(t *testing.T) {
	for _, name := range query.Counting() {
		counts := false
		for _, s := range []query.Source{query.Traces, query.Logs, query.ProductEvents} {
			a, err := query.ParseAggregation("", s, name, "", 0)
			counts = counts || err == nil && slices.Contains([]query.Func{query.Count, query.Rate, query.ErrorCount, query.CountDistinct}, a.Func)
		}
		if !counts {
			t.Errorf("%s counts nothing in any source", name)
		}
	}
}

// TestMetricTypesOfContract holds every list of metric types in the contract against those that the planner knows.
func TestMetricTypesOfContract(t *testing.T) {
	want := slices.Sorted(slices.Values(query.MetricTypes()))
	lists := 0
	var walk func(list protoreflect.MessageDescriptors)
	check := func(f protoreflect.FieldDescriptor) {
		offered := choices(f)
		if !slices.Contains(offered, "exponential_histogram") {
			return
		}
		lists++
		got := slices.Sorted(slices.Values(offered))
		if f.FullName() == "svc.v2.QueryDraft.metric_type" { // dashboards do not draw summaries
			got = slices.Sorted(slices.Values(append(offered[:len(offered):len(offered)], "summary")))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %v, the planner reads %v", f.FullName(), got, want)
		}
	}
	walk = func(list protoreflect.MessageDescriptors) {
		for i := range list.Len() {
			m := list.Get(i)
			for j := range m.Fields().Len() {
				check(m.Fields().Get(j))
			}
			walk(m.Messages())
		}
	}
	for _, m := range []proto.Message{
		&svcv2.ListMetricsRequest{}, &svcv2.MetricOfType{}, &svcv2.QuerySpec{}, &svcv2.QueryDraft{}, &svcv2.MetricFilters{},
	} {
		walk(m.ProtoReflect().Descriptor().ParentFile().Messages())
	}
	if lists < 6 {
		t.Errorf("found only %d lists of metric types", lists)
	}
}

// TestSourcesOfContract holds the sources that requests may name against those of the query language.
func TestSourcesOfContract(t *testing.T) {
	want := []string{string(query.Traces), string(query.Logs), string(query.Metrics), string(query.ProductEvents)}
	for _, f := range []protoreflect.FieldDescriptor{field(&svcv2.QuerySpec{}, "source"), field(&svcv2.QueryDraft{}, "data_source")} {
		if got := choices(f); !slices.Equal(got, want) {
			t.Errorf("%s lists %v, the query language reads %v", f.FullName(), got, want)
		}
	}
	var ops []string
	for _, op := range query.Ops() {
		ops = append(ops, string(op))
	}
	if got := choices(field(&svcv2.QueryFilter{}, "operator")); !slices.Equal(got, ops) {
		t.Errorf("QueryFilter.operator lists %v, the query language reads %v", got, ops)
	}
}
