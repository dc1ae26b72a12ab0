package logs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

type record struct {
	org                      principal.OrgID
	at                       time.Time
	service, severity, body  string
	number                   uint8
	trace, span, environment string
	attributes, resource     map[string]string
}

func insert(t *testing.T, w *warehouse.Warehouse, records ...record) {
	t.Helper()
	var rows [][]any
	for _, r := range records {
		rows = append(rows, []any{
			string(r.org), r.at, r.at, r.trace, r.span, r.severity, r.number, r.service, r.environment, r.body, notNil(r.attributes),
			notNil(r.resource),
		})
	}
	columns := []string{
		"OrgId", "Timestamp", "ObservedTimestamp", "TraceId", "SpanId", "SeverityText", "SeverityNumber", "ServiceName", "Environment", "Body",
		"LogAttributes", "ResourceAttributes",
	}
	if err := w.InsertRows(t.Context(), "logs", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}

func notNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func search(t *testing.T, s *Service, org principal.OrgID, f *svcv2.LogFilters) []string {
	t.Helper()
	res, err := s.SearchLogs(warehousetest.As(t.Context(), org), &svcv2.SearchLogsRequest{
		StartTime: timestamppb.New(warehousetest.Noon().Add(-time.Hour)), EndTime: timestamppb.New(warehousetest.Noon().Add(time.Hour)),
		Limit: new(int32(100)), Filters: f,
	})
	if err != nil {
		t.Fatal(err)
	}
	bodies := []string{}
	for _, l := range res.GetData() {
		bodies = append(bodies, l.GetBody())
	}
	slices.Sort(bodies)
	return bodies
}

func TestSearchFilters(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org, other = "org_filters", "org_filters_other"
	trace, span := strings.Repeat("ab", 16), strings.Repeat("cd", 8)
	tricky := "tab\there \\ back 'quote' {org:String} \"x\"\nnew line"
	insert(t, w,
		record{
			org: org, at: warehousetest.Noon(), service: "cart", severity: "ERROR", number: 17, body: "Connection refused by db-7.local",
			trace: trace,
			span:  span, environment: "prod",
			attributes: map[string]string{"attempt": "3", "peer": "db-7", "odd'key\\": "v\t1", "empty": ""},
			resource:   map[string]string{"service.name": "cart", "host": "h1"},
		},
		record{
			org: org, at: warehousetest.Noon(), service: "cart", severity: "INFO", number: 9, body: "ready",
			attributes: map[string]string{"attempt": "12.5"},
		},
		record{
			org: org, at: warehousetest.Noon(), service: "web", severity: "WARN", number: 13, body: "Größe überschritten",
			attributes: map[string]string{"attempt": "many"},
		},
		record{org: org, at: warehousetest.Noon(), service: "web", severity: "DEBUG", number: 5, body: tricky},
		record{org: other, at: warehousetest.Noon(), service: "cart", severity: "ERROR", number: 17, body: "another organization", trace: trace},
	)
	const refused, ready, size = "Connection refused by db-7.local", "ready", "Größe überschritten"
	value := func(key, op string, v any, negated bool) *svcv2.AttributeFilter {
		f := &svcv2.AttributeFilter{Key: key, Operator: op, Negated: &negated}
		if v != nil {
			f.Value, _ = structpb.NewValue(v)
		}
		return f
	}
	attribute := func(key, op string, v any, negated bool) *svcv2.LogFilters {
		return &svcv2.LogFilters{Attributes: []*svcv2.AttributeFilter{value(key, op, v, negated)}}
	}
	for name, tc := range map[string]struct {
		filters *svcv2.LogFilters
		want    []string
	}{
		"none":                {nil, []string{refused, size, ready, tricky}},
		"service":             {&svcv2.LogFilters{ServiceName: new("cart")}, []string{refused, ready}},
		"service is a value":  {&svcv2.LogFilters{ServiceName: new("cart' OR '1'='1")}, nil},
		"severity":            {&svcv2.LogFilters{Severity: new(" error ")}, []string{refused}},
		"minimum severity":    {&svcv2.LogFilters{MinimumSeverity: new(int32(13))}, []string{refused, size}},
		"severity above all":  {&svcv2.LogFilters{MinimumSeverity: new(int32(255))}, nil},
		"trace id any case":   {&svcv2.LogFilters{TraceId: new(strings.ToUpper(trace))}, []string{refused}},
		"span id":             {&svcv2.LogFilters{SpanId: new(span)}, []string{refused}},
		"environment":         {&svcv2.LogFilters{DeploymentEnvironment: new("prod")}, []string{refused}},
		"body, middle words":  {&svcv2.LogFilters{BodySearch: new("CTION Refused By DB")}, []string{refused}},
		"body, part of words": {&svcv2.LogFilters{BodySearch: new("onnec")}, []string{refused}},
		"body, wrong order":   {&svcv2.LogFilters{BodySearch: new("x refused Connection x")}, nil},
		"body, other letters": {&svcv2.LogFilters{BodySearch: new("GRÖSSE")}, nil},
		"body, folded":        {&svcv2.LogFilters{BodySearch: new("größe ÜBER")}, []string{size}},
		"body, no words":      {&svcv2.LogFilters{BodySearch: new("'quote' {org:String}")}, []string{tricky}},
		"body, odd bytes":     {&svcv2.LogFilters{BodySearch: new("tab\there \\ back")}, []string{tricky}},
		"body, line break":    {&svcv2.LogFilters{BodySearch: new("\nnew ")}, []string{tricky}},
		"exists":              {attribute("peer", "exists", nil, false), []string{refused}},
		"not exists":          {attribute("attempt", "exists", nil, true), []string{tricky}},
		"equals":              {attribute("peer", "equals", "db-7", false), []string{refused}},
		"equals odd text":     {attribute("odd'key\\", "equals", "v\t1", false), []string{refused}},
		"equals empty":        {attribute("empty", "equals", "", false), []string{refused}},
		"not equals":          {attribute("peer", "equals", "db-7", true), []string{size, ready, tricky}},
		"contains":            {attribute("peer", "contains", "B-", false), []string{refused}},
		"gt":                  {attribute("attempt", "gt", 3.0, false), []string{ready}},
		"gte":                 {attribute("attempt", "gte", 3.0, false), []string{refused, ready}},
		"lt":                  {attribute("attempt", "lt", 12.5, false), []string{refused}},
		"lte":                 {attribute("attempt", "lte", 12.5, false), []string{refused, ready}},
		"not lte":             {attribute("attempt", "lte", 12.5, true), []string{size, tricky}},
		"resource": {
			&svcv2.LogFilters{ResourceAttributes: []*svcv2.AttributeFilter{value("host", "equals", "h1", false)}},
			[]string{refused},
		},
		"promoted": {
			&svcv2.LogFilters{ResourceAttributes: []*svcv2.AttributeFilter{value("service.name", "equals", "cart", false)}},
			[]string{refused},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]string{}, tc.want...)
			slices.Sort(want)
			if diff := cmp.Diff(want, search(t, s, org, tc.filters)); diff != "" {
				t.Errorf("bodies (-want +got):\n%s", diff)
			}
			if got := search(t, s, "org_nobody", tc.filters); len(got) > 0 {
				t.Errorf("an organization without data got %q", got)
			}
		})
	}
}

func TestSearchPagesThroughTies(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_pages"
	var records []record
	want := map[string]int{}
	for i := range 40 {
		// There are five times. At each, some records differ in one column only, and some are equal.
		body := fmt.Sprintf("record %d", i%8)
		r := record{
			org: org, at: warehousetest.Noon().Add(time.Duration(i%5) * time.Nanosecond), service: fmt.Sprintf("s%d", i%2), body: body,
			attributes: map[string]string{"i": fmt.Sprint(i % 4)},
		}
		records = append(records, r, r)
	}
	insert(t, w, records...)
	for _, r := range records {
		want[fmt.Sprint(r.at.UnixNano(), r.service, r.body, r.attributes)]++
	}
	for i, limit := range []int32{1, 3, 7, 100, 1, 3, 7, 100} {
		got, order := map[string]int{}, []string{"desc", "asc"}[i/4]
		var cursor *string
		last := warehousetest.Noon().Add(time.Hour)
		if order == "asc" {
			last = warehousetest.Noon().Add(-time.Hour)
		}
		for page := 0; ; page++ {
			if page > len(records) {
				t.Fatal("the pages do not end")
			}
			res, err := s.SearchLogs(warehousetest.As(t.Context(), org), &svcv2.SearchLogsRequest{
				StartTime: timestamppb.New(warehousetest.Noon()), EndTime: timestamppb.New(warehousetest.Noon().Add(4)), Limit: &limit, Cursor: cursor,
				Order: &order,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range res.GetData() {
				at := l.GetTimestamp().AsTime()
				got[fmt.Sprint(at.UnixNano(), l.GetServiceName(), l.GetBody(), l.GetLogAttributes())]++
				if at.After(last) == (order == "desc") && !at.Equal(last) {
					t.Fatal("the order is not " + order)
				}
				last = at
			}
			if res.GetHasMore() != (res.NextCursor != nil) {
				t.Fatal("has_more and next_cursor disagree")
			}
			if cursor = res.NextCursor; cursor == nil {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, limit %d: records (-want +got):\n%s", order, limit, diff)
		}
	}
}

func TestID(t *testing.T) {
	id, err := formatID(time.Unix(1_700_000_000, 42), "00112233445566778899aabbccddeeff")
	if err != nil {
		t.Fatal(err)
	}
	got, err := publicid.DecodeText(publicid.Log, id)
	if want := `["~s44we8.000000042","~ABEiM0RVZneImaq7zN3u_w"]`; got != want || err != nil {
		t.Errorf("id holds %s, %v; want %s", got, err, want)
	}
}

func TestSearchRefuses(t *testing.T) {
	start, end := timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(time.Hour))
	for name, tc := range map[string]struct {
		req   *svcv2.SearchLogsRequest
		tag   apierr.Tag
		param string
	}{
		"no start": {&svcv2.SearchLogsRequest{EndTime: end}, apierr.ParameterMissing, "start_time"},
		"same":     {&svcv2.SearchLogsRequest{StartTime: start, EndTime: start}, apierr.TimeRangeInvalid, "end_time"},
		"too long": {
			&svcv2.SearchLogsRequest{StartTime: timestamppb.New(warehousetest.Noon().Add(-7 * 24 * time.Hour)), EndTime: end},
			apierr.TelemetryRangeTooLarge, "start_time",
		},
		"bad cursor": {&svcv2.SearchLogsRequest{StartTime: start, EndTime: end, Cursor: new("log_x")}, apierr.CursorInvalid, "cursor"},
		"far year": {
			&svcv2.SearchLogsRequest{StartTime: start, EndTime: &timestamppb.Timestamp{Seconds: 1 << 35}}, apierr.TimeRangeInvalid,
			"end_time",
		},
		"text for gt": {&svcv2.SearchLogsRequest{StartTime: start, EndTime: end, Filters: &svcv2.LogFilters{
			Attributes: []*svcv2.AttributeFilter{{Key: "a", Operator: "gt", Value: structpb.NewStringValue("1")}},
		}}, apierr.InvalidRequest, "filters.attributes[0].value"},
	} {
		_, err := New(nil, engine.New(engine.Config{Warehouse: nil})).SearchLogs(warehousetest.As(t.Context(), "org_a"), tc.req)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tc.tag || e.Param != tc.param {
			t.Errorf("%s: error %v, want %v on %s", name, err, tc.tag, tc.param)
		}
	}
}

func TestBodySearchIgnoresCase(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_case"
	const body = "ALARM Raised HERE loudly"
	insert(t, w, record{org: org, at: warehousetest.Noon(), service: "s", severity: "INFO", body: body})
	for _, text := range []string{"m raised here l", "M RAISED HERE L", "alarm", body} {
		if got := search(t, New(w, engine.New(engine.Config{Warehouse: w})), org, &svcv2.LogFilters{BodySearch: &text}); len(got) != 1 {
			t.Errorf("%q finds %q", text, got)
		}
	}
}

// TestIndexes asks the engine which indexes it uses: a filter that stops matching its index would read every row.
func TestIndexes(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_indexes"
	insert(t, w, record{
		org: org, at: warehousetest.Noon(), service: "s", severity: "INFO", body: "one two three",
		attributes: map[string]string{"k": "v"},
	})
	for index, filters := range map[string]*svcv2.LogFilters{
		"idx_body":          {BodySearch: new("e two t")},
		"idx_trace_id":      {TraceId: new(strings.Repeat("ab", 16))},
		"idx_log_attribute": {Attributes: []*svcv2.AttributeFilter{{Key: "k", Operator: "equals", Value: structpb.NewStringValue("v")}}},
		"ServiceName":       {ServiceName: new("s")},
	} {
		filter, err := query.LogFilter(filters)
		if err != nil {
			t.Fatal(err)
		}
		s := reads.SearchLogs(reads.LogSearch{
			Window: query.Window{Start: warehousetest.Noon().Add(-time.Hour), End: warehousetest.Noon().Add(time.Hour)}, Filter: filter, Limit: 1,
		})
		rows, err := w.Query(t.Context(), org, "EXPLAIN indexes = 1 "+s.SQL, s.Args...)
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
		if !strings.Contains(plan.String(), index) {
			t.Errorf("%s is not used:\n%s", index, plan.String())
		}
	}
}

// TestSearchCutsLargePages: a page ends early when its records are large, and the next one goes on without a gap.
func TestSearchCutsLargePages(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org = "org_large_pages"
	// The first is larger than a page may be. Two records have the same time, and two are equal.
	var records []record
	for i, size := range []int{1 << 20, 1 << 20, 1 << 20, 1 << 20, 100, 1 << 20, 1 << 20, limits.AnswerRows + 1, 1 << 20, 1 << 20} {
		records = append(records, record{
			org: org, at: warehousetest.Noon().Add(time.Duration(i/2) * time.Hour), service: "s",
			body: strings.Repeat(string(rune('a'+i)), size),
		})
	}
	records = append(records, records[1], records[9])
	insert(t, w, records...)
	for _, limit := range []int32{2, 100} {
		got, pages := map[string]int{}, 0
		var cursor *string
		for last := ""; ; pages++ {
			if pages > len(records) {
				t.Fatal("the pages do not end")
			}
			res, err := s.SearchLogs(warehousetest.As(t.Context(), org), &svcv2.SearchLogsRequest{
				StartTime: timestamppb.New(warehousetest.Noon()), EndTime: timestamppb.New(warehousetest.Noon().Add(6 * time.Hour)), Limit: &limit,
				Cursor: cursor,
			})
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, l := range res.GetData() {
				got[l.GetBody()]++
				size += len(l.GetBody())
				last = l.GetBody()
			}
			if size > limits.AnswerRows && len(res.GetData()) > 1 || len(res.GetData()) == 0 {
				t.Errorf("limit %d: a page of %d records has %d bytes", limit, len(res.GetData()), size)
			}
			if res.GetHasMore() != (res.NextCursor != nil) {
				t.Fatal("has_more and next_cursor disagree")
			}
			if cursor = res.NextCursor; cursor == nil {
				if last[0] > 'b' {
					t.Errorf("limit %d: the last record is %.1s", limit, last)
				}
				break
			}
		}
		for _, r := range records {
			got[r.body]--
		}
		for body, n := range got {
			if n != 0 {
				t.Errorf("limit %d: %.1s… of %d bytes came %d times too often", limit, body, len(body), n)
			}
		}
		if limit == 100 && pages < 2 {
			t.Errorf("%d pages", pages+1)
		}
	}
}
