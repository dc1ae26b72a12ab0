package ingest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/usage"
)

// exportTraces sends traces over gRPC.
func (f *fixture) exportTraces(t *testing.T, key string, req *coltrace.ExportTraceServiceRequest) error {
	t.Helper()
	_, err := coltrace.NewTraceServiceClient(dial(t, f.listenGRPC(t))).Export(withKey(t, key), req)
	return err
}

// TestKeyRate sends faster than the key allows, at both doors and all endpoints, which share its bucket. The clock stands still.
func TestKeyRate(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	now := time.Now()
	f.frozen.Store(now.UnixNano())
	send := func(path string) *http.Response {
		return f.do("POST", path, []byte("{}"), append(bearer(paceKey), "Content-Type", "application/json")...)
	}
	for range 2 {
		if res := send("/v1/traces"); res.StatusCode != http.StatusOK {
			t.Fatal(res.StatusCode, text(t, res.Body))
		}
	}
	for _, path := range []string{"/v1/traces", "/v1/logs", "/v1/metrics", "/v1/events"} {
		e := refused(t, send(path), apierr.IngestRateLimited)
		want := "The ingest key ingk_pace may send 2.5 requests a second, and more came. Wait before the next request, and send fewer requests with more in each."
		if e.Message != want {
			t.Errorf("%s: %q", path, e.Message)
		}
	}
	refusedGRPC(t, f.exportTraces(t, paceKey, spans(1)), codes.Unavailable, apierr.IngestRateLimited)
	if got := f.metric(t, "svc_ingest_rate_limited_total", "key"); got != 5 {
		t.Errorf("counted %g", got)
	}
	if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != http.StatusOK {
		t.Errorf("another key of the organization: %d", res.StatusCode)
	}
	f.frozen.Store(now.Add(time.Second).UnixNano())
	for i, want := range []int{200, 200, 429} {
		if res := send("/v1/traces"); res.StatusCode != want {
			t.Errorf("a second later, request %d: %d, want %d", i, res.StatusCode, want)
		}
	}
}

// TestPlanLimits: each door refuses data that the plan does not include, and still accepts the organization's other data.
func TestPlanLimits(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	f.frozen.Store(time.Now().UnixNano()) // a month may end during the test
	y, m, _ := time.Now().UTC().Date()
	ends := time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
	spent := `The plan "Starter" of this organization allows 0 items of traces in a month. The limit is reached, and the month ends at ` +
		ends + `. Nothing was stored.`
	const inactive = `The organization has no active subscription: its plan "Trial" is not active. Nothing was stored.`
	for _, c := range []struct {
		key, path string
		body      []byte
		want      string
	}{
		{spentKey, "/v1/traces", wire(t, spans(3)), spent},
		{spentKey, "/v1/traces", nil, ""}, // an empty request uses nothing of the plan
		{spentKey, "/v1/traces", wire(t, spans(0)), ""},
		{spentKey, "/v1/logs", wire(t, logRecords()), ""},
		{spentKey, pathEvents, []byte(`{"name":"order placed"}`), strings.NewReplacer("items of traces", "bytes of events").Replace(spent)},
		{inactiveKey, "/v1/traces", wire(t, spans(1)), inactive},
		{inactiveKey, "/v1/logs", wire(t, logRecords()), inactive},
		{inactiveKey, "/v1/metrics", wire(t, points()), inactive},
		{inactiveKey, pathEvents, []byte(`{"name":"order placed"}`), inactive},
		{goodKey, "/v1/traces", wire(t, spans(3)), ""},
	} {
		res := f.do("POST", c.path, c.body, append(bearer(c.key), "Content-Type",
			map[bool]string{true: "application/x-ndjson", false: "application/x-protobuf"}[c.path == pathEvents])...)
		if c.want == "" {
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s %s: %d %s", c.key, c.path, res.StatusCode, text(t, res.Body))
			}
			continue
		}
		if e := refused(t, res, apierr.IngestPlanLimitReached); e.Message != c.want {
			t.Errorf("%s %s: %q, want %q", c.key, c.path, e.Message, c.want)
		}
	}
	refused(t, f.do("POST", logpushURL+"cfp_inactive?secret=svc_cf_inactive", []byte(pushed("/a"))), apierr.IngestPlanLimitReached)
	refusedGRPC(t, f.exportTraces(t, spentKey, spans(1)), codes.FailedPrecondition, apierr.IngestPlanLimitReached)
	if records, _ := f.queue.count(); records != 2 {
		t.Errorf("%d records were written", records)
	}
}

// TestUsage: accepted items are counted by organization, signal and key. Refused items and items with the test key are not
// counted.
func TestUsage(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	partial := spans(5)
	partial.ResourceSpans[0].ScopeSpans[0].Spans[1].TraceId = []byte("too short")
	body, zipped := wire(t, partial), gzipped(t, wire(t, partial))
	f.do("POST", "/v1/traces", body, bearer(goodKey)...)
	f.do("POST", "/v1/traces", zipped, append(bearer(goodKey), "Content-Encoding", "gzip")...)
	f.do("POST", "/v1/traces", nil, bearer(goodKey)...)
	f.do("POST", "/v1/traces", []byte("nonsense"), bearer(goodKey)...)
	f.do("POST", "/v1/traces", body, bearer(ingest.TestKey)...)
	f.do("POST", "/v1/traces", body, bearer(spentKey)...)
	f.do("POST", "/v1/traces", body, bearer(disabledKey)...)
	f.do("POST", "/v1/logs", wire(t, logRecords()), bearer(logsKey)...)
	f.do("POST", pathEvents, []byte(`{"name":"order placed"}`), bearer(goodKey)...)
	f.do("POST", logpushURL+goodConnector, []byte(pushed("/a")))
	more := spans(7)
	first := more.ResourceSpans[0].ScopeSpans[0].Spans[0]
	first.Attributes = append(first.Attributes, attribute("svc.product_event.name", "order placed"))
	if err := f.exportTraces(t, goodKey, more); err != nil {
		t.Fatal(err)
	}
	f.account()
	n := int64(len(body))
	want := map[string]usage.Counts{
		"org_one traces ingk_good": {Requests: 4, Items: 4 + 4 + 7, Bytes: 2*n + int64(proto.Size(more))},
		"org_one logs ingk_1":      {Requests: 1, Items: 1, Bytes: int64(proto.Size(logRecords()))},
		"org_one events ingk_good": {Requests: 1, Items: 1 + 1, Bytes: int64(len(`{"name":"order placed"}`))},
		"org_one logs cfp_one":     {Requests: 1, Items: 1, Bytes: f.ledger.used["org_one logs cfp_one"].Bytes},
	}
	if diff := cmp.Diff(want, f.ledger.used); diff != "" {
		t.Error(diff)
	}
	if want["org_one logs cfp_one"].Bytes < 50 {
		t.Error("the connector's bytes are not counted")
	}
}

// TestOutcomes: the owner of a key can see the outcome of every request with it.
func TestOutcomes(t *testing.T) {
	f := newFixture(t, ingest.Limits{Body: 8 << 10}, nil)
	agent := []string{"User-Agent", "OTel-OTLP-Exporter-Python/1.30.0"}
	partial := spans(5)
	partial.ResourceSpans[0].ScopeSpans[0].Spans[1].TraceId = []byte("too short")
	body := wire(t, partial)
	zipped := gzipped(t, body)
	f.do("POST", "/v1/traces", zipped, append(append(bearer(goodKey), "Content-Encoding", "gzip"), agent...)...)
	f.do("POST", "/v1/logs", wire(t, logRecords()), bearer(goodKey)...)
	f.do("POST", "/v1/traces", []byte("nonsense"), bearer(goodKey)...)
	f.do("POST", "/v1/logs", make([]byte, 9<<10), bearer(goodKey)...)
	f.do("POST", pathEvents, []byte(`{"name":""}`+"\n"+`{"name":"order placed"}`), bearer(goodKey)...)
	f.queue.fail(fmt.Errorf("disk full at /secret/path"))
	if err := f.exportTraces(t, goodKey, spans(1)); err == nil {
		t.Error("stored on a full disk")
	}
	f.do("POST", "/v1/traces", body, bearer(logsKey)...)
	f.do("POST", "/v1/traces", body, bearer(disabledKey)...)
	f.do("POST", "/v1/traces", body, bearer(spentKey)...)
	f.do("POST", "/v1/traces", body, bearer(ingest.TestKey)...)
	f.do("POST", "/v1/traces", body, bearer("svc_pk_unknown")...)
	f.account()
	got := map[string][]outcome.Outcome{}
	for key, all := range f.ledger.outcomes {
		for _, o := range all {
			if o.Tag != "" && o.Reason == "" || strings.Contains(o.Reason, "secret") || time.Since(o.At) > time.Minute {
				t.Errorf("%s: %+v", key, o)
			}
			o.Reason = strings.SplitAfter(o.Reason, ":")[0]
			got[key] = append(got[key], o)
		}
	}
	n := len(body)
	want := map[string][]outcome.Outcome{
		"org_one ingk_good": {
			{
				Signal: "traces", Door: "http", Status: 200, Accepted: 4, Rejected: 1, Bytes: len(zipped), Agent: agent[1],
				Reason: "resource_spans[0].scope_spans[0].spans[1].trace_id:",
			},
			{Signal: "logs", Door: "http", Status: 200, Accepted: 1, Bytes: proto.Size(logRecords())},
			{Signal: "traces", Door: "http", Status: 400, Tag: "@svc/ingest/BadRequest", Bytes: 8, Reason: "The body is not valid OTLP:"},
			{
				Signal: "logs", Door: "http", Status: 413, Tag: "@svc/ingest/PayloadTooLarge",
				Reason: "The body is larger than 8 KiB as sent. Send smaller batches, or compress them with gzip.",
			},
			{Signal: "events", Door: "http", Status: 200, Accepted: 1, Rejected: 1, Bytes: 35, Reason: "line 1:"},
			{
				Signal: "traces", Door: "grpc", Status: 503, Tag: "@svc/ingest/QueueUnavailable", Bytes: proto.Size(spans(1)),
				Reason: "The batch could not be written to the durable queue. Nothing was stored; send the request again.",
			},
		},
		"org_one ingk_1": {{
			Signal: "traces", Door: "http", Status: 403, Tag: "@svc/ingest/SignalNotAllowed",
			Reason: "This ingest key may not send traces. It may send:",
		}},
		"org_one ingk_disabled": {{
			Signal: "traces", Door: "http", Status: 401, Tag: "@svc/ingest/Unauthorized",
			Reason: "The ingest key is disabled.",
		}},
		"org_spent ingk_spent": {{
			Signal: "traces", Door: "http", Status: 402, Tag: "@svc/ingest/PlanLimitReached", Bytes: n,
			Reason: `The plan "Starter" of this organization allows 0 items of traces in a month. The limit is reached, and the month ends at 2026-12-01T00:`,
		}},
	}
	opts := cmp.Options{
		cmpopts.IgnoreFields(outcome.Outcome{}, "At"),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Reason" }, cmp.Comparer(func(x, y string) bool {
			return x == y || strings.HasPrefix(x, "The plan ") && strings.HasPrefix(y, "The plan ")
		})), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Agent" }, cmp.Comparer(func(x, y string) bool {
			return x == y || strings.HasPrefix(y, "grpc-go/") || strings.HasPrefix(x, "grpc-go/")
		})),
	}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Error(diff)
	}
}
