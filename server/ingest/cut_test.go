package ingest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest"
)

// TestRowsTooLarge: the answer to a request whose rows exceed the limit names the limit. It is a 413, not a failure of the
// server.
func TestRowsTooLarge(t *testing.T) {
	f := newFixture(t, ingest.Limits{Columns: 1 << 20}, nil)
	const want = "of this request take more than 1 MiB in storage"
	for path, body := range map[string][]byte{
		"/v1/traces": wire(t, spans(50_000)), pathEvents: bytes.Repeat([]byte(`{"name":"a"}`+"\n"), 20_000),
		pathMeta:                   bytes.Repeat([]byte(`{"session_id":"a"}`+"\n"), 20_000),
		pathTimeline:               bytes.Repeat([]byte(`{"session_id":"a","type":"click"}`+"\n"), 20_000),
		logpushURL + goodConnector: []byte(strings.Repeat(pushed("/a"), 20_000)),
	} {
		res := f.do("POST", path, body, bearer(goodKey)...)
		if got := text(t, res.Body); res.StatusCode != 413 || !strings.Contains(got, "ingest_payload_too_large") ||
			!strings.Contains(got, want) || res.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s, want %q", path, res.StatusCode, got, want)
		}
	}
	if err := f.exportTraces(t, goodKey, spans(50_000)); err == nil || !strings.Contains(err.Error(), want) ||
		status.Code(err) != codes.ResourceExhausted {
		t.Errorf("over gRPC: %v", err)
	}
	if records, _ := f.queue.count(); records != 0 {
		t.Errorf("%d records were stored", records)
	}
}

// TestCutIsCounted: cut or omitted values appear in the metrics of their signal and in the outcome of their request, for each
// form of data.
func TestCutIsCounted(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	long := spans(2)
	for _, span := range long.ResourceSpans[0].ScopeSpans[0].Spans {
		span.Attributes = append(span.Attributes, attribute("a", longText(70_000)))
	}
	f.do("POST", "/v1/traces", wire(t, long), bearer(goodKey)...)
	if err := f.exportTraces(t, goodKey, long); err != nil {
		t.Fatal(err)
	}
	records := logRecords()
	records.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes = nil
	for range 1030 {
		records.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes = append(records.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes,
			attribute("a", "b"))
	}
	f.do("POST", "/v1/logs", wire(t, records), bearer(goodKey)...)
	f.do("POST", pathEvents, []byte(`{"name":"order placed","user_id":"`+longText(300)+`","attributes":{"a":"`+longText(1100)+`","`+
		longText(65)+`":1,"`+longText(66)+`":2}}`), bearer(goodKey)...)
	f.do("POST", pathTimeline, []byte(`{"session_id":"s","type":"error","message":"`+longText(1100)+`"}`+"\n"+
		`{"session_id":"s","type":"click"}`), bearer(goodKey)...)
	f.do("POST", pathEvents, []byte(`{"name":"","user_id":"`+longText(300)+`"}`), bearer(goodKey)...) // rejected: not counted as cut
	f.do("POST", "/v1/traces", wire(t, long), bearer(ingest.TestKey)...)
	for signal, want := range map[string]float64{"traces": 4, "logs": 6, "metrics": 0, "events": 4, "sessions": 1} {
		if got := f.metric(t, "svc_ingest_cut_total", signal); got != want {
			t.Errorf("svc_ingest_cut_total{signal=%q} = %g, want %g", signal, got, want)
		}
	}
	f.account()
	var got []int
	for _, o := range f.ledger.outcomes["org_one ingk_good"] {
		got = append(got, o.Cut)
	}
	if want := []int{2, 2, 6, 4, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("cut %v, want %v", got, want)
	}
}

// TestCutOfRejectedItems: a rejected item has no cut values, because nothing of it is stored. It does not hide the cut values of
// other items.
func TestCutOfRejectedItems(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	long := attribute("a", longText(70_000))
	traces := spans(3)
	for i, span := range traces.ResourceSpans[0].ScopeSpans[0].Spans {
		span.Attributes = append(span.Attributes, long)
		if i < 2 {
			span.TraceId = nil
		}
	}
	records := logRecords()
	scope := records.ResourceLogs[0].ScopeLogs[0]
	scope.LogRecords[0].Attributes = append(scope.LogRecords[0].Attributes, long)
	old := proto.CloneOf(scope.LogRecords[0])
	old.TimeUnixNano = 1
	scope.LogRecords = append(scope.LogRecords, old)
	measured := points()
	gauge := measured.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetGauge()
	gauge.DataPoints[0].Attributes = append(gauge.DataPoints[0].Attributes, long)
	empty := proto.CloneOf(gauge.DataPoints[0])
	empty.Value = nil
	gauge.DataPoints = append(gauge.DataPoints, empty)
	for path, body := range map[string][]byte{"/v1/traces": wire(t, traces), "/v1/logs": wire(t, records), "/v1/metrics": wire(t, measured)} {
		res := f.do("POST", path, body, bearer(goodKey)...)
		if got := text(t, res.Body); !strings.Contains(got, "rejected") ||
			!strings.Contains(got, "is longer than 65536 bytes as text and was cut") ||
			strings.Count(got, "times in this request") > strings.Count(path, "traces") {
			t.Errorf("%s: %q", path, got)
		}
	}
	all := spans(1)
	all.ResourceSpans[0].Resource.Attributes = append(all.ResourceSpans[0].Resource.Attributes, long)
	all.ResourceSpans[0].ScopeSpans[0].Spans[0].SpanId = nil
	f.do("POST", "/v1/traces", wire(t, all), bearer(goodKey)...)
	for _, signal := range []string{"traces", "logs", "metrics"} {
		if got := f.metric(t, "svc_ingest_cut_total", signal); got != 1 {
			t.Errorf("svc_ingest_cut_total{signal=%q} = %g, want 1", signal, got)
		}
	}
	f.account()
	for _, o := range f.ledger.outcomes["org_one ingk_good"] {
		if o.Cut != min(o.Accepted, 1) {
			t.Errorf("%s: %d accepted, %d cut", o.Signal, o.Accepted, o.Cut)
		}
	}
}
