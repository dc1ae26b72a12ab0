package errorevents

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

func service(w *warehouse.Warehouse) *Service {
	return New(w, engine.New(engine.Config{Warehouse: w}), nil, time.Now)
}

// failure is a span with status Error. It has an exception if any of the three fields is set.
type failure struct {
	service, environment, version string
	typ, message, stack           string
	status                        string // message of the status
	at                            time.Time
	trace                         int
	rate                          float64
	fine                          bool // not an error
	child                         bool
}

func insert(t *testing.T, w *warehouse.Warehouse, org principal.OrgID, failures ...failure) {
	t.Helper()
	var rows [][]any
	for i, f := range failures {
		names, times, maps := []string{"log"}, []time.Time{f.at}, []map[string]string{{"exception.type": "not this one"}}
		if f.typ+f.message+f.stack != "" {
			names, times = append(names, "exception"), append(times, f.at.Add(time.Millisecond))
			maps = append(maps, map[string]string{"exception.type": f.typ, "exception.message": f.message, "exception.stacktrace": f.stack})
		}
		status, parent := "Error", ""
		if f.fine {
			status = "Ok"
		}
		if f.child {
			parent = "00000000000000ff"
		}
		if f.service == "" {
			f.service = "shop"
		}
		rows = append(rows, []any{
			string(org), f.at, fmt.Sprintf("%032x", f.trace), fmt.Sprintf("%016x", i+1), parent, "op", f.service, f.environment, f.version,
			status, f.status, uint64(2e6), max(f.rate, 1),
			times, names, maps,
		})
	}
	columns := strings.Fields("OrgId Timestamp TraceId SpanId ParentSpanId SpanName ServiceName Environment ServiceVersion StatusCode " +
		"StatusMessage DurationNano SampleRate EventsTimestamp EventsName EventsAttributes")
	if err := w.InsertRows(t.Context(), "spans", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
}

func search(t *testing.T, w *warehouse.Warehouse, org principal.OrgID, req *svcv2.SearchErrorEventsRequest) []*svcv2.ErrorEvent {
	t.Helper()
	req.StartTime, req.EndTime = timestamppb.New(warehousetest.Noon()), timestamppb.New(warehousetest.Noon().Add(2*time.Hour))
	var all []*svcv2.ErrorEvent
	for range 100 {
		res, err := service(w).SearchErrorEvents(warehousetest.As(t.Context(), org), req)
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

// TestGrouping checks which failures form one group, and the name of the group.
func TestGrouping(t *testing.T) {
	w := warehousetest.Shared(t)
	const python = "Traceback (most recent call last):\n  File \"/app/pay.py\", line 12, in charge\n    raise Declined()\n  File " +
		"\"/app/web.py\", line %d, in view\nDeclined"
	for name, tc := range map[string]struct {
		failures []failure
		groups   int
		label    string // label of the first group
		frame    string
	}{
		"same frames, other lines and messages": {[]failure{
			{typ: "Error", message: "order 1", stack: "Error: order 1\n    at charge (pay.js:10:2)\n    at run (main.js:1:1)"},
			{typ: "Error", message: "order 2", stack: "Error: order 2\n    at charge (pay.js:99:7)\n    at run (main.js:2:2)"},
		}, 1, "Error", "at charge (pay.js:#:#)"},
		"a port in the message is no frame": {[]failure{
			{typ: "Error", message: "connect 10.0.0.1:5432", stack: "Error: connect 10.0.0.1:5432\n    at dial (net.js:3:1)"},
			{typ: "Error", message: "connect 10.0.0.9:5433 refused", stack: "Error: connect 10.0.0.9:5433 refused\n    at dial (net.js:3:1)"},
		}, 1, "Error", "at dial (net.js:#:#)"},
		"other frames": {[]failure{
			{typ: "Error", message: "x", stack: "    at a (a.js:1:1)"}, {typ: "Error", message: "x", stack: "    at b (a.js:1:1)"},
		}, 2, "Error", ""},
		"frames beyond the third": {[]failure{{typ: "E", stack: "a:1\nb:2\nc:3\nd:4"}, {typ: "E", stack: "a:1\nb:2\nc:3\ne:4"}}, 1, "E", "a:#"},
		"python": {[]failure{
			{typ: "Declined", stack: fmt.Sprintf(python, 7)},
			{typ: "Declined", stack: fmt.Sprintf(python, 8)},
		}, 1, "Declined", `File "/app/pay.py", line #, in charge`},
		"other types":        {[]failure{{typ: "A", message: "x"}, {typ: "B", message: "x"}}, 2, "A", ""},
		"other services":     {[]failure{{typ: "A", service: "a"}, {typ: "A", service: "b"}}, 2, "A", ""},
		"other environments": {[]failure{{typ: "A", environment: "prod"}, {typ: "A", environment: "dev"}}, 1, "A", ""},
		"numbers in the message": {
			[]failure{{status: "order 17 of 4f3a9c21aa not found"}, {status: "order 9 of 77aa10ffbb not found"}},
			1,
			"order 9 of 77aa10ffbb not found", "",
		},
		"status instead":        {[]failure{{status: "card declined: code 5"}}, 1, "card declined", ""},
		"message before status": {[]failure{{typ: "", message: "disk full, 3 left", status: "other"}}, 1, "disk full", ""},
		"parenthesis":           {[]failure{{status: "timeout (30 s)"}}, 1, "timeout", ""},
		"nothing":               {[]failure{{}}, 1, "Unknown Error", ""},
		"JSON, its order": {
			[]failure{{status: `{"b":1,"title":"Too hot","a":2}`}, {status: `{"a":3,"title":"Too hot","b":4}`}},
			1,
			"Too hot", "",
		},
		"JSON, other text":         {[]failure{{status: `{"reason":"x"}`}, {status: `{"reason":"y"}`}}, 2, "", ""},
		"JSON without a name":      {[]failure{{status: `{"n":1}`}}, 1, "JSON error", ""},
		"JSON, type of a URL":      {[]failure{{status: `{"type":"https://errors.example/out-of-stock"}`}}, 1, "out-of-stock", ""},
		"short":                    {[]failure{{status: "no"}}, 1, "no", ""},
		"quotes and line breaks":   {[]failure{{status: "it's\nbroken"}}, 1, "it's", ""},
		"parse dump":               {[]failure{{status: "ParseError\n└─ expected string"}}, 1, "Schema parse error", ""},
		"what is no error":         {[]failure{{typ: "A", fine: true}}, 0, "", ""},
		"a very long message":      {[]failure{{status: strings.Repeat("é", 5000)}}, 1, strings.Repeat("é", 150), ""},
		"the exception's own hour": {[]failure{{typ: "A", rate: 4}, {typ: "A"}}, 1, "A", ""},
	} {
		t.Run(name, func(t *testing.T) {
			org := principal.OrgID("org_grouping " + name)
			for i := range tc.failures {
				tc.failures[i].at, tc.failures[i].trace = warehousetest.Noon().Add(time.Minute+time.Duration(i)), i
			}
			insert(t, w, org, tc.failures...)
			got := search(t, w, org, &svcv2.SearchErrorEventsRequest{OrderBy: new("first_seen")})
			if len(got) != tc.groups {
				t.Fatalf("%d groups, want %d: %v", len(got), tc.groups, got)
			}
			if tc.label != "" {
				last := got[len(got)-1] // the first seen group comes last
				if last.GetErrorLabel() != tc.label || tc.frame != "" && last.GetTopFrame() != tc.frame {
					t.Errorf("label %q, frame %q, want %q, %q", last.GetErrorLabel(), last.GetTopFrame(), tc.label, tc.frame)
				}
			}
		})
	}
}

func TestSearchAndDetail(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_errors"
	at := warehousetest.Noon().Add(time.Hour)
	var failures []failure
	for i := range 30 {
		failures = append(failures, failure{
			typ: "Declined", message: fmt.Sprintf("no funds for %d", i), stack: "    at charge (pay.js:1:1)",
			at: at.Add(time.Duration(i) * time.Second), trace: i / 2, rate: 2,
			environment: []string{"prod", "dev", ""}[i%3], version: "1.0", child: i%2 == 0,
		})
	}
	failures = append(failures,
		failure{status: "other: x", service: "web", at: at.Add(time.Minute), trace: 900},
		failure{typ: "Declined", stack: "    at charge (pay.js:1:1)", at: warehousetest.Noon().Add(-time.Hour), trace: 901}, // before the window
	)
	for i := range 25 {
		failures = append(failures, failure{typ: fmt.Sprintf("Type%c", 'A'+i), service: "many", at: at.Add(-time.Minute), trace: 1000 + i})
	}
	insert(t, w, org, failures...)
	insert(t, w, "org_errors_other", failure{typ: "Foreign", at: at, trace: 1})

	first := search(t, w, org, &svcv2.SearchErrorEventsRequest{Limit: new(int32(7))})
	if len(first) != 27 {
		t.Fatalf("%d groups", len(first))
	}
	top := first[0]
	if top.GetCount() != 30 || top.GetEstimatedCount() != 60 || top.GetAffectedTracesCount() != 15 ||
		top.GetSampleMessage() != "no funds for 29" ||
		strings.Join(top.GetDeploymentEnvironments(), ",") != "dev,prod" || !top.GetFirstSeen().AsTime().Equal(at) ||
		!top.GetLastSeen().AsTime().Equal(at.Add(29*time.Second)) {
		t.Errorf("first group: %v", top)
	}
	if got := split(top.GetEnvironments()); got != "prod 10 20, dev 10 20,  10 20" {
		t.Errorf("environments of the first group: %s", got)
	}
	for name, tc := range map[string]struct {
		filters *svcv2.ErrorEventFilters
		want    int
	}{
		"service":      {&svcv2.ErrorEventFilters{ServiceName: new("web")}, 1},
		"environment":  {&svcv2.ErrorEventFilters{DeploymentEnvironment: new("dev")}, 1},
		"type":         {&svcv2.ErrorEventFilters{ExceptionType: new("TypeC")}, 1},
		"label":        {&svcv2.ErrorEventFilters{Search: new("typeb")}, 1},
		"message":      {&svcv2.ErrorEventFilters{Search: new("NO FUNDS")}, 1},
		"fingerprint":  {&svcv2.ErrorEventFilters{FingerprintHashes: []string{top.GetFingerprintHash(), "1", "99999999999999999999"}}, 1},
		"no number":    {&svcv2.ErrorEventFilters{FingerprintHashes: []string{"99999999999999999999"}}, 0},
		"roots":        {&svcv2.ErrorEventFilters{RootOnly: new(true), ServiceName: new("shop")}, 1},
		"hostile text": {&svcv2.ErrorEventFilters{Search: new("' OR 1=1 --")}, 0},
		"nothing":      {&svcv2.ErrorEventFilters{ServiceNamespace: new("nowhere")}, 0},
	} {
		if got := search(t, w, org, &svcv2.SearchErrorEventsRequest{Filters: tc.filters}); len(got) != tc.want {
			t.Errorf("%s: %d groups, want %d", name, len(got), tc.want)
		}
	}
	res, err := service(w).SearchErrorEvents(warehousetest.As(t.Context(), org), &svcv2.SearchErrorEventsRequest{
		StartTime: timestamppb.New(warehousetest.Noon()), EndTime: timestamppb.New(warehousetest.Noon().Add(2 * time.Hour)),
	})
	if err != nil || res.GetTotals().GetOccurrences() != 56 || res.GetTotals().GetEstimatedOccurrences() != 86 ||
		res.GetTotals().GetFingerprints() != 27 ||
		res.GetTotals().GetNoExceptionCount() != 1 || res.GetTotals().GetAffectedServicesCount() != 3 ||
		res.GetTotals().GetAffectedTracesCount() != 41 {
		t.Errorf("totals: %v, %v", res.GetTotals(), err)
	}
	if got := split(res.GetTotals().GetEnvironments()); got != " 36 46, prod 10 20, dev 10 20" ||
		res.GetTotals().GetEstimatedNoExceptionCount() != 1 {
		t.Errorf("environments of all: %s, %v", got, res.GetTotals())
	}

	detail, err := service(w).GetErrorEvent(warehousetest.As(t.Context(), org), &svcv2.GetErrorEventRequest{
		Fingerprint: top.GetFingerprintHash(), SampleLimit: new(int32(3)),
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, p := range detail.GetTimeseries() {
		sum += p.GetCount()
	}
	// Without a window the read covers the day before the last occurrence, and so includes the one before the search's window.
	if detail.GetCount() != 31 || sum != 31 || detail.GetBucketSeconds() != 1800 ||
		!detail.GetEndTime().AsTime().Equal(at.Add(29*time.Second)) {
		t.Errorf("count %v, series %v, buckets of %d s, until %v", detail.GetCount(), sum, detail.GetBucketSeconds(),
			detail.GetEndTime().AsTime())
	}
	if s := detail.GetSampleTraces(); len(s) != 3 || s[0].GetTraceId() != fmt.Sprintf("%032x", 14) ||
		s[1].GetTraceId() != fmt.Sprintf("%032x", 13) ||
		s[0].GetExceptionMessage() != "no funds for 29" || s[0].GetDurationMs() != 2 ||
		!s[0].GetTimestamp().AsTime().Equal(at.Add(29*time.Second+time.Millisecond)) {
		t.Errorf("samples: %v", s)
	}
	if detail.GetStacktrace() != "    at charge (pay.js:1:1)" || detail.GetErrorLabel() != "Declined" ||
		len(detail.GetVersions()) != 2 || len(detail.GetEnvironments()) != 3 {
		t.Errorf("stack %q, label %q, versions %v, environments %v", detail.GetStacktrace(), detail.GetErrorLabel(), detail.GetVersions(),
			detail.GetEnvironments())
	}
	for _, ask := range []struct {
		org principal.OrgID
		req *svcv2.GetErrorEventRequest
	}{
		{"org_errors_other", &svcv2.GetErrorEventRequest{Fingerprint: top.GetFingerprintHash()}},
		{org, &svcv2.GetErrorEventRequest{Fingerprint: "1"}},
		{org, &svcv2.GetErrorEventRequest{Fingerprint: top.GetFingerprintHash(), ServiceName: new("web")}},
		{org, &svcv2.GetErrorEventRequest{
			Fingerprint: top.GetFingerprintHash(), StartTime: timestamppb.New(at.Add(time.Hour)),
			EndTime: timestamppb.New(at.Add(2 * time.Hour)),
		}},
	} {
		_, err := service(w).GetErrorEvent(warehousetest.As(t.Context(), ask.org), ask.req)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.ErrorEventNotFound || e.Param != "fingerprint" {
			t.Errorf("%s, %v: %v", ask.org, ask.req, err)
		}
	}
	_, err = service(w).GetErrorEvent(warehousetest.As(t.Context(), org),
		&svcv2.GetErrorEventRequest{Fingerprint: "1", EndTime: timestamppb.New(at)})
	var e *apierr.Error
	if !errors.As(err, &e) || e.Tag != apierr.ParameterMissing || e.Param != "start_time" {
		t.Errorf("half a window: %v", err)
	}
}

// TestRelatedErrors: the result has the other errors in the traces of a group, and nothing of other traces or organizations.
func TestRelatedErrors(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_errors_related"
	at := warehousetest.Noon()
	timeout := func(trace int) failure {
		return failure{service: "payments", typ: "Timeout", message: "no answer", at: at, trace: trace}
	}
	caller := func(trace int) failure {
		return failure{service: "web", status: "the order failed", at: at.Add(time.Second), trace: trace}
	}
	insert(t, w, org, timeout(1), timeout(2), caller(1), caller(2), failure{service: "cart", typ: "Full", at: at, trace: 2},
		failure{service: "cart", typ: "Elsewhere", at: at, trace: 3})
	insert(t, w, "org_errors_stranger", failure{service: "spy", typ: "Stranger", at: at, trace: 1})
	res, err := service(w).SearchErrorEvents(warehousetest.As(t.Context(), org), &svcv2.SearchErrorEventsRequest{
		StartTime: timestamppb.New(at.Add(-time.Hour)), EndTime: timestamppb.New(at.Add(time.Hour)),
		Filters: &svcv2.ErrorEventFilters{ServiceName: new("payments")},
	})
	if err != nil || len(res.GetData()) != 1 {
		t.Fatal(res, err)
	}
	got, err := service(w).GetErrorEvent(warehousetest.As(t.Context(), org),
		&svcv2.GetErrorEventRequest{Fingerprint: res.GetData()[0].GetFingerprintHash()})
	if err != nil {
		t.Fatal(err)
	}
	list := got.GetRelatedErrors()
	if len(list) != 2 || list[0].GetServiceName() != "web" || list[0].GetTracesCount() != 2 || list[1].GetErrorLabel() != "Full" ||
		list[1].GetTracesCount() != 1 || list[1].GetFingerprintHash() == "" {
		t.Errorf("%v", list)
	}
	if got.GetNoExceptionCount() != 0 {
		t.Errorf("%v occurrences have no exception", got.GetNoExceptionCount())
	}
	if got, err = service(w).GetErrorEvent(warehousetest.As(t.Context(), org),
		&svcv2.GetErrorEventRequest{Fingerprint: list[0].GetFingerprintHash()}); err != nil || got.GetNoExceptionCount() != 2 {
		t.Errorf("%v of the caller's, %v", got.GetNoExceptionCount(), err)
	}
}

// split writes counts of errors as "name count estimate".
func split(list []*svcv2.ErrorEventCount) string {
	var parts []string
	for _, e := range list {
		parts = append(parts, fmt.Sprintf("%s %v %v", e.GetName(), e.GetCount(), e.GetEstimatedCount()))
	}
	return strings.Join(parts, ", ")
}

// TestSearchOrdersByEstimate: a group of few sampled spans comes before one of more spans that stand for themselves.
func TestSearchOrdersByEstimate(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_errors_order"
	at := warehousetest.Noon().Add(time.Minute)
	insert(t, w, org,
		failure{typ: "Often", at: at, trace: 1}, failure{typ: "Often", at: at, trace: 2}, failure{typ: "Often", at: at, trace: 3},
		failure{typ: "Sampled", at: at, trace: 4, rate: 10},
	)
	for order, want := range map[string]string{"count": "Often 3 3, Sampled 1 10", "estimated_count": "Sampled 1 10, Often 3 3"} {
		var got []string
		for _, e := range search(t, w, org, &svcv2.SearchErrorEventsRequest{OrderBy: &order}) {
			got = append(got, fmt.Sprintf("%s %v %v", e.GetErrorLabel(), e.GetCount(), e.GetEstimatedCount()))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("by %s: %v, want %s", order, got, want)
		}
	}
}
