package ingest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/ingest"
)

// TestRowsTooLarge: a request whose rows take more than they may is told the limit, as 413 and not as our failure.
func TestRowsTooLarge(t *testing.T) {
	f := newFixture(t, ingest.Limits{Columns: 1 << 20}, nil)
	const want = "of this request take more than 1 MiB as they are stored"
	for path, body := range map[string][]byte{
		"/v1/traces": wire(t, spans(50_000)), pathEvents: bytes.Repeat([]byte(`{"name":"a"}`+"\n"), 20_000), pathMeta: bytes.Repeat([]byte(`{"session_id":"a"}`+"\n"), 20_000),
		pathTimeline: bytes.Repeat([]byte(`{"session_id":"a","type":"click"}`+"\n"), 20_000), logpushURL + goodConnector: []byte(strings.Repeat(pushed("/a"), 20_000)),
	} {
		res := f.do("POST", path, body, bearer(goodKey)...)
		if got := text(t, res.Body); res.StatusCode != 413 || !strings.Contains(got, "ingest_payload_too_large") || !strings.Contains(got, want) || res.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %d %s, want %q", path, res.StatusCode, got, want)
		}
	}
	if err := f.exportTraces(t, goodKey, spans(50_000)); err == nil || !strings.Contains(err.Error(), want) || status.Code(err) != codes.ResourceExhausted {
		t.Errorf("over gRPC: %v", err)
	}
	if records, _ := f.queue.count(); records != 0 {
		t.Errorf("%d records were stored", records)
	}
}

// TestCutIsCounted: what was cut or left out shows in the metrics of its signal and in the outcome of its request, for each form of data.
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
		records.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes = append(records.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Attributes, attribute("a", "b"))
	}
	f.do("POST", "/v1/logs", wire(t, records), bearer(goodKey)...)
	f.do("POST", pathEvents, []byte(`{"name":"order placed","user_id":"`+longText(300)+`","attributes":{"a":"`+longText(1100)+`","`+longText(65)+`":1,"`+longText(66)+`":2}}`), bearer(goodKey)...)
	f.do("POST", pathTimeline, []byte(`{"session_id":"s","type":"error","message":"`+longText(1100)+`"}`+"\n"+`{"session_id":"s","type":"click"}`), bearer(goodKey)...)
	f.do("POST", pathEvents, []byte(`{"name":"","user_id":"`+longText(300)+`"}`), bearer(goodKey)...) // rejected: nothing of it was cut
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
