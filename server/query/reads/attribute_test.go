package reads

import (
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// attributeCases are the statements about keys and values of attributes.
func attributeCases(w query.Window) map[string]sqlbuild.Statement {
	out := map[string]sqlbuild.Statement{}
	field := query.Field{Scope: query.OwnAttribute, Key: marker}
	value := AttributeValueList{
		Source: query.Traces, Slice: w, Field: &field, Search: marker, ServiceName: marker, MaxRows: 1000,
		MaxDistinct: 100,
	}
	out["attribute_values"] = AttributeValues(value)
	value.Source, value.Metric = query.Metrics, marker
	out["attribute_values_metrics"] = AttributeValues(value)
	out["attribute_keys_of_service"] = AttributeValues(AttributeValueList{
		Source: query.Logs, Slice: w, Scope: query.ResourceAttribute,
		ServiceName: marker, MaxRows: 1000, MaxDistinct: 100,
	})
	out["attribute_values_rollup"] = RolledUpValues(AttributeValueList{
		Source: query.Traces, Slice: w,
		Field: &query.Field{Key: "service.version"}, Search: marker, ServiceName: marker, MaxDistinct: 100,
	})
	where := query.Filter{Not: &query.Filter{Any: []query.Filter{
		query.Where("deployment.environment", query.OpEqual, marker),
		query.Where("service.name", query.OpContains, marker),
	}}}
	out["attribute_values_where"] = AttributeValues(AttributeValueList{
		Source: query.Traces, Slice: w, Field: &field, Filter: everyOperator(),
		MaxRows: 1000, MaxDistinct: 100,
	})
	out["attribute_values_rollup_where"] = RolledUpValues(AttributeValueList{
		Source: query.Traces, Slice: w,
		Field: &query.Field{Key: "service.version"}, Filter: where, MaxDistinct: 100,
	})
	search, scope := marker, marker
	out["attribute_keys"] = ListAttributeKeys(AttributeKeyList{Window: w, Signal: marker, Scope: &scope, Search: &search, Limit: 21})
	return out
}

// metricDetailCases are the statements about single metrics.
func metricDetailCases(w query.Window) map[string]sqlbuild.Statement {
	return map[string]sqlbuild.Statement{
		"metric_kinds":      MetricKinds(w, marker, nil),
		"metric_state":      MetricState(MetricLatest{Name: marker, Type: "gauge", ServiceName: new(marker), Last: w.End}),
		"metric_attributes": MetricAttributes(MetricLatest{Name: marker, Type: "histogram", Last: w.End}),
	}
}
