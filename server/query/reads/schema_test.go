package reads

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// rows names the cases of each type of row.
func rows() map[any]string {
	return map[any]string{
		new(AffectedRow):        "affected",
		new(ChangeSeriesRow):    "service_changes service_changes_narrow peer_changes error_changes log_changes gauge_changes level_changes",
		new(DifferenceRow):      "differences differences_logs differences_sessions",
		new(DifferenceSizesRow): "difference_sizes difference_sizes_logs difference_sessions",
		new(FoundSpan):          "search_spans search_spans_page search_spans_longest",
		new(DurationHorizonRow): "duration_horizon",
		new(DistributionRow):    "trace_distribution trace_distribution_filtered",
		new(ResourceMetricRow):  "resource_metrics",
		new(AgentSessionRow):    "agent_sessions agent_sessions_all",
		new(AgentSpanRow):       "agent_session agent_session_trace agent_samples",
		new(AgentLinkRow):       "agent_links",
		new(AgentToolRow):       "agent_tools",
		new(AgentFailureRow):    "agent_tool_failures",
		new(AgentCountRow):      "agent_failure_counts",
		new(ApdexRow):           "service_apdex",
		new(AttributeKeyRow):    "attribute_keys",
		new(AttributeValueRow): "attribute_values attribute_values_metrics attribute_keys_of_service attribute_values_rollup " +
			"attribute_values_where attribute_values_rollup_where",
		new(CallRow):             "service_calls counted_calls",
		new(CallHourRow):         "calls_by_environment",
		new(CallHourCount):       "call_hour_counts",
		new(SpanCountRow):        "spans_of_call_hour",
		new(ChunkRow):            "session_chunks session_manifest",
		new(EnvironmentRow):      "list_environments",
		new(ErrorGroupRow):       "error_groups error_groups_filtered error_groups_where",
		new(ErrorInTracesRow):    "errors_in_traces",
		new(ErrorLastRow):        "error_last",
		new(ErrorPointRow):       "error_points error_points_filtered",
		new(ErrorSampleRow):      "error_samples",
		new(ErrorSplitRow):       "error_split",
		new(ErrorVersionRow):     "error_versions",
		new(ErrorStackRow):       "error_stacks error_stacks_logged",
		new(OtherStackRow):       "stacks_of_a_program",
		new(ErrorTotalsRow):      "error_totals error_totals_where",
		new(FacetRow):            "trace_facets trace_facets_filtered log_facets log_facets_filtered",
		new(FunnelRow):           "funnel funnel_groups funnel_by_attribute",
		new(LeaverRow):           "funnel_leavers",
		new(ListedRecord):        "list_records",
		new(ListedSpan):          "list_spans",
		new(LogCountRow):         "log_count",
		new(LogHorizonRow):       "log_horizon log_horizon_earliest",
		new(LogRow):              "log_record search_logs search_logs_page search_logs_filtered search_logs_earliest search_logs_earliest_page",
		new(LogSampleRow):        "log_sample",
		new(LogShapeRow):         "log_shapes",
		new(LogCoverageRow):      "log_coverage",
		new(MetricAttributeRow):  "metric_attributes",
		new(MetricCountRow):      "metric_types",
		new(MetricKindRow):       "metric_kinds",
		new(MetricRow):           "list_metrics list_metrics_filtered",
		new(MetricStateRow):      "metric_state",
		new(OperationLevelRow):   "operation_levels",
		new(OperationRow):        "service_operations",
		new(NameRow):             "names_services names_environments names_operations names_metrics names_events",
		new(PathLinkRow):         "path_links path_links_narrow",
		new(PathNodeRow):         "path_nodes path_nodes_narrow",
		new(PeerRow):             "peer_calls",
		new(ProductEventNameRow): "product_event_names product_event_names_filtered",
		new(ProductEventRow):     "search_product_events search_product_events_page search_product_events_filtered",
		new(RecordedSessionRow):  "recorded_sessions",
		new(ReleaseRow):          "service_releases",
		new(ReleaseListRow):      "releases",
		new(ReleaseCommitRow):    "release_commits",
		new(AlertCheckRow):       "alert_checks alert_checks_filtered",
		new(AlertCheckGroupRow):  "alert_check_groups",
		new(AlertCheckPointRow):  "alert_check_points alert_check_points_by_hour",
		new(ScrapeCheckRow):      "scrape_checks",
		new(ServiceFigureRow):    "service_figures service_figures_all",
		new(ServiceWindowRow):    "service_windows service_windows_all",
		new(ServicePointRow):     "service_points",
		new(ServiceRow):          "list_services list_services_filtered service",
		new(SessionDetailRow):    "session session_bounded",
		new(SessionEventRow):     "session_timeline session_timeline_filtered",
		new(SessionExtentRow):    "session_extent",
		new(SessionFacetRow):     "session_facets",
		new(SessionRefRow):       "sessions_of_trace",
		new(SessionRow):          "search_sessions search_sessions_page search_sessions_filtered",
		new(SessionTraceRow):     "session_traces",
		new(SetupPeerRow):        "setup_peers",
		new(SetupQueueRow):       "setup_queues",
		new(SetupInstrumentRow):  "setup_instruments",
		new(SetupRestartRow):     "setup_restarts",
		new(SetupKeyUseRow):      "setup_key_use",
		new(SetupKeyRow):         "setup_keys",
		new(SetupLinkRow):        "setup_links",
		new(SetupLogRow):         "setup_logs",
		new(SetupMetricRow):      "setup_metrics",
		new(SetupRenameRow):      "setup_renames",
		new(SetupServiceRow):     "setup_services",
		new(SetupValueRow):       "setup_values",
		new(SignalRow):           "signals",
		new(SkeletonRow):         "trace_skeleton trace_skeleton_filtered",
		new(SpanHourRow):         "span_hours",
		new(SpanRow):             "span span_near trace_spans trace_spans_near",
		new(TraceExtentRow):      "trace_extent",
		new(TraceFiguresRow):     "trace_figures",
		new(TraceHorizonRow):     "trace_horizon span_horizon",
		new(TraceIDRow):          "matching_traces traces_within",
		new(TraceRow):            "search_traces search_traces_page search_traces_filtered roots_of first_spans_of",
	}
}

// TestStatementsFitTheSchema runs each statement on a migrated warehouse and reads its columns into its row. The statement of a
// column that a migration renames or gives another type fails, and so does a column or a field that the other side does not have.
func TestStatementsFitTheSchema(t *testing.T) {
	rowOf := map[string]any{}
	for row, names := range rows() {
		for name := range strings.FieldsSeq(names) {
			rowOf[name] = row
		}
	}
	all := cases()
	for name := range rowOf {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no case %s", name)
		}
	}
	for name, s := range all {
		row, ok := rowOf[name]
		if !ok {
			t.Errorf("the case %s has no row in the list of this test", name)
			continue
		}
		var further []string
		if name == "session_manifest" { // it is about chunks, without their contents
			further = []string{"Payload"}
		}
		if problem := fits(t, s, row, further...); problem != nil {
			t.Errorf("the statement %s does not fit the migrated tables or its row %T: %v", name, row, problem)
		}
	}
}

// fits reads the zero value of each column of the statement into the row. It gets them with aggregates, because a result without
// rows has no columns. The row may lack no column, and have no further field except those named.
func fits(t *testing.T, s sqlbuild.Statement, row any, further ...string) error {
	found, err := warehousetest.Shared(t).Query(t.Context(), "org_schema", "SELECT * APPLY(any) FROM (\n"+s.SQL+"\n)", s.Args...)
	if err != nil {
		return err
	}
	if !found.Next() {
		return errors.Join(errors.New("there is no row of zero values"), found.Err())
	}
	fields := map[string]any{}
	v := reflect.ValueOf(row).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if tag, ok := f.Tag.Lookup("ch"); ok {
			fields[tag] = v.FieldByIndex(f.Index).Addr().Interface()
		}
	}
	var to []any
	for _, c := range found.Columns() {
		c = strings.TrimSuffix(strings.TrimPrefix(c, "any("), ")")
		if fields[c] == nil {
			return fmt.Errorf("the row has no field for the column %s", c)
		}
		to = append(to, fields[c])
		delete(fields, c)
	}
	for _, name := range further {
		delete(fields, name)
	}
	if len(fields) > 0 {
		return fmt.Errorf("the statement has no column for the fields %s", slices.Sorted(maps.Keys(fields)))
	}
	return errors.Join(found.Scan(to...), found.Close())
}

// TestEveryReadIsChecked finds functions that make statements and rows that TestStatementsFitTheSchema does not reach.
func TestEveryReadIsChecked(t *testing.T) {
	called, rowTypes := map[string]bool{}, map[string]bool{}
	for row := range rows() {
		of := reflect.TypeOf(row).Elem()
		rowTypes[of.Name()] = true
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous {
				rowTypes[f.Type.Name()] = true
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var made, declared []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ofTest := strings.HasSuffix(name, "_test.go")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && ofTest {
					called[f.Name] = true
				}
			case *ast.FuncDecl:
				if !ofTest && n.Name.IsExported() && n.Type.Results != nil && isStatement(n.Type.Results.List[0].Type) {
					made = append(made, n.Name.Name)
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && !ofTest && slices.ContainsFunc(s.Fields.List, hasColumn) {
					declared = append(declared, n.Name.Name)
				}
			}
			return true
		})
	}
	for _, f := range made {
		if !called[f] {
			t.Errorf("no case has the statement of %s: add one to cases", f)
		}
	}
	for _, name := range declared {
		if !rowTypes[name] {
			t.Errorf("no case reads %s: add it to the list of rows", name)
		}
	}
	if len(made) < 60 || len(declared) < 60 {
		t.Errorf("found only %d statements and %d rows", len(made), len(declared))
	}
}

func isStatement(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Statement"
}

func hasColumn(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, `ch:"`) }
