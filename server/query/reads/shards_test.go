package reads

import (
	"bytes"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/testkit/shardtest"
	"github.com/svc-observability/svc/server/warehouse"
)

// emptyInDemo names the cases that find nothing in the demo: their filters exclude one another, search for attributes that no program
// of the demo sends, or read records of alert rules, scrape targets and counted hours, which the demo does not have.
const emptyInDemo = `
agent_failure_counts agent_samples agent_session_trace agent_sessions_all agent_tool_failures agent_tools alert_check_groups
alert_check_points alert_check_points_by_hour alert_checks alert_checks_filtered attribute_keys
attribute_values attribute_values_metrics attribute_values_rollup attribute_values_where call_hour_counts counted_calls demo_funnel_groups demo_setup_values differences_logs differences_sessions error_groups_filtered error_groups_where
error_points error_samples error_split error_stacks error_stacks_logged error_versions funnel funnel_by_attribute funnel_groups funnel_leavers gauge_changes level_changes
list_metrics_filtered list_services_filtered log_facets_filtered log_record log_sample log_shapes matching_traces path_links_narrow path_nodes path_nodes_narrow
product_event_names_filtered release_commits scrape_checks search_logs_earliest_page search_logs_filtered search_product_events_filtered search_sessions_filtered
search_spans_longest search_spans_page search_traces_filtered session_facets session_manifest session_timeline_filtered sessions_of_trace setup_links setup_metrics
setup_restarts setup_values span_near stacks_of_a_program trace_distribution_filtered trace_facets_filtered trace_skeleton_filtered trace_spans_near`

// TestStatementsOnTwoShards runs every statement of cases on two shards. It must compile there, and give the same rows as from plain
// tables. The values in the statement are those of the demo.
func TestStatementsOnTwoShards(t *testing.T) {
	bed := shardtest.New(t)
	values := demoValues(t, bed)
	statements := map[string]sqlbuild.Statement{}
	for name, s := range cases() {
		args := make([]warehouse.Arg, len(s.Args))
		for i, a := range s.Args {
			args[i] = warehouse.Named(a.Name, demoValue(a, values, bed.From, bed.To))
		}
		statements[name] = sqlbuild.Statement{SQL: s.SQL, Args: args}
	}
	maps.Copy(statements, demoCases(query.Window{Start: bed.From, End: bed.To}, values))
	bed.Check(t, statements, emptyInDemo)
}

// demoCases are statements of functions whose cases have filters that exclude one another.
func demoCases(w query.Window, values map[string]string) map[string]sqlbuild.Statement {
	is := func(name string) *string { return new(values[name]) }
	service := match(query.Builtin, "service.name", query.OpEqual, values["service"])
	failed := ErrorFilters{ServiceName: is("service"), DeploymentEnvironment: is("environment")}
	agents := AgentFilters{Services: []string{"support-agent"}, Tools: []string{values["tools"]}}
	event := Step{EventName: values["one"]}
	page := Step{PagePath: values["path"], Host: new(values["host"])}
	funnel := Funnel{Window: w, Steps: []Step{event, event}, KeyBy: query.ByPerson, Within: time.Hour}
	grouped := Funnel{Window: w, Steps: []Step{event}, KeyBy: query.BySession, Within: time.Hour, Dimension: "country", Groups: 6}
	paths := Paths{
		Window: w, Anchor: page, Before: true, Depth: 3, Branches: 4, KeyBy: query.ByVisitor, Within: time.Hour,
		Include: IncludeAll,
	}
	attribute := query.Field{Scope: query.OwnAttribute, Key: values["key"]}
	return map[string]sqlbuild.Statement{
		"demo_differences_logs": Differences(Difference{
			Source: query.Logs, Selected: Selection{Window: w, Filter: service}, Other: Selection{Window: w}, SelectedShare: 1, OtherShare: 1,
			Limit: 100,
		}, 100, 1000),
		"demo_differences_sessions": Differences(Difference{
			Source: query.Sessions, Selected: Selection{Window: w, Filter: match(query.Builtin, "has_error", query.OpEqual, "true")},
			Other: Selection{Window: w}, SelectedShare: 1, OtherShare: 1, Limit: 100,
		}, 100, 1000),
		"demo_gauges": GaugeChanges(ChangeSeries{
			Window: query.Window{Start: w.Start.Truncate(time.Minute), End: w.End}, Bucket: time.Minute,
			Limit: 100,
		},
			[]string{"redis.memory.used", "kafka.consumer_group.lag"}),
		"demo_agent_tools":    AgentTools(w, agents, ""),
		"demo_agent_failures": AgentToolFailures(w, AgentFilters{Services: agents.Services}, nil),
		"demo_agent_sessions": AgentSessions(AgentSessionSearch{Window: w, Filters: agents, SortBy: "cost", Limit: 21}),
		"demo_attribute_keys": ListAttributeKeys(AttributeKeyList{Window: w, Signal: "traces", Limit: 500}),
		"demo_attribute_values": AttributeValues(AttributeValueList{
			Source: query.Traces, Slice: w, Field: &attribute, MaxRows: 100_000,
			MaxDistinct: 100,
		}),
		"demo_attribute_rollup": RolledUpValues(AttributeValueList{
			Source: query.Traces, Slice: w, Field: &query.Field{Key: "service.version"},
			MaxDistinct: 100,
		}),
		"demo_error_groups":    ErrorGroups(w, failed, "count", 0, 21),
		"demo_error_points":    ErrorPoints(w, failed, 5*time.Minute),
		"demo_error_samples":   ErrorSamples(w, failed, 5),
		"demo_error_split":     ErrorSplit(w, failed),
		"demo_error_versions":  ErrorVersions(w, failed, 100),
		"demo_funnel":          FunnelCounts(funnel),
		"demo_funnel_groups":   FunnelCounts(grouped),
		"demo_funnel_leavers":  FunnelLeavers(Funnel{Window: w, Steps: []Step{event, page}, KeyBy: query.ByPerson, Within: time.Hour}),
		"demo_metrics":         ListMetrics(MetricList{Window: w, ServiceName: is("service"), Limit: 50}),
		"demo_services":        ListServices(ServiceList{Window: w, DeploymentEnvironment: is("environment"), Limit: 21}),
		"demo_log_facets":      LogFacets(w, query.And(service, match(query.Builtin, "body", query.OpContains, "order")), query.AllRollups()),
		"demo_log_sample":      LogSample([]query.Window{w}, service, 1024, 1, 1_000_000),
		"demo_log_shapes":      LogShapes(w, service, 1024, 1_000_000),
		"demo_matching_traces": MatchingTraces(w, service, 100_000),
		"demo_path_nodes":      PathNodes(paths),
		"demo_event_names": ListProductEventNames(ProductEventNameList{
			Window: w, Limit: 50,
			Events: ProductEventFilters{Kind: new("custom")},
		}),
		"demo_logs": SearchLogs(LogSearch{Window: w, Limit: 50, Filter: service}),
		"demo_product_events": SearchProductEvents(ProductEventSearch{
			Window: w, Limit: 50,
			Filters: ProductEventFilters{Names: []string{values["one"]}},
		}),
		"demo_sessions": SearchSessions(SessionSearch{
			Window: w, Limit: 50,
			Filters: SessionFilters{Events: &SessionEventFilters{MinStatus: new(int32(200))}},
		}),
		"demo_session_facets":     SessionFacets(w, SessionFilters{}),
		"demo_session_manifest":   SessionManifest(ChunkRange{SessionID: values["session_id"], To: 100, Limit: 100}),
		"demo_session_timeline":   SessionTimeline(Timeline{SessionID: values["session_id"], Types: []string{"network"}, Limit: 100}),
		"demo_sessions_of_trace":  SessionsOfTrace(values["session_trace"], w, 0, 21),
		"demo_setup_links":        SetupLinks(w, 1),
		"demo_setup_metrics":      SetupMetrics(w, 1),
		"demo_setup_values":       SetupValues(w, 1),
		"demo_traces":             SearchTraces(TraceSearch{Slice: w, Limit: 50, Filter: service}),
		"demo_trace_distribution": Distribution(w, query.And(service, match(query.Builtin, "span.kind", query.OpEqual, "Server")), 5*time.Minute),
		"demo_logs_earliest":      SearchLogs(LogSearch{Window: w, Limit: 50, Filter: service, Ascending: true}),
		"demo_spans":              SearchSpans(SpanSearch{Window: w, Limit: 50, Filter: service, Columns: []query.Field{{Key: "span.kind"}}}),
		"demo_spans_longest":      SearchSpans(SpanSearch{Window: w, Limit: 50, ByDuration: true}),
		"demo_duration_horizon":   DurationHorizon(SpanSearch{Window: w, Limit: 50}),
		"demo_trace_facets": TraceFacets(w, query.And(service, match(query.Builtin, "span.kind", query.OpEqual, "Server")),
			query.AllRollups()),
		"demo_trace_skeleton": TraceSkeleton(Skeleton{TraceID: values["trace_id"], Window: w, Limit: 5001, ErrorsOnly: true}),
	}
}

var plainly = regexp.MustCompile(`FROM (\w+)`)

// demoValues returns values of the demo. A key is the word with which the name or the value of a parameter ends.
func demoValues(t *testing.T, bed *shardtest.Bed) map[string]string {
	values := map[string]string{
		"service": "checkout", "service_name": "checkout", "service_names": "checkout", "services": "support-agent",
		"environment": "production", "deployment_environment": "production", "environments": "production", "kept": "checkout",
	}
	// A trace without a session, whichever traces the demo has at this time.
	trace := ` FROM error_events WHERE ServiceName = 'checkout' AND TraceId != '' AND TraceId NOT IN (SELECT TraceId FROM session_events)
		AND TraceId NOT IN (SELECT TraceId FROM spans WHERE SpanAttributes['session.id'] != '' OR ResourceAttributes['session.id'] != '')
		ORDER BY TraceId LIMIT 1`
	for names, sql := range map[string]string{
		"trace_id trace traces trace_ids": "SELECT TraceId" + trace,
		"span_id span_ids":                "SELECT SpanId" + trace,
		"at":                              "SELECT toUnixTimestamp64Nano(Timestamp)" + trace,
		"fingerprint fingerprints":        "SELECT FingerprintHash" + trace,
		"session_id session_ids": "SELECT SessionId FROM session_events WHERE TraceId != '' AND SessionId IN (SELECT SessionId " +
			"FROM session_replay_events WHERE ChunkSeq >= 3) GROUP BY SessionId ORDER BY count() DESC, SessionId LIMIT 1",
		"session_trace": "SELECT TraceId FROM session_events WHERE TraceId != '' ORDER BY TraceId LIMIT 1",
		"session": "SELECT SpanAttributes['gen_ai.conversation.id'] AS s FROM spans WHERE s != '' GROUP BY s " +
			"ORDER BY count() DESC, s LIMIT 1",
		"tools": "SELECT SpanAttributes['gen_ai.tool.name'] AS s FROM spans WHERE s != '' GROUP BY s ORDER BY " +
			"countIf(HasError) DESC, s LIMIT 1",
		"metric_name metric": "SELECT MetricName FROM metrics_histogram GROUP BY MetricName ORDER BY count() DESC, " +
			"MetricName LIMIT 1",
		"gauge": "SELECT MetricName FROM metrics_gauge WHERE ServiceName = 'checkout' GROUP BY MetricName ORDER " +
			"BY count() DESC, MetricName LIMIT 1",
		"step_name one names": "SELECT Name FROM product_events GROUP BY Name ORDER BY count() DESC, Name LIMIT 1",
		"step_path path": "SELECT PagePath FROM product_events WHERE PagePath != '' GROUP BY PagePath ORDER BY count() " +
			"DESC, PagePath LIMIT 1",
		"step_host host": "SELECT Host FROM product_events WHERE PagePath != '' GROUP BY Host ORDER BY count() DESC, " +
			"Host LIMIT 1",
		"operation": "SELECT SpanName FROM spans GROUP BY SpanName ORDER BY count() DESC, SpanName LIMIT 1",
		"key key_of_attribute group_attribute": "SELECT arrayJoin(mapKeys(SpanAttributes)) AS k FROM spans WHERE ServiceName = 'checkout' " +
			"GROUP BY k ORDER BY count() DESC, k LIMIT 1",
	} {
		var out bytes.Buffer
		if err := bed.RawQuery(t.Context(), plainly.ReplaceAllString(sql, "FROM plain.$1"), "TSVRaw", &out); err != nil || out.Len() == 0 {
			t.Fatalf("the demo has no %s: %v", names, err)
		}
		for name := range strings.FieldsSeq(names) {
			values[name] = strings.TrimSuffix(out.String(), "\n")
		}
	}
	return values
}

func demoValue(a warehouse.Arg, values map[string]string, from, to time.Time) any {
	name := strings.TrimRight(a.Name, "_0123456789")
	word := func(s string) string {
		if !strings.HasPrefix(s, marker) && s != "trace:"+marker && s != strings.Repeat("ab", 16) {
			return s
		}
		if of := strings.TrimSpace(strings.TrimPrefix(s, marker)); values[of] != "" {
			return values[of]
		}
		if values[name] != "" {
			if strings.HasPrefix(s, "trace:") {
				return "trace:" + values["trace_id"]
			}
			return values[name]
		}
		return s
	}
	switch v := a.Value.(type) {
	case string:
		return word(v)
	case []string:
		out := make([]string, len(v))
		for i, s := range v {
			out[i] = word(s)
		}
		return out
	case []uint64, uint64:
		n, err := strconv.ParseUint(values["fingerprint"], 10, 64)
		if err != nil {
			panic(err)
		}
		if _, one := v.(uint64); one {
			return n
		}
		return []uint64{n}
	case int64:
		return demoTime(name, v, values, from, to)
	}
	return a.Value
}

// demoTime moves a time of a case into the window of the demo. The time of a key of pages becomes the end of the window.
func demoTime(name string, v int64, values map[string]string, from, to time.Time) int64 {
	start := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	second := time.Second
	switch {
	case name == "offset":
		return 0
	case name == "limit":
		return max(v, 10_000) // a statement without an order must return all of its rows
	case v > 1e18:
		second = 1
	case v < 1e9:
		return v
	}
	at := time.Unix(0, v*int64(second))
	switch {
	case name == "at":
		n, _ := strconv.ParseInt(values["at"], 10, 64)
		return n
	case strings.HasPrefix(name, "before_"):
		at = to
	case at.Before(start.Add(time.Hour)):
		at = from.Add(at.Sub(start))
	default:
		at = to.Add(at.Sub(start.Add(2 * time.Hour)))
	}
	return at.UnixNano() / int64(second)
}
