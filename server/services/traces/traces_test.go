package traces

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

func traceID(n int) string { return fmt.Sprintf("%032x", n) }

// span has only the fields that the tests vary.
type span struct {
	org                   principal.OrgID
	trace, id, parent     string
	at                    time.Time
	name, service, status string
	method, route         string
	http                  uint16
	duration              time.Duration
	attributes, resource  map[string]string
	events                []string
}

func insert(t *testing.T, w *warehouse.Warehouse, spans ...span) {
	t.Helper()
	var rows [][]any
	for _, s := range spans {
		var times []time.Time
		names := []string{}
		var maps []map[string]string
		for i, e := range s.events {
			times, names, maps = append(times, s.at.Add(time.Duration(i))), append(names, e), append(maps, map[string]string{"n": fmt.Sprint(i)})
		}
		rows = append(rows, []any{
			string(s.org), s.at, s.trace, s.id, s.parent, s.name, "Server", s.service, uint64(s.duration), s.status, s.status == "Error",
			s.parent == "",
			s.method, s.route, s.http, 1.0, notNil(s.resource), notNil(s.attributes), times, names, maps,
			[]string{traceID(99)},
			[]string{"00000000000000aa"},
			[]string{"a=b"},
			[]map[string]string{{"l": "1"}},
		})
	}
	columns := strings.Fields(`OrgId Timestamp TraceId SpanId ParentSpanId SpanName SpanKind ServiceName DurationNano StatusCode HasError IsEntry
		HttpMethod HttpRoute HttpStatusCode SampleRate ResourceAttributes SpanAttributes EventsTimestamp EventsName EventsAttributes
		LinksTraceId LinksSpanId LinksTraceState LinksAttributes`)
	if err := w.InsertRows(t.Context(), "spans", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}

func notNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func search(t *testing.T, s *Service, org principal.OrgID, req *svcv2.SearchTracesRequest) []*svcv2.TraceSummary {
	t.Helper()
	req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon().Add(-6*time.Hour)), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	var all []*svcv2.TraceSummary
	for range 1000 {
		res, err := s.SearchTraces(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, res.GetData()...)
		if req.Cursor = res.NextCursor; !res.GetHasMore() {
			return all
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

func ids(traces []*svcv2.TraceSummary) []string {
	out := []string{}
	for _, tr := range traces {
		out = append(out, tr.GetId())
	}
	return out
}

func TestSearchFilters(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_filters"
	insert(t, w,
		span{
			org: org, trace: traceID(1), id: "01", at: warehousetest.Noon(), name: "GET /cart", service: "web", status: "Unset", method: "GET",
			route: "/cart", http: 200, duration: 20 * time.Millisecond,
		},
		span{
			org: org, trace: traceID(1), id: "02", parent: "01", at: warehousetest.Noon().Add(time.Millisecond), name: "SELECT", service: "db",
			status: "Error", duration: 5 * time.Millisecond,
			attributes: map[string]string{"db.rows": "7"}, resource: map[string]string{"service.name": "db", "zone": "a"},
		},
		span{
			org: org, trace: traceID(2), id: "01", at: warehousetest.Noon().Add(-5 * time.Hour), name: "POST /pay", service: "web", status: "Error",
			method: "POST", route: "/pay", http: 503, duration: time.Second,
		},
		// No root was received, so the earliest span represents the trace.
		span{
			org: org, trace: traceID(3), id: "0b", parent: "0a", at: warehousetest.Noon().Add(-2 * time.Hour), name: "later", service: "worker",
			status: "Ok", duration: time.Millisecond,
		},
		span{
			org: org, trace: traceID(3), id: "0c", parent: "0a", at: warehousetest.Noon().Add(-2*time.Hour - time.Minute), name: "first",
			service: "worker",
			status:  "Ok", duration: 2 * time.Millisecond,
		},
		// There are two roots, and the earlier one represents the trace.
		span{org: org, trace: traceID(4), id: "01", at: warehousetest.Noon().Add(-3 * time.Hour), name: "root a", service: "twice", status: "Ok"},
		span{
			org: org, trace: traceID(4), id: "02", at: warehousetest.Noon().Add(-150 * time.Minute), name: "root b", service: "twice",
			status: "Ok",
		},
		span{org: "org_filters_other", trace: traceID(1), id: "01", at: warehousetest.Noon(), name: "GET /cart", service: "web", status: "Unset"},
	)
	t1, t2, t3, t4 := traceID(1), traceID(2), traceID(3), traceID(4)
	attribute := func(key, op string, v *structpb.Value) []*svcv2.AttributeFilter {
		return []*svcv2.AttributeFilter{{Key: key, Operator: op, Value: v}}
	}
	for name, tc := range map[string]struct {
		filters *svcv2.TraceFilters
		want    []string
	}{
		"none":                 {nil, []string{t1, t3, t4, t2}},
		"empty":                {&svcv2.TraceFilters{}, []string{t1, t3, t4, t2}},
		"service of a child":   {&svcv2.TraceFilters{ServiceName: new("db")}, []string{t1}},
		"service of a root":    {&svcv2.TraceFilters{ServiceName: new("db"), SpanScope: new("root")}, []string{}},
		"rootless":             {&svcv2.TraceFilters{SpanName: new("later")}, []string{t3}},
		"second root":          {&svcv2.TraceFilters{SpanName: new("root b")}, []string{t4}},
		"status":               {&svcv2.TraceFilters{StatusCode: new("Error")}, []string{t1, t2}},
		"error roots":          {&svcv2.TraceFilters{HasError: new(true), SpanScope: new("root")}, []string{t2}},
		"no error":             {&svcv2.TraceFilters{HasError: new(false)}, []string{t1, t3, t4}},
		"long":                 {&svcv2.TraceFilters{MinDurationMs: new(20.0)}, []string{t1, t2}},
		"short":                {&svcv2.TraceFilters{MaxDurationMs: new(2.0), MinDurationMs: new(2.0)}, []string{t3}},
		"endless":              {&svcv2.TraceFilters{MinDurationMs: new(1e300)}, []string{}},
		"method":               {&svcv2.TraceFilters{HttpMethod: new("POST")}, []string{t2}},
		"route":                {&svcv2.TraceFilters{HttpRoute: new("/cart")}, []string{t1}},
		"http status":          {&svcv2.TraceFilters{HttpStatusCode: new("503")}, []string{t2}},
		"http status, no span": {&svcv2.TraceFilters{HttpStatusCode: new("teapot")}, []string{}},
		"http status, zero":    {&svcv2.TraceFilters{HttpStatusCode: new("0503")}, []string{}},
		"all on the same span": {&svcv2.TraceFilters{ServiceName: new("web"), SpanName: new("SELECT")}, []string{}},
		"attribute":            {&svcv2.TraceFilters{Attributes: attribute("db.rows", "equals", structpb.NewStringValue("7"))}, []string{t1}},
		"attribute in range":   {&svcv2.TraceFilters{Attributes: attribute("db.rows", "gt", structpb.NewNumberValue(6))}, []string{t1}},
		"resource": {
			&svcv2.TraceFilters{ResourceAttributes: attribute("service.name", "equals", structpb.NewStringValue("db"))},
			[]string{t1},
		},
		"attribute not there": {&svcv2.TraceFilters{Attributes: attribute("nope", "exists", nil)}, []string{}},
		"part of a name":      {&svcv2.TraceFilters{SpanNameContains: new("ROOT")}, []string{t4}},
		"no part of a name":   {&svcv2.TraceFilters{SpanNameContains: new("%")}, []string{}},
		"one trace":           {&svcv2.TraceFilters{TraceId: new(strings.ToUpper(t3))}, []string{t3}},
		"one trace and more":  {&svcv2.TraceFilters{TraceId: &t3, ServiceName: new("db")}, []string{}},
		"value cannot escape": {&svcv2.TraceFilters{ServiceName: new("x' OR 1=1 --")}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int32{2} {
				got := ids(search(t, s, org, &svcv2.SearchTracesRequest{Filters: tc.filters, Limit: &limit}))
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("limit %d: traces (-want +got):\n%s", limit, diff)
				}
			}
			if got := search(t, s, "org_nobody", &svcv2.SearchTracesRequest{Filters: tc.filters}); len(got) > 0 {
				t.Errorf("an organization without data got %v", got)
			}
		})
	}
	all := search(t, s, org, &svcv2.SearchTracesRequest{})
	want := &svcv2.TraceSummary{
		Id: t1, Object: "trace", StartTime: timestamppb.New(warehousetest.Noon()), DurationMs: 20, RootSpanName: "GET /cart",
		RootSpanKind:    "Server",
		RootServiceName: "web", RootStatusCode: "Unset", HttpMethod: new("GET"), HttpRoute: new("/cart"), HttpStatusCode: new("200"),
	}
	if diff := cmp.Diff(want, all[0], protocmp.Transform()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if got := all[1].GetRootSpanName(); got != "first" {
		t.Errorf("a trace without a root is shown as %q, want its earliest span", got)
	}
	if got := all[2].GetRootSpanName(); got != "root a" {
		t.Errorf("a trace with two roots is shown as %q, want the earlier", got)
	}
}

func TestSearchPagesThroughTies(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_pages"
	var spans []span
	want := []string{}
	for i := range 40 {
		parent := ""
		if i%3 == 0 {
			parent = "00000000000000ff" // its root was lost
		}
		spans = append(spans, span{
			org: org, trace: traceID(i), id: "01", parent: parent, at: warehousetest.Noon().Add(time.Duration(i%4) * time.Nanosecond), name: "n",
			service: "s",
		})
		want = append(want, traceID(i))
	}
	insert(t, w, spans...)
	for _, limit := range []int32{7, 100} {
		for _, filters := range []*svcv2.TraceFilters{nil, {ServiceName: new("s")}} {
			found := search(t, s, org, &svcv2.SearchTracesRequest{Limit: &limit, Filters: filters})
			for i := 1; i < len(found); i++ {
				if found[i].GetStartTime().AsTime().After(found[i-1].GetStartTime().AsTime()) {
					t.Fatal("the order is not descending")
				}
			}
			got := ids(found)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("limit %d: traces (-want +got):\n%s", limit, diff)
			}
		}
	}
}

func TestGetTrace(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_get"
	id := strings.Repeat("a1", 16)
	insert(t, w,
		span{
			org: org, trace: id, id: "02", parent: "01", at: warehousetest.Noon().Add(time.Second), name: "child", service: "db", status: "Ok",
			duration:   3 * time.Second,
			attributes: map[string]string{"k": "v"}, resource: map[string]string{"r": "1"}, events: []string{"exception", "retry"},
		},
		span{org: org, trace: id, id: "01", at: warehousetest.Noon(), name: "root", service: "web", status: "Unset", duration: time.Second},
		span{org: "org_get_other", trace: id, id: "03", at: warehousetest.Noon(), name: "foreign", service: "x"},
	)
	got, err := s.GetTrace(warehousetest.As(t.Context(), org), &svcv2.GetTraceRequest{TraceId: strings.ToUpper(id)})
	if err != nil {
		t.Fatal(err)
	}
	link := []*svcv2.SpanLink{
		{TraceId: traceID(99), SpanId: "00000000000000aa", TraceState: new("a=b"), Attributes: map[string]string{"l": "1"}},
	}
	want := &svcv2.Trace{
		Id: id, Object: "trace", StartTime: timestamppb.New(warehousetest.Noon()),
		EndTime: timestamppb.New(warehousetest.Noon().Add(4 * time.Second)), DurationMs: 4000,
		SpanCount: 2, ServiceCount: 2, Spans: []*svcv2.Span{
			{
				Id: "01", Object: "span", TraceId: id, Name: "root", ServiceName: "web", Kind: "Server",
				StartTime:  timestamppb.New(warehousetest.Noon()),
				DurationMs: 1000, StatusCode: "Unset", Links: link,
			},
			{
				Id: "02", Object: "span", TraceId: id, ParentSpanId: new("01"), Name: "child", ServiceName: "db", Kind: "Server",
				StartTime: timestamppb.New(warehousetest.Noon().Add(time.Second)), DurationMs: 3000, StatusCode: "Ok",
				Attributes: map[string]string{"k": "v"}, ResourceAttributes: map[string]string{"r": "1"}, Links: link,
				Events: []*svcv2.SpanEvent{
					{Timestamp: timestamppb.New(warehousetest.Noon().Add(time.Second)), Name: "exception", Attributes: map[string]string{"n": "0"}},
					{Timestamp: timestamppb.New(warehousetest.Noon().Add(time.Second + 1)), Name: "retry", Attributes: map[string]string{"n": "1"}},
				},
			},
		},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	about := func(after time.Duration) *svcv2.GetTraceRequest {
		return &svcv2.GetTraceRequest{TraceId: id, Timestamp: timestamppb.New(warehousetest.Noon().Add(after))}
	}
	if near, err := s.GetTrace(warehousetest.As(t.Context(), org), about(50*time.Minute)); err != nil || near.GetSpanCount() != 2 {
		t.Errorf("around its time: %v %v", near, err)
	}
	if far, err := s.GetTrace(warehousetest.As(t.Context(), org), about(2*time.Hour)); !errors.As(err, new(*apierr.Error)) {
		t.Errorf("two hours off: %v %v", far, err)
	}
	_, err = s.GetTrace(warehousetest.As(t.Context(), "org_nobody"), &svcv2.GetTraceRequest{TraceId: id})
	var e *apierr.Error
	if !errors.As(err, &e) || e.Tag != apierr.TraceNotFound || e.Param != "trace_id" {
		t.Errorf("another organization got %v", err)
	}
}

func TestGetTraceIsCapped(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_cap"
	id := strings.Repeat("c1", 16)
	var spans []span
	for i := range maxSpans + 7 {
		spans = append(spans, span{
			org: org, trace: id, id: fmt.Sprintf("%016x", i), at: warehousetest.Noon().Add(time.Duration(-i)), name: "n",
			service: "s",
		})
	}
	insert(t, w, spans...)
	got, err := New(w, engine.New(engine.Config{Warehouse: w})).GetTrace(warehousetest.As(t.Context(), org),
		&svcv2.GetTraceRequest{TraceId: id})
	if err != nil {
		t.Fatal(err)
	}
	if !got.GetTruncated() || got.GetSpanCount() != maxSpans+7 || len(got.GetSpans()) != maxSpans {
		t.Errorf("truncated %v, span_count %d, %d spans", got.GetTruncated(), got.GetSpanCount(), len(got.GetSpans()))
	}
	if first := got.GetSpans()[0].GetId(); first != fmt.Sprintf("%016x", maxSpans+6) {
		t.Errorf("the first span is %s, want the earliest", first)
	}
}

func TestSearchRefuses(t *testing.T) {
	start, end := timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	for name, tc := range map[string]struct {
		req   *svcv2.SearchTracesRequest
		tag   apierr.Tag
		param string
	}{
		"backwards": {&svcv2.SearchTracesRequest{StartTime: end, EndTime: start}, apierr.TimeRangeInvalid, "end_time"},
		"too long": {
			&svcv2.SearchTracesRequest{StartTime: timestamppb.New(warehousetest.Noon().Add(-7 * 24 * time.Hour)), EndTime: end},
			apierr.TelemetryRangeTooLarge, "start_time",
		},
		"bad cursor": {&svcv2.SearchTracesRequest{StartTime: start, EndTime: end, Cursor: new("")}, apierr.CursorInvalid, "cursor"},
	} {
		_, err := New(nil, engine.New(engine.Config{Warehouse: nil})).SearchTraces(warehousetest.As(t.Context(), "org_a"), tc.req)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tc.tag || e.Param != tc.param {
			t.Errorf("%s: error %v, want %v on %s", name, err, tc.tag, tc.param)
		}
	}
}

// TestIndexes asks the engine which indexes it uses: a filter that stops matching its index would read every row.
func TestIndexes(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_indexes"
	insert(t, w, span{
		org: org, trace: traceID(1), id: "01", at: warehousetest.Noon(), name: "n", service: "s",
		attributes: map[string]string{"k": "v"},
	})
	window := query.Window{Start: warehousetest.Noon().Add(-time.Hour), End: warehousetest.Noon().Add(time.Hour)}
	equals := query.Filter{
		Match: &query.Match{Field: query.Field{Scope: query.OwnAttribute, Key: "k"}, Op: query.OpEqual, Values: []string{"v"}},
	}
	ofService := query.Filter{Match: &query.Match{Field: query.Field{Key: "service.name"}, Op: query.OpEqual, Values: []string{"s"}}}
	filtered := reads.SearchTraces(reads.TraceSearch{Slice: window, Limit: 1, Filter: query.And(ofService, equals)})
	// The plan omits the subqueries of a set, so the query that finds matching spans is explained by itself.
	_, matching, found := strings.Cut(filtered.SQL, "TraceId IN (\n")
	inner, _, closed := strings.Cut(matching, ")\n    GROUP BY")
	if !found || !closed {
		t.Fatalf("the query of matching spans is not where this test looks:\n%s", filtered.SQL)
	}
	for name, tc := range map[string]struct {
		statement sqlbuild.Statement
		want      []string
	}{
		"trace":     {reads.TraceExtent(traceID(1)), []string{"idx_trace_id", "OrgId"}},
		"spans":     {reads.TraceSpans(traceID(1), time.Time{}, 10), []string{"idx_trace_id", "OrgId", "Timestamp"}},
		"attribute": {filtered, []string{"OrgId", "Timestamp", "idx_trace_id"}},
		"matching":  {sqlbuild.Statement{SQL: inner, Args: filtered.Args}, []string{"OrgId", "ServiceName", "idx_span_attribute"}},
		"horizon":   {reads.TraceHorizon(window, 10), []string{"OrgId", "Timestamp"}},
	} {
		rows, err := w.Query(t.Context(), org, "EXPLAIN indexes = 1 "+tc.statement.SQL, tc.statement.Args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(line + "\n")
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		for _, index := range tc.want {
			if !strings.Contains(plan.String(), index) {
				t.Errorf("%s does not use %s:\n%s", name, index, plan.String())
			}
		}
	}
}

// TestGetTraceIsCutBySize: a trace whose spans are large is cut, and says so.
func TestGetTraceIsCutBySize(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org, trace, count = "org_large_trace", "0af7651916cd43dd8448eb211c80319c", 24
	if err := w.Exec(t.Context(), fmt.Sprintf(`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, ServiceName, SpanName, SpanAttributes)
		SELECT '%s', toDateTime64('%s', 9, 'UTC') + toIntervalSecond(number), '%s', lower(leftPad(hex(number), 16, '0')), 's', 'op', map('k', repeat('x', 1000000))
		FROM numbers(%d)`, org, warehousetest.Noon().Format(time.DateTime), trace, count)); err != nil {
		t.Fatal(err)
	}
	res, err := s.GetTrace(warehousetest.As(t.Context(), org), &svcv2.GetTraceRequest{TraceId: trace})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(res.GetSpans()); n == 0 || n*1_000_000 > limits.AnswerTrace || res.GetSpanCount() != count || !res.GetTruncated() {
		t.Errorf("%d spans of %d, truncated: %v", n, res.GetSpanCount(), res.GetTruncated())
	}
	if end := res.GetEndTime().AsTime(); !end.Equal(warehousetest.Noon().Add((count - 1) * time.Second)) {
		t.Errorf("the trace ends at %s", end)
	}
}
