package services_test

import (
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// argument adds the argument of a tool, and the same to the part of the filters that the tool takes. Tools read an argument without the
// space around it, and a blank argument as absent.
func argument(args map[string]any, name string, value *string, part **string) {
	if value == nil || strings.TrimSpace(*value) == "" {
		return
	}
	args[name], *part = *value, new(strings.TrimSpace(*value))
}

// attributeArguments adds the first condition on attributes that tools can express.
func attributeArguments(args map[string]any, list []*svcv2.AttributeFilter) []*svcv2.AttributeFilter {
	for _, f := range list {
		text := f.GetValue().GetStringValue()
		if f.GetNegated() || f.GetOperator() != "exists" && (f.GetOperator() != "equals" || strings.TrimSpace(text) != text || text == "") {
			continue
		}
		args["attribute_key"] = f.GetKey()
		if f.GetOperator() == "equals" {
			args["attribute_value"] = text
		}
		return []*svcv2.AttributeFilter{f}
	}
	return nil
}

// toSearchTraces is the part of the filters that search_traces takes, as its arguments and as filters.
func toSearchTraces(f *svcv2.TraceFilters) (map[string]any, *svcv2.TraceFilters) {
	args, part := map[string]any{}, &svcv2.TraceFilters{
		HasError: f.HasError, MinDurationMs: f.MinDurationMs, MaxDurationMs: f.MaxDurationMs, SpanScope: f.SpanScope,
	}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "environment", f.DeploymentEnvironment, &part.DeploymentEnvironment)
	argument(args, "span_name", f.SpanNameContains, &part.SpanNameContains)
	argument(args, "http_method", f.HttpMethod, &part.HttpMethod)
	argument(args, "trace_id", f.TraceId, &part.TraceId)
	for name, value := range map[string]*float64{"min_duration_ms": f.MinDurationMs, "max_duration_ms": f.MaxDurationMs} {
		if value != nil {
			args[name] = *value
		}
	}
	if f.HasError != nil {
		args["has_error"] = f.GetHasError()
	}
	if f.SpanScope != nil {
		args["root_only"] = true
	}
	part.Attributes = attributeArguments(args, f.GetAttributes())
	return args, part
}

// toSlowTraces is toSearchTraces for find_slow_traces. Without a service the tool reads root spans. It is false for filters
// without a service and an environment: the tool reads so much that only some filters try it.
func toSlowTraces(f *svcv2.TraceFilters) (args map[string]any, part *svcv2.TraceFilters, ok bool) {
	args, part = map[string]any{}, &svcv2.TraceFilters{}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "environment", f.DeploymentEnvironment, &part.DeploymentEnvironment)
	if part.ServiceName == nil {
		part.SpanScope = new("root")
	}
	return args, part, len(args) > 0
}

// toSpanQueryData is toSearchTraces for query_data.
func toSpanQueryData(f *svcv2.TraceFilters) (map[string]any, *svcv2.TraceFilters) {
	args, part := map[string]any{}, &svcv2.TraceFilters{SpanScope: f.SpanScope}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "environments", f.DeploymentEnvironment, &part.DeploymentEnvironment)
	if f.SpanScope != nil {
		args["root_spans_only"] = true
	}
	if part.Attributes = attributeArguments(args, f.GetAttributes()); part.GetAttributes() != nil {
		args["attribute_scope"] = "span"
	} else if part.ResourceAttributes = attributeArguments(args, f.GetResourceAttributes()); part.GetResourceAttributes() != nil {
		args["attribute_scope"] = "resource"
	}
	return args, part
}

// toSearchLogs is the part of the filters that search_logs takes, as its arguments and as filters.
func toSearchLogs(f *svcv2.LogFilters) (map[string]any, *svcv2.LogFilters) {
	args, part := map[string]any{}, &svcv2.LogFilters{}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "environment", f.DeploymentEnvironment, &part.DeploymentEnvironment)
	argument(args, "severity", f.Severity, &part.Severity)
	argument(args, "search", f.BodySearch, &part.BodySearch)
	argument(args, "trace_id", f.TraceId, &part.TraceId)
	argument(args, "span_id", f.SpanId, &part.SpanId)
	return args, part
}

// toRecordQueryData is toSearchLogs for query_data.
func toRecordQueryData(f *svcv2.LogFilters) (map[string]any, *svcv2.LogFilters) {
	args, part := map[string]any{}, &svcv2.LogFilters{}
	argument(args, "service", f.ServiceName, &part.ServiceName)
	argument(args, "environments", f.DeploymentEnvironment, &part.DeploymentEnvironment)
	argument(args, "severity", f.Severity, &part.Severity)
	if part.Attributes = attributeArguments(args, f.GetAttributes()); part.GetAttributes() != nil {
		args["attribute_scope"] = "log"
	} else if part.ResourceAttributes = attributeArguments(args, f.GetResourceAttributes()); part.GetResourceAttributes() != nil {
		args["attribute_scope"] = "resource"
	}
	return args, part
}
