package reads

import (
	"maps"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/query/sqlbuild/sqltest"
)

// marker begins every value that a caller could choose.
const marker = sqltest.Marker

func cases() map[string]sqlbuild.Statement {
	start := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	w := query.Window{Start: start, End: start.Add(2 * time.Hour)}
	value := func(s string) *string { return new(marker + " " + s) }
	service := match(query.Builtin, "service.name", query.OpEqual, marker+" service")
	traceID := strings.Repeat("ab", 16)
	errors := ErrorFilters{
		ServiceName: value("service"), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"),
		ExceptionType: value("type"),
		Search:        value("search"), Fingerprints: []uint64{1, 1<<64 - 1}, RootOnly: true,
	}
	agents := AgentFilters{
		Services: []string{marker}, Environments: []string{marker}, Models: []string{marker}, Agents: []string{marker}, Tools: []string{marker},
		Vendors: []string{marker},
	}
	fingerprint := uint64(7)
	all := map[string]sqlbuild.Statement{
		"list_spans": ListRows(RowList{
			Source: query.Traces, Window: w, Filter: service, Limit: 50,
			Columns: []query.Field{{Key: "duration"}, {Scope: query.OwnAttribute, Key: marker}},
		}),
		"names_services":     Names(NameList{Window: w, Kind: NamedService, Limit: 100}),
		"names_environments": Names(NameList{Window: w, Kind: NamedEnvironment, Limit: 100, Rollups: query.AllRollups()}),
		"names_operations":   Names(NameList{Window: w, Kind: NamedOperation, Limit: 100, Rollups: query.AllRollups()}),
		"names_metrics":      Names(NameList{Window: w, Kind: NamedMetric, Limit: 100}),
		"names_events":       Names(NameList{Window: w, Kind: NamedEvent, Limit: 100}),
		"list_records":       ListRows(RowList{Source: query.Logs, Window: w, Limit: 50}),
		"alert_checks":       AlertChecks(AlertCheckList{Rule: marker, Since: w.Start, Until: w.End, Limit: 50}),
		"alert_checks_filtered": AlertChecks(AlertCheckList{
			Rule: marker, Since: w.Start, Until: w.End, Group: marker, Status: "breached", Offset: 50, Limit: 50,
		}),
		"alert_check_groups": AlertCheckGroups(AlertCheckSpan{Rule: marker, Since: w.Start, Until: w.End, Bucket: time.Minute}, 20),
		"alert_check_points": AlertCheckPoints(
			AlertCheckSpan{Rule: marker, Since: w.Start, Until: w.End, Bucket: time.Minute}, []string{marker}, "__other__"),
		"alert_check_points_by_hour": AlertCheckPoints(
			AlertCheckSpan{Rule: marker, Since: w.End.Add(-100 * time.Hour), Until: w.End, Bucket: time.Hour, Group: marker}, []string{marker},
			"__other__"),
		"service_figures": ServiceFigures(ServiceFigureList{ByService: true, Services: []string{marker}, Series: true, Cells: []ServiceFigureCell{
			{Start: w.End.Add(-5 * time.Minute), End: w.End, Latency: true},
			{Start: w.End.Add(-6 * time.Minute), End: w.End, Environments: []string{marker}},
		}}),
		"service_windows": ServiceWindows(ServiceWindowList{
			First: w.Start, Step: time.Minute, Length: 5 * time.Minute, Count: 60, Environments: []string{marker}, Latency: true,
			ByService: true, Services: []string{marker}, Series: true,
		}),
		"service_windows_all": ServiceWindows(ServiceWindowList{First: w.Start, Step: 3 * time.Minute, Length: time.Minute, Count: 20}),
		"service_figures_all": ServiceFigures(ServiceFigureList{Cells: []ServiceFigureCell{{
			Start: w.End.Add(-5 * time.Minute), End: w.End,
			Latency: true,
		}}}),
		"scrape_checks":     ScrapeChecks(marker, w.Start, w.End, 200),
		"setup_services":    SetupServices(w),
		"setup_logs":        SetupLogs(w),
		"setup_links":       SetupLinks(w, 3),
		"setup_keys":        SetupKeys(w),
		"setup_peers":       SetupPeers(w),
		"setup_queues":      SetupQueues(w),
		"setup_instruments": SetupInstruments(w),
		"setup_restarts":    SetupRestarts(w, 10),
		"setup_key_use":     SetupKeyUse(w, []string{marker}),
		"setup_values":      SetupValues(w, 1000),
		"setup_metrics":     SetupMetrics(w, 5000),
		"trace_figures":     TraceFigures(w, []string{traceID}),
		"agent_sessions":    AgentSessions(AgentSessionSearch{Window: w, Limit: 21}),
		"agent_sessions_all": AgentSessions(AgentSessionSearch{
			Window: w, Filters: agents, Search: marker, HasErrors: new(true), NoTraces: true,
			Ranges: []AgentRange{{"cost", new(1.5), new(2.5)}}, SortBy: "duration_ms", Ascending: true, Offset: 20, Limit: 21,
		}),
		"agent_session":        AgentSessionSpans(w, marker, 300),
		"agent_session_trace":  AgentSessionSpans(w, "trace:"+marker, 0),
		"agent_links":          AgentLinks(w, []string{marker}),
		"agent_tools":          AgentTools(w, agents, marker),
		"agent_tool_failures":  AgentToolFailures(w, agents, &fingerprint),
		"agent_failure_counts": AgentFailureCounts(w, AgentFilters{Tools: []string{marker}}, fingerprint),
		"agent_samples":        AgentFailureSamples(w, AgentFilters{Tools: []string{marker}}, fingerprint, marker, 800, 11),
		"list_services":        ListServices(ServiceList{Window: w, Offset: 20, Limit: 21, Rollups: query.AllRollups()}),
		"list_services_filtered": ListServices(ServiceList{
			Window: w, DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), Limit: 21,
		}),
		"service": ListServices(ServiceList{Window: w, Name: value("service"), Limit: 1}),
		"service_points": ServicePoints(ServiceRead{
			Name: marker, Window: w, DeploymentEnvironment: value("environment"),
			Bucket: 5 * time.Minute, Rollups: query.AllRollups(),
		}),
		"service_operations": ServiceOperations(ServiceRead{Name: marker, Window: w, DeploymentEnvironment: value("environment")},
			"p95_duration", time.Second, 20, 21),
		"service_apdex": ServiceApdex(ServiceRead{Name: marker, Window: w, Bucket: time.Hour}, time.Second),
		"releases": Releases(ReleaseList{
			Window: w, DeploymentEnvironment: value("environment"), Service: value("service"),
			Limit: 1000,
		}),
		"release_commits":       ReleaseCommits([]ReleaseListRow{{Service: marker, Environment: "e", Version: "v", First: w.Start}}),
		"service_releases":      ServiceReleases(ServiceRead{Name: marker, Window: w, Bucket: time.Hour}, 100),
		"list_environments":     ListEnvironments(w),
		"service_calls":         ServiceCalls(w, value("environment")),
		"peer_calls":            PeerCalls(w, value("service"), value("environment"), 200),
		"span_hours":            SpanHours(w),
		"calls_by_environment":  CallsByEnvironment(w),
		"call_hour_counts":      CallHourCounts(w),
		"spans_of_call_hour":    SpansOfCallHour(w.Start),
		"counted_calls":         CountedCalls([]CallHourCount{{Hour: w.Start, CountedAt: w.End}}, value("environment")),
		"error_groups":          ErrorGroups(w, ErrorFilters{}, "last_seen", 20, 21),
		"error_groups_filtered": ErrorGroups(w, errors, "", 0, 21),
		"error_groups_where":    ErrorGroups(w, ErrorFilters{ServiceName: value("service"), Where: everyOperator()}, "", 0, 21),
		"error_totals_where": ErrorTotals(w, ErrorFilters{Where: query.Filter{Any: []query.Filter{
			service,
			query.Where("duration", query.OpGreater, "250"),
		}}}),
		"error_totals":          ErrorTotals(w, errors),
		"error_last":            ErrorLast(w, errors),
		"error_points":          ErrorPoints(w, errors, time.Hour),
		"error_points_filtered": ErrorPoints(w, ErrorFilters{Fingerprints: []uint64{1}, Logs: true}, time.Hour),
		"error_split":           ErrorSplit(w, errors),
		"error_versions":        ErrorVersions(w, errors, 100),
		"error_samples":         ErrorSamples(w, errors, 5),
		"stacks_of_a_program":   StacksOf(w, ErrorStackRow{Service: marker, Version: marker, Commit: marker}, 20),
		"error_stacks": ErrorStacks([]ErrorSampleRow{{
			TraceID: marker, SpanID: marker, SpanName: marker, ServiceName: marker,
			Timestamp: start,
		}, {TraceID: marker, SpanID: marker, SpanName: marker, ServiceName: marker, Timestamp: start.Add(time.Second)}}),
		"error_stacks_logged": ErrorStacks([]ErrorSampleRow{
			{TraceID: marker, SpanID: marker, ServiceName: marker, Timestamp: start},
			{TraceID: marker, SpanID: marker, SpanName: marker, ServiceName: marker, Timestamp: start.Add(time.Second)},
		}),
		"errors_in_traces":            ErrorsInTraces(w, []string{marker}, 77, 10),
		"trace_distribution":          Distribution(w, query.Filter{}, 2*time.Minute),
		"trace_distribution_filtered": Distribution(w, query.And(service, everyOperator()), time.Hour),
		"trace_facets":                TraceFacets(w, query.Filter{}, query.AllRollups()),
		"trace_facets_filtered":       TraceFacets(w, query.And(service, everyOperator()), query.AllRollups()),
		"log_facets":                  LogFacets(w, service, query.AllRollups()),
		"log_facets_filtered": LogFacets(w, query.And(service, match(query.Builtin, "body", query.OpContains, marker+" search ")),
			query.AllRollups()),
		"log_count": CountLogs(w, service),
		"log_sample": LogSample([]query.Window{w, {Start: start.Add(-time.Hour), End: start}},
			match(query.Builtin, "body", query.OpContains, marker+" body"), 1024, 0.25, 100),
		"log_shapes":   LogShapes(w, match(query.Builtin, "body", query.OpContains, marker+" body"), 1024, 100),
		"log_coverage": LogCoverage(w),
		"log_record":   LogRecord(start, marker),
		"log_horizon":  LogHorizon(LogSearch{Window: w, Limit: 21, Before: &paging.LogKey{Timestamp: start}, Filter: service}),
		"span_horizon": SpanHorizon(w, service, 84),
		"search_spans": SearchSpans(SpanSearch{Window: w, Limit: 21}),
		"search_spans_page": SearchSpans(SpanSearch{
			Window: w, Limit: 21, Before: &paging.SpanPlace{Start: start, TraceID: marker, SpanID: marker}, Filter: traceFilter(value),
			Columns: []query.Field{{Key: "duration"}, {Scope: query.OwnAttribute, Key: marker}, {Scope: query.EventAttribute, Key: marker}},
		}),
		"search_spans_longest": SearchSpans(SpanSearch{
			Window: w, Limit: 21, ByDuration: true, Shortest: new(uint64(5)), Longest: new(uint64(7)), Filter: service,
			Before: &paging.SpanPlace{Duration: 7, Start: start, TraceID: marker, SpanID: marker},
		}),
		"duration_horizon": DurationHorizon(SpanSearch{Window: w, Limit: 21, Longest: new(uint64(7)), Filter: service}),
		"matching_traces":  MatchingTraces(w, match(query.Builtin, "span.name", query.OpEqual, marker+" span"), 1001),
		"traces_within":    TracesWithin(w, 1001),
		"roots_of":         RootsOf([]string{marker}, w),
		"first_spans_of":   FirstSpansOf([]string{marker}, w),
		"span":             Span(traceID, marker, time.Time{}),
		"trace_skeleton":   TraceSkeleton(Skeleton{TraceID: traceID, Window: w, Limit: 5001}),
		"trace_skeleton_filtered": TraceSkeleton(Skeleton{
			TraceID: traceID, Window: w, Limit: 5001, ParentID: value("parent"), ErrorsOnly: true,
			After: &paging.SpanKey{Start: start, SpanID: marker},
		}),
		"signals":      Signals(w, 500),
		"list_metrics": ListMetrics(MetricList{Window: w, Limit: 21}),
		"list_metrics_filtered": ListMetrics(MetricList{
			Window: w, ServiceName: value("service"), MetricType: value("type"), Search: value("search"), Offset: 20, Limit: 21,
		}),
		"metric_types":           CountMetrics(w, value("service")),
		"setup_renames":          SetupRenames(w, []string{"http.method", marker}, []string{"http.request.method", marker}),
		"trace_horizon":          TraceHorizon(w, 21),
		"search_traces":          SearchTraces(TraceSearch{Slice: w, Limit: 21}),
		"search_traces_page":     SearchTraces(TraceSearch{Slice: w, Limit: 21, Before: &paging.TraceKey{Start: start, TraceID: marker}}),
		"search_traces_filtered": SearchTraces(TraceSearch{Slice: w, Limit: 21, Filter: traceFilter(value)}),
		"trace_extent":           TraceExtent(traceID),
		"trace_spans_near":       TraceSpans(traceID, start, 5000),
		"span_near":              Span(traceID, marker, start),
		"trace_spans":            TraceSpans(traceID, time.Time{}, 5000),
		"search_logs":            SearchLogs(LogSearch{Window: w, Limit: 21}),
		"search_logs_page": SearchLogs(LogSearch{Window: w, Limit: 21, Before: &paging.LogKey{
			Timestamp: start, Service: marker, TraceID: marker, SpanID: marker, Record: marker, Copy: 2,
		}}),
		"search_logs_earliest": SearchLogs(LogSearch{Window: w, Limit: 21, Ascending: true}),
		"search_logs_earliest_page": SearchLogs(LogSearch{Window: w, Limit: 21, Ascending: true, Filter: service, Before: &paging.LogKey{
			Timestamp: start, Service: marker, TraceID: marker, SpanID: marker, Record: marker, Copy: 2,
		}}),
		"log_horizon_earliest": LogHorizon(LogSearch{
			Window: w, Limit: 21, Ascending: true, Before: &paging.LogKey{Timestamp: start},
			Filter: service,
		}),
		"search_logs_filtered": SearchLogs(LogSearch{Window: w, Limit: 21, Filter: logFilter(value)}),
	}
	maps.Copy(all, activityCases(w, value, everyOperator()))
	maps.Copy(all, attributeCases(w))
	maps.Copy(all, metricDetailCases(w))
	maps.Copy(all, incidentCases(w, value, everyOperator()))
	return all
}

func TestStatements(t *testing.T) { sqltest.Check(t, cases()) }

func match(scope query.Scope, key string, op query.Op, values ...string) query.Filter {
	return query.Filter{Match: &query.Match{Field: query.Field{Scope: scope, Key: key}, Op: op, Values: values}}
}

// everyOperator has each operator on attributes, plain and negated.
func everyOperator() query.Filter {
	filter, err := query.AttributeFilters("attributes", query.OwnAttribute, everyAttribute())
	if err != nil {
		panic(err) // a case is wrong
	}
	return filter
}

func everyAttribute() []*svcv2.AttributeFilter {
	var all []*svcv2.AttributeFilter
	for _, op := range []string{"exists", "equals", "contains", "gt", "gte", "lt", "lte"} {
		for _, negated := range []bool{false, true} {
			f := &svcv2.AttributeFilter{Key: marker + op, Operator: op, Negated: &negated}
			switch op {
			case "exists":
			case "equals", "contains":
				f.Value = structpb.NewStringValue(marker)
			default:
				f.Value = structpb.NewNumberValue(1.5)
			}
			all = append(all, f)
		}
	}
	return all
}

// traceFilter has every field of svc.v2.TraceFilters, and logFilter every field of svc.v2.LogFilters.
func traceFilter(value func(string) *string) query.Filter {
	filter, err := query.TraceFilter(&svcv2.TraceFilters{
		ServiceName: value("service"), SpanName: value("span"), StatusCode: value("status"), HttpMethod: value("method"),
		HttpRoute:      value("route"),
		HttpStatusCode: new("503"), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), HasError: new(true),
		MinDurationMs: new(1.), MaxDurationMs: new(1000.), SpanScope: new("root"), Attributes: everyAttribute(), SpanNameContains: value("part"),
		TraceId:            value("trace"),
		ResourceAttributes: []*svcv2.AttributeFilter{{Key: "service.name", Operator: "equals", Value: structpb.NewStringValue(marker)}},
	})
	if err != nil {
		panic(err) // a case is wrong
	}
	return filter
}

func logFilter(value func(string) *string) query.Filter {
	filter, err := query.LogFilter(&svcv2.LogFilters{
		ServiceName: value("service"), Severity: value("severity"), TraceId: value("trace"), SpanId: value("span"),
		BodySearch:      value("in the body"),
		MinimumSeverity: new(int32(9)), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"),
		Attributes:         everyAttribute(),
		ResourceAttributes: []*svcv2.AttributeFilter{{Key: marker, Operator: "contains", Value: structpb.NewStringValue(marker)}},
	})
	if err != nil {
		panic(err) // a case is wrong
	}
	return filter
}
