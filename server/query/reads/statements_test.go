package reads

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/paging"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/query/sqlbuild/sqltest"
)

func ptr[T any](v T) *T { return &v }

// marker begins every value that a caller could choose.
const marker = sqltest.Marker

func cases() map[string]sqlbuild.Statement {
	start := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	w := query.Window{Start: start, End: start.Add(2 * time.Hour)}
	value := func(s string) *string { return ptr(marker + " " + s) }
	every := func() []query.AttributeFilter {
		var all []query.AttributeFilter
		for _, op := range []query.Operator{query.Exists, query.Equals, query.Contains, query.Greater, query.GreaterOrEqual, query.Less, query.LessOrEqual} {
			f := query.AttributeFilter{Key: marker + string(op), Operator: op, Text: marker, Number: 1.5}
			negated := f
			negated.Negated = true
			all = append(all, f, negated)
		}
		return all
	}
	traceID := strings.Repeat("ab", 16)
	errors := ErrorFilters{
		ServiceName: value("service"), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), ExceptionType: value("type"),
		Search: value("search"), Fingerprints: []uint64{1, 1<<64 - 1}, RootOnly: true,
	}
	agents := AgentFilters{
		Services: []string{marker}, Environments: []string{marker}, Models: []string{marker}, Agents: []string{marker}, Tools: []string{marker}, Vendors: []string{marker},
	}
	fingerprint := uint64(7)
	all := map[string]sqlbuild.Statement{
		"setup_services":       SetupServices(w),
		"setup_logs":           SetupLogs(w),
		"setup_links":          SetupLinks(w, 3),
		"setup_keys":           SetupKeys(w),
		"setup_values":         SetupValues(w, 1000),
		"setup_metrics":        SetupMetrics(w, 5000),
		"trace_figures":        TraceFigures(w, []string{traceID}),
		"agent_sessions":       AgentSessions(AgentSessionSearch{Window: w, Limit: 21}),
		"agent_sessions_all":   AgentSessions(AgentSessionSearch{Window: w, Filters: agents, Search: marker, HasErrors: ptr(true), NoTraces: true, Ranges: []AgentRange{{"cost", ptr(1.5), ptr(2.5)}}, SortBy: "duration_ms", Ascending: true, Offset: 20, Limit: 21}),
		"agent_session":        AgentSessionSpans(w, marker, 300),
		"agent_session_trace":  AgentSessionSpans(w, "trace:"+marker, 0),
		"agent_tools":          AgentTools(w, agents, marker),
		"agent_tool_failures":  AgentToolFailures(w, agents, &fingerprint),
		"agent_failure_counts": AgentFailureCounts(w, AgentFilters{Tools: []string{marker}}, fingerprint),
		"agent_samples":        AgentFailureSamples(w, AgentFilters{Tools: []string{marker}}, fingerprint, marker, 800, 11),
		"list_services":        ListServices(ServiceList{Window: w, Offset: 20, Limit: 21, Rollups: query.AllRollups()}),
		"list_services_filtered": ListServices(ServiceList{
			Window: w, DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), Limit: 21,
		}),
		"service":               ListServices(ServiceList{Window: w, Name: value("service"), Limit: 1}),
		"service_points":        ServicePoints(ServiceRead{Name: marker, Window: w, DeploymentEnvironment: value("environment"), Bucket: 5 * time.Minute, Rollups: query.AllRollups()}),
		"service_operations":    ServiceOperations(ServiceRead{Name: marker, Window: w, DeploymentEnvironment: value("environment")}, "p95_duration", time.Second, 20, 21),
		"service_apdex":         ServiceApdex(ServiceRead{Name: marker, Window: w, Bucket: time.Hour}, time.Second),
		"service_releases":      ServiceReleases(ServiceRead{Name: marker, Window: w, Bucket: time.Hour}, 100),
		"list_environments":     ListEnvironments(w),
		"service_calls":         ServiceCalls(w, value("environment")),
		"peer_calls":            PeerCalls(w, value("service"), value("environment"), 200),
		"span_hours":            SpanHours(w),
		"error_groups":          ErrorGroups(w, ErrorFilters{}, "last_seen", 20, 21),
		"error_groups_filtered": ErrorGroups(w, errors, "", 0, 21),
		"error_totals":          ErrorTotals(w, errors),
		"error_last":            ErrorLast(w, errors),
		"error_points":          ErrorPoints(w, errors, time.Hour),
		"error_split":           ErrorSplit(w, errors),
		"error_samples":         ErrorSamples(w, errors, 5),
		"error_stacks":          ErrorStacks([]ErrorSampleRow{{TraceID: marker, SpanID: marker, ServiceName: marker, Timestamp: start}, {TraceID: marker, SpanID: marker, ServiceName: marker, Timestamp: start.Add(time.Second)}}),
		"errors_in_traces":      ErrorsInTraces(w, []string{marker}, 77, 10),
		"trace_facets":          TraceFacets(w, nil, query.AllRollups()),
		"trace_facets_filtered": TraceFacets(w, &TraceFilters{ServiceName: value("service"), Attributes: every()}, query.AllRollups()),
		"log_facets":            LogFacets(w, LogFilters{ServiceName: value("service")}, query.AllRollups()),
		"log_facets_filtered":   LogFacets(w, LogFilters{ServiceName: value("service"), BodySearch: value(" search ")}, query.AllRollups()),
		"log_count":             CountLogs(w, LogFilters{ServiceName: value("service")}),
		"log_sample":            LogSample([]query.Window{w, {Start: start.Add(-time.Hour), End: start}}, LogFilters{BodySearch: value("body")}, 1024, 0.25, 100),
		"log_record":            LogRecord(start, marker),
		"log_horizon":           LogHorizon(LogSearch{Window: w, Limit: 21, Before: &paging.LogKey{Timestamp: start}, Filters: LogFilters{ServiceName: value("service")}}),
		"span_horizon":          SpanHorizon(w, &TraceFilters{ServiceName: value("service")}, 84),
		"matching_traces":       MatchingTraces(w, &TraceFilters{SpanName: value("span")}, 1001),
		"traces_within":         TracesWithin(w, 1001),
		"roots_of":              RootsOf([]string{marker}, w),
		"first_spans_of":        FirstSpansOf([]string{marker}, w),
		"span":                  Span(traceID, marker, time.Time{}),
		"trace_skeleton":        TraceSkeleton(Skeleton{TraceID: traceID, Window: w, Limit: 5001}),
		"trace_skeleton_filtered": TraceSkeleton(Skeleton{
			TraceID: traceID, Window: w, Limit: 5001, ParentID: value("parent"), ErrorsOnly: true, After: &paging.SpanKey{Start: start, SpanID: marker},
		}),
		"signals":      Signals(w),
		"list_metrics": ListMetrics(MetricList{Window: w, Limit: 21}),
		"list_metrics_filtered": ListMetrics(MetricList{
			Window: w, ServiceName: value("service"), MetricType: value("type"), Search: value("search"), Offset: 20, Limit: 21,
		}),
		"metric_types":       CountMetrics(w, value("service")),
		"setup_renames":      SetupRenames(w, []string{"http.method", marker}, []string{"http.request.method", marker}),
		"trace_horizon":      TraceHorizon(w, 21),
		"search_traces":      SearchTraces(TraceSearch{Slice: w, Limit: 21}),
		"search_traces_page": SearchTraces(TraceSearch{Slice: w, Limit: 21, Before: &paging.TraceKey{Start: start, TraceID: marker}}),
		"search_traces_filtered": SearchTraces(TraceSearch{Slice: w, Limit: 21, Filters: &TraceFilters{
			ServiceName: value("service"), SpanName: value("span"), StatusCode: value("status"), HTTPMethod: value("method"), HTTPRoute: value("route"),
			HTTPStatusCode: ptr[uint16](503), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), HasError: ptr(true),
			MinDuration: ptr(time.Millisecond), MaxDuration: ptr(time.Second), RootOnly: true, Attributes: every(), SpanNameContains: value("part"), TraceID: value("trace"),
			ResourceAttributes: []query.AttributeFilter{{Key: "service.name", Operator: query.Equals, Text: marker}},
		}}),
		"trace_extent":     TraceExtent(traceID),
		"trace_spans_near": TraceSpans(traceID, start, 5000),
		"span_near":        Span(traceID, marker, start),
		"trace_spans":      TraceSpans(traceID, time.Time{}, 5000),
		"search_logs":      SearchLogs(LogSearch{Window: w, Limit: 21}),
		"search_logs_page": SearchLogs(LogSearch{Window: w, Limit: 21, Before: &paging.LogKey{
			Timestamp: start, Service: marker, TraceID: marker, SpanID: marker, Record: marker, Copy: 2,
		}}),
		"search_logs_filtered": SearchLogs(LogSearch{Window: w, Limit: 21, Filters: LogFilters{
			ServiceName: value("service"), Severity: value("severity"), TraceID: value("trace"), SpanID: value("span"), BodySearch: value("in the body"),
			MinimumSeverity: ptr[int32](9), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"),
			Attributes: every(), ResourceAttributes: []query.AttributeFilter{{Key: marker, Operator: query.Contains, Text: marker}},
		}}),
	}
	maps.Copy(all, activityCases(w, value, every()))
	maps.Copy(all, attributeCases(w))
	maps.Copy(all, metricDetailCases(w))
	return all
}

func TestStatements(t *testing.T) { sqltest.Check(t, cases()) }
