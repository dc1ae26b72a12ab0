package query

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/paging"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func ptr[T any](v T) *T { return &v }

// marker begins every value that a caller could choose; the SQL must hold none.
const marker = "caller-value"

func cases() map[string]Statement {
	start := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	w := Window{Start: start, End: start.Add(2 * time.Hour)}
	value := func(s string) *string { return ptr(marker + " " + s) }
	every := func() []AttributeFilter {
		var all []AttributeFilter
		for _, op := range []Operator{Exists, Equals, Contains, Greater, GreaterOrEqual, Less, LessOrEqual} {
			f := AttributeFilter{Key: marker + string(op), Operator: op, Text: marker, Number: 1.5}
			negated := f
			negated.Negated = true
			all = append(all, f, negated)
		}
		return all
	}
	traceID := strings.Repeat("ab", 16)
	return map[string]Statement{
		"list_services": ListServices(ServiceList{Window: w, Offset: 20, Limit: 21}),
		"list_services_filtered": ListServices(ServiceList{
			Window: w, DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), Limit: 21,
		}),
		"signals":      Signals(w),
		"list_metrics": ListMetrics(MetricList{Window: w, Limit: 21}),
		"list_metrics_filtered": ListMetrics(MetricList{
			Window: w, ServiceName: value("service"), MetricType: value("type"), Search: value("search"), Offset: 20, Limit: 21,
		}),
		"trace_horizon":      TraceHorizon(w, 21),
		"search_traces":      SearchTraces(TraceSearch{Slice: w, Limit: 21}),
		"search_traces_page": SearchTraces(TraceSearch{Slice: w, Limit: 21, Before: &paging.TraceKey{Start: start, TraceID: marker}}),
		"search_traces_filtered": SearchTraces(TraceSearch{Slice: w, Limit: 21, Filters: &TraceFilters{
			ServiceName: value("service"), SpanName: value("span"), StatusCode: value("status"), HTTPMethod: value("method"), HTTPRoute: value("route"),
			HTTPStatusCode: ptr[uint16](503), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"), HasError: ptr(true),
			MinDuration: ptr(time.Millisecond), MaxDuration: ptr(time.Second), RootOnly: true, Attributes: every(),
			ResourceAttributes: []AttributeFilter{{Key: "service.name", Operator: Equals, Text: marker}},
		}}),
		"list_sessions": ListSessions(SessionList{Window: w, Limit: 21}),
		"list_sessions_filtered": ListSessions(SessionList{
			Window: w, ServiceName: value("service"), BrowserName: value("browser"), Country: value("country"), DeviceType: value("device"), UserID: value("user"),
			HasErrors: ptr(true), Offset: 20, Limit: 21,
		}),
		"session":                   Session(marker),
		"session_chunks":            SessionChunks(marker, 3, 7, 100),
		"session_timeline":          SessionTimeline(marker, nil, 0, 100),
		"session_timeline_filtered": SessionTimeline(marker, []string{marker, "click"}, 20, 100),
		"list_product_events":       ListProductEvents(ProductEventList{Window: w, Limit: 21}),
		"list_product_events_filtered": ListProductEvents(ProductEventList{
			Window: w, Name: value("name"), UserID: value("user"), VisitorID: value("visitor"), SessionID: value("session"), Kind: value("kind"), Offset: 20, Limit: 21,
		}),
		"trace_extent": TraceExtent(traceID),
		"trace_spans":  TraceSpans(traceID, w, 5000),
		"search_logs":  SearchLogs(LogSearch{Window: w, Limit: 21}),
		"search_logs_page": SearchLogs(LogSearch{Window: w, Limit: 21, Before: &paging.LogKey{
			Timestamp: start, Service: marker, TraceID: marker, SpanID: marker, Record: marker, Copy: 2,
		}}),
		"search_logs_filtered": SearchLogs(LogSearch{Window: w, Limit: 21, Filters: LogFilters{
			ServiceName: value("service"), Severity: value("severity"), TraceID: value("trace"), SpanID: value("span"), BodySearch: value("in the body"),
			MinimumSeverity: ptr[int32](9), DeploymentEnvironment: value("environment"), ServiceNamespace: value("namespace"),
			Attributes: every(), ResourceAttributes: []AttributeFilter{{Key: marker, Operator: Contains, Text: marker}},
		}}),
	}
}

func TestSnapshots(t *testing.T) {
	for name, s := range cases() {
		path := filepath.Join("testdata", name+".sql")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(s.SQL+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), s.SQL+"\n"); diff != "" {
			t.Errorf("%s differs; run with -update when that is meant (-want +got):\n%s", path, diff)
		}
	}
}

var (
	fromTable = regexp.MustCompile(`FROM (spans|logs|trace_roots|service_minutes|metric_catalog|session_replays|session_replay_events|session_events|product_events)\b\s*(.{0,40})`)
	place     = regexp.MustCompile(`\{(\w+):[^}]+\}`)
)

// TestOrganizationComesFirst holds for every read of a table, not only for the outermost.
func TestOrganizationComesFirst(t *testing.T) {
	for name, s := range cases() {
		reads := fromTable.FindAllStringSubmatch(strings.Join(strings.Fields(s.SQL), " "), -1)
		if len(reads) == 0 {
			t.Errorf("%s reads no table that this test knows", name)
		}
		for _, r := range reads {
			if !strings.HasPrefix(r[2], "WHERE OrgId = {org:String}") {
				t.Errorf("%s reads %s with %q before the organization", name, r[1], r[2])
			}
		}
	}
}

func TestValuesAreBound(t *testing.T) {
	for name, s := range cases() {
		if strings.Contains(s.SQL, marker) || strings.Contains(s.SQL, "2026") {
			t.Errorf("%s holds a value of the caller:\n%s", name, s.SQL)
		}
		bound := map[string]bool{"org": true}
		for _, a := range s.Args {
			if bound[a.Name] {
				t.Errorf("%s binds %s twice", name, a.Name)
			}
			bound[a.Name] = true
			if !strings.Contains(s.SQL, "{"+a.Name+":") {
				t.Errorf("%s binds %s, which the SQL does not use", name, a.Name)
			}
		}
		for _, m := range place.FindAllStringSubmatch(s.SQL, -1) {
			if !bound[m[1]] {
				t.Errorf("%s does not bind %s", name, m[1])
			}
		}
	}
}

func TestWholeTokens(t *testing.T) {
	for in, want := range map[string][]string{
		"":                       nil,
		"one":                    nil,
		"one two":                nil,
		"one TWO three":          {"two"},
		" one ":                  {"one"},
		"a.b-c_d/e":              {"b", "c", "d"},
		"x größe y":              nil,
		"x 'q' {org:String} z":   {"q", "org", "string"},
		strings.Repeat("a ", 99): strings.Fields(strings.Repeat("a ", 32)),
	} {
		if diff := cmp.Diff(want, wholeTokens(in)); diff != "" {
			t.Errorf("words of %q (-want +got):\n%s", in, diff)
		}
	}
}
