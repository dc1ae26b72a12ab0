package query

import (
	"errors"
	"strconv"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/severity"
)

// equality adds the condition that a field has a value, if the request gives one.
func equality(all *[]Filter, key string, value *string) {
	if value != nil {
		condition(all, key, OpEqual, *value)
	}
}

func condition(all *[]Filter, key string, op Op, value string) {
	*all = append(*all, Where(key, op, value))
}

// Where is the condition that a built-in field has one of the values, as the operator compares them.
func Where(field string, op Op, values ...string) Filter {
	return Filter{Match: &Match{Field: Field{Key: field}, Op: op, Values: values}}
}

// TraceFilter converts svc.v2.TraceFilters to a tree.
func TraceFilter(f *svcv2.TraceFilters) (Filter, error) {
	var all []Filter
	if f == nil {
		return Filter{}, nil
	}
	if err := BoundedFilters("filters", f); err != nil {
		return Filter{}, err
	}
	equality(&all, "service.name", f.ServiceName)
	equality(&all, "span.name", f.SpanName)
	if f.SpanNameContains != nil {
		condition(&all, "span.name", OpContains, f.GetSpanNameContains())
	}
	equality(&all, "trace.id", f.TraceId)
	equality(&all, "status.code", f.StatusCode)
	equality(&all, "http.route", f.HttpRoute)
	equality(&all, "deployment.environment", f.DeploymentEnvironment)
	equality(&all, "service.namespace", f.ServiceNamespace)
	equality(&all, "http.method", f.HttpMethod)
	if f.HttpStatusCode != nil {
		code := "-1" // no span has this code, because the requested text is not a status code
		if n, err := strconv.ParseUint(f.GetHttpStatusCode(), 10, 16); err == nil && strconv.FormatUint(n, 10) == f.GetHttpStatusCode() {
			code = f.GetHttpStatusCode()
		}
		condition(&all, "http.status_code", OpEqual, code)
	}
	if f.HasError != nil {
		condition(&all, "has_error", OpEqual, strconv.FormatBool(f.GetHasError()))
	}
	if f.MinDurationMs != nil {
		condition(&all, "duration", OpGreaterOrEqual, numberText(f.GetMinDurationMs()))
	}
	if f.MaxDurationMs != nil {
		condition(&all, "duration", OpLessOrEqual, numberText(f.GetMaxDurationMs()))
	}
	if f.GetSpanScope() == "root" {
		condition(&all, "root_only", OpEqual, "true")
	}
	if err := attributeFilters(&all, f.GetAttributes(), f.GetResourceAttributes()); err != nil {
		return Filter{}, err
	}
	return And(all...), nil
}

// LogFilter converts svc.v2.LogFilters to a tree.
func LogFilter(f *svcv2.LogFilters) (Filter, error) {
	var all []Filter
	if f == nil {
		return Filter{}, nil
	}
	if err := BoundedFilters("filters", f); err != nil {
		return Filter{}, err
	}
	equality(&all, "service.name", f.ServiceName)
	equality(&all, "severity", f.Severity)
	if f.GetMinimumSeverity() > 0 {
		all = append(all, atLeast(int(f.GetMinimumSeverity())))
	}
	equality(&all, "trace.id", f.TraceId)
	equality(&all, "span.id", f.SpanId)
	if f.BodySearch != nil {
		condition(&all, "body", OpContains, f.GetBodySearch())
	}
	equality(&all, "deployment.environment", f.DeploymentEnvironment)
	equality(&all, "service.namespace", f.ServiceNamespace)
	if err := attributeFilters(&all, f.GetAttributes(), f.GetResourceAttributes()); err != nil {
		return Filter{}, err
	}
	return And(all...), nil
}

// atLeast is the condition on records of a severity number or a higher one. The text decides for a record without a number.
func atLeast(number int) Filter {
	numbered := Where("severity_number", OpGreaterOrEqual, strconv.Itoa(number))
	texts := severity.From(number)
	if len(texts) == 0 {
		return numbered
	}
	exists := Where("severity_number", OpExists)
	return Filter{Any: []Filter{numbered, {All: []Filter{{Not: &exists}, Where("severity", OpIn, texts...)}}}}
}

// MetricFilter converts the conditions of svc.v2.MetricFilters to a tree, without the name and the type.
func MetricFilter(f *svcv2.MetricFilters) (Filter, error) {
	var all []Filter
	if err := BoundedFilters("filters", f); err != nil {
		return Filter{}, err
	}
	equality(&all, "service.name", f.ServiceName)
	equality(&all, "deployment.environment", f.DeploymentEnvironment)
	equality(&all, "service.namespace", f.ServiceNamespace)
	if err := attributeFilters(&all, f.GetAttributes(), f.GetResourceAttributes()); err != nil {
		return Filter{}, err
	}
	return And(all...), nil
}

func attributeFilters(all *[]Filter, own, resource []*svcv2.AttributeFilter) error {
	ofItem, err := AttributeFilters("filters.attributes", OwnAttribute, own)
	if err != nil {
		return err
	}
	ofResource, err := AttributeFilters("filters.resource_attributes", ResourceAttribute, resource)
	*all = append(*all, ofItem, ofResource)
	return err
}

// Explain converts an *Invalid of a request with one query: it adds the method's tag and uses the method's name for the field.
func Explain(err error, tag apierr.Tag) error {
	var bad *Invalid
	if !errors.As(err, &bad) {
		return err
	}
	field := strings.TrimPrefix(bad.Field, "queries[0].")
	switch {
	case strings.HasPrefix(field, "filter"):
		field = "filters"
	case field == "group_by[0]":
		field = "group_by"
	}
	return (&Invalid{Field: field, Message: bad.Message, Reason: bad.Reason}).API(tag)
}

// ExplainAll adds a tag to an *Invalid of a request with several queries.
func ExplainAll(err error) error {
	var bad *Invalid
	if errors.As(err, &bad) {
		return bad.API(apierr.QueryEngineValidation)
	}
	return err
}
