package ingest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/queue"
)

// spanJSON returns a request with one span of this minute. It uses both spellings of a 64-bit number.
func spanJSON() string {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	return strings.NewReplacer("1790000000000000000", now, "1790000000000001000", now).Replace(spanTemplate)
}

const spanTemplate = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"GET /cart","kind":2,"startTimeUnixNano":"1790000000000000000","endTimeUnixNano":1790000000000001000}]}]}]}`

func TestExportHTTP(t *testing.T) {
	trace := wire(t, spans(3))
	twice := append(gzipped(t, trace), gzipped(t, trace)...)
	for _, c := range []struct {
		name, path  string
		body        []byte
		headers     []string
		media, want string
		rows        int
	}{
		{
			name: "traces", path: "/v1/traces", body: trace, headers: []string{"Content-Type", "application/x-protobuf"},
			media: "application/x-protobuf", rows: 3,
		},
		{
			name: "logs", path: "/v1/logs", body: wire(t, logRecords()), headers: []string{"Content-Type", "application/x-protobuf"},
			media: "application/x-protobuf", rows: 1,
		},
		{
			name: "metrics", path: "/v1/metrics", body: wire(t, points()), headers: []string{"Content-Type", "application/x-protobuf"},
			media: "application/x-protobuf", rows: 1,
		},
		{
			name: "protobuf", path: "/v1/traces", body: trace, headers: []string{"Content-Type", "application/protobuf"},
			media: "application/x-protobuf", rows: 3,
		},
		{
			name: "octets", path: "/v1/traces", body: trace, headers: []string{"Content-Type", "Application/Octet-Stream"},
			media: "application/x-protobuf", rows: 3,
		},
		{name: "no media type", path: "/v1/traces", body: trace, media: "application/x-protobuf", rows: 3},
		{
			name: "gzip", path: "/v1/traces", body: gzipped(t, trace), headers: []string{"Content-Encoding", "gzip"},
			media: "application/x-protobuf", rows: 3,
		},
		{
			name: "GZIP", path: "/v1/traces", body: gzipped(t, trace), headers: []string{"Content-Encoding", "GZIP"},
			media: "application/x-protobuf", rows: 3,
		},
		{
			name: "identity", path: "/v1/traces", body: trace, headers: []string{"Content-Encoding", "identity"}, media: "application/x-protobuf",
			rows: 3,
		},
		{
			name: "gzip of two members", path: "/v1/traces", body: twice, headers: []string{"Content-Encoding", "gzip"},
			media: "application/x-protobuf", rows: 6,
		},
		{
			name: "json", path: "/v1/traces", body: []byte(spanJSON()), headers: []string{"Content-Type", "application/json"},
			media: "application/json", want: "{}", rows: 1,
		},
		{
			name: "json with charset, gzip", path: "/v1/traces", body: gzipped(t, []byte(spanJSON())),
			headers: []string{"Content-Type", "application/json; charset=utf-8", "Content-Encoding", "gzip"}, media: "application/json", want: "{}",
			rows: 1,
		},
		{
			name: "some json", path: "/v1/traces", body: []byte(spanJSON()), headers: []string{"Content-Type", "text/x-JSON"},
			media: "application/json", want: "{}", rows: 1,
		},
		{name: "empty", path: "/v1/traces", media: "application/x-protobuf"},
		{
			name: "empty json", path: "/v1/logs", body: []byte("{}"), headers: []string{"Content-Type", "application/json"},
			media: "application/json", want: "{}",
		},
		{
			name: "empty gzip", path: "/v1/metrics", body: gzipped(t, nil), headers: []string{"Content-Encoding", "gzip"},
			media: "application/x-protobuf",
		},
		{name: "large uncompressed", path: "/v1/traces", body: wire(t, spans(5000)), media: "application/x-protobuf", rows: 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, ingest.Limits{}, nil)
			res := f.do("POST", c.path, c.body, append(c.headers, bearer(goodKey)...)...)
			if got := text(t, res.Body); res.StatusCode != 200 || got != c.want {
				t.Fatalf("status %d, body %q, want 200 and %q", res.StatusCode, got, c.want)
			}
			if got := res.Header.Get("Content-Type"); got != c.media {
				t.Errorf("Content-Type %q, want %q", got, c.media)
			}
			if res.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("browsers may guess the type: %v", res.Header)
			}
			if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("request id or CORS missing: %v", res.Header)
			}
			records, rows := f.queue.count()
			if wantRecords := min(c.rows, 1); records != wantRecords || rows != c.rows {
				t.Errorf("queued %d records with %d rows, want %d with %d", records, rows, wantRecords, c.rows)
			}
			if got := f.decoded(t); got != c.rows {
				t.Errorf("the queued records give %d rows, want %d", got, c.rows)
			}
		})
	}
}

func TestPayloadIsQueuedAsReceived(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	body := gzipped(t, wire(t, spans(3)))
	f.do("POST", "/v1/traces", body, append(bearer(goodKey), "Content-Encoding", "gzip")...)
	if len(f.queue.records) != 1 || !bytes.Equal(f.queue.records[0].Payload, body) {
		t.Fatal("the queue does not hold the compressed body as it came")
	}
	h, err := ingest.ParseRecordHeader(f.queue.records[0].Header)
	if err != nil || h.Org != org || h.KeyType != "private" || h.Encoding != ingest.EncodingGzip || h.ReceivedUnixNano == 0 {
		t.Fatalf("header %+v, %v", h, err)
	}
}

// The queue leaves half of an organization's share to other keys than the public one, so it must learn which records are public.
func TestPublicRecords(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for _, key := range []string{goodKey, otherKey} {
		f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(key)...)
	}
	if r := f.queue.records; len(r) != 2 || r[0].Public || !r[1].Public {
		t.Errorf("%d records: %+v", len(r), r)
	}
}

func TestKeyHeaders(t *testing.T) {
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"bearer", []string{"Authorization", "Bearer " + goodKey}, 200},
		{"lower case", []string{"Authorization", "bearer " + goodKey}, 200},
		{"upper case, spaces", []string{"Authorization", "BEARER   " + goodKey + " "}, 200},
		{"key header", []string{"x-svc-ingest-key", goodKey}, 200},
		{"bearer wins", []string{"Authorization", "Bearer svc_pk_wrong", "x-svc-ingest-key", goodKey}, 401},
		{"other scheme and key header", []string{"Authorization", "Basic Zm9v", "x-svc-ingest-key", goodKey}, 200},
		{"empty bearer and key header", []string{"Authorization", "Bearer ", "x-svc-ingest-key", goodKey}, 200},
		{"none", nil, 401},
		{"no scheme", []string{"Authorization", goodKey}, 401},
		{"API key", []string{"Authorization", "Bearer svc_ak_123"}, 401},
		{"garbage", []string{"Authorization", "Bearer hello"}, 401},
		{"too long", []string{"Authorization", "Bearer svc_pk_" + longText(500)}, 401},
		{"unknown", []string{"Authorization", "Bearer svc_pk_unknown"}, 401},
		{"malformed", []string{"Authorization", "Bearer " + brokenKey}, 401},
		{"expired", []string{"Authorization", "Bearer " + expiredKey}, 401},
		{"test key", []string{"Authorization", "Bearer SVC_TEST"}, 200},
		{"test key is exact", []string{"Authorization", "Bearer svc_test"}, 401},
		{"lookup fails", []string{"Authorization", "Bearer " + outageKey}, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, ingest.Limits{}, nil)
			res := f.do("POST", "/v1/traces", wire(t, spans(1)), c.headers...)
			body := text(t, res.Body)
			if c.name == "unknown" && !strings.Contains(body, "the region eu") {
				t.Errorf("the region is not named: %s", body)
			}
			if c.name == "malformed" && (strings.Contains(body, "the region eu") || !strings.Contains(body, "A key has more characters.")) {
				t.Errorf("a key of no region: %s", body)
			}
			if res.StatusCode != c.status || strings.Contains(body, "hunter2") || strings.Contains(body, "svc_pk_unknown") {
				t.Errorf("status %d, want %d; body %s", res.StatusCode, c.status, body)
			}
		})
	}
}

func TestTestKey(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	if res := f.do("POST", "/v1/traces", wire(t, spans(2)), bearer(ingest.TestKey)...); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
	// The contract accepts every such request with 200. The answer still reports errors.
	for _, c := range []struct {
		path, body, want string
		headers          []string
	}{
		{"/v1/traces", "nonsense", "400 ingest_bad_request: The body is not valid OTLP", nil},
		{"/v1/logs", "{", `{"partialSuccess":{"errorMessage":"The data was discarded, as SVC_TEST asks. With an ingest key this request is refused: 400 ingest_bad_request`, []string{"Content-Type", "application/json"}},
		{"/v1/metrics", "", `415 ingest_unsupported_media_type`, []string{"Content-Type", "text/html"}},
		{"/v1/traces", "x", `415 ingest_unsupported_media_type`, []string{"Content-Encoding", "br"}},
		{pathEvents, "{", `{"accepted":0,"warnings":["The data was discarded, as SVC_TEST asks. With an ingest key this request is refused: 400 ingest_bad_request: line 1`, nil},
		{pathBlob, "[]", `400 ingest_bad_request: x-svc-session-id is required`, nil},
		{pathBlob, "[]", `400 ingest_replay_body_not_gzip`, chunkHeaders},
	} {
		res := f.do("POST", c.path, []byte(c.body), append(bearer(ingest.TestKey), c.headers...)...)
		if got := text(t, res.Body); res.StatusCode != 200 || !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %d %s, want %q", c.path, c.body, res.StatusCode, got, c.want)
		}
	}
	// Some refusals happen before the media type is checked. The success still has the media type of the request, because an
	// exporter reads a success in that type.
	small := newFixture(t, ingest.Limits{Body: 8 << 10}, nil)
	for sent, want := range map[string]string{
		"": "application/x-protobuf", "application/x-protobuf": "application/x-protobuf", "application/octet-stream": "application/x-protobuf",
		"text/json; charset=utf-8": "application/json",
	} {
		res := small.do("POST", "/v1/traces", make([]byte, 9<<10), append(bearer(ingest.TestKey), "Content-Type", sent)...)
		if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || got != want ||
			!strings.Contains(text(t, res.Body), "413 ingest_payload_too_large") {
			t.Errorf("%q: %d in %s", sent, res.StatusCode, got)
		}
	}
	for _, f := range []*fixture{f, small} {
		if n, _ := f.queue.count(); n != 0 {
			t.Errorf("%d records of the test key were stored", n)
		}
	}
}

type wireError struct {
	Tag        string `json:"_tag"`
	Type       string `json:"type"`
	Code       string `json:"code"`
	Title      string `json:"title"`
	Message    string `json:"message"`
	Retryable  *bool  `json:"retryable"`
	Recovery   string `json:"recovery"`
	RetryAfter *int   `json:"retry_after_seconds"`
}

// refused checks that the answer is the envelope of a tag, complete and consistent with its headers.
func refused(t *testing.T, res *http.Response, tag apierr.Tag) wireError {
	t.Helper()
	spec := apierr.Spec(tag)
	body := text(t, res.Body)
	var e struct {
		Error wireError `json:"error"`
	}
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	got := e.Error
	retryable := spec.GetRetryable()
	want := wireError{
		Tag: spec.GetTag(), Type: apierr.Type(int(spec.GetStatus())), Code: spec.GetCode(), Title: spec.GetTitle(), Message: got.Message,
		Retryable: &retryable, Recovery: spec.GetRecovery(),
	}
	if retryable {
		n := int(spec.GetRetryAfterSeconds())
		want.RetryAfter = &n
		if h := res.Header.Get("Retry-After"); h != strconv.Itoa(n) {
			t.Errorf("Retry-After %q, want %d", h, n)
		}
	} else if res.Header.Get("Retry-After") != "" {
		t.Error("Retry-After on an answer that says not to retry")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
	if got.Message == "" || res.StatusCode != int(spec.GetStatus()) || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("status %d, message %q, Content-Type %q", res.StatusCode, got.Message, res.Header.Get("Content-Type"))
	}
	if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("request id or CORS missing: %v", res.Header)
	}
	return got
}

// broken is a request that can have several faults at once.
type broken struct {
	situation
	method, path         string
	media, encoding      string
	payload              []byte
	gzip, garble, padded bool
}

// situation is the key of a request and the server that it meets.
type situation struct {
	key              string
	queueFails, busy bool
	queue            error
	plan             plan
}

// server starts the server, and gives it the key.
func (s *situation) server(t *testing.T, l ingest.Limits) *fixture {
	t.Helper()
	var gate chan struct{}
	if s.busy {
		gate = make(chan struct{})
	}
	f := newFixture(t, l, gate)
	if s.busy {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.do("POST", "/v1/logs", wire(t, logRecords()), bearer(s.plan.otherKey())...)
		}()
		f.queue.awaitWaiting(t, 1)
		t.Cleanup(func() { close(gate); <-done })
	}
	if s.queueFails {
		f.queue.fail(errors.New("disk full at /secret/path"))
	}
	if s.queue != nil {
		f.queue.fail(s.queue)
	}
	s.key = s.plan.use(f, s.key)
	return f
}

// faults returns all checks, in the order of the contract. Faults of one group exclude each other.
func faults() []struct {
	name  string
	group string
	tag   apierr.Tag
	apply func(*broken)
} {
	return []struct {
		name  string
		group string
		tag   apierr.Tag
		apply func(*broken)
	}{
		{"route", "route", apierr.IngestRouteNotFound, func(b *broken) { b.path = "/v1/traces/v1/traces" }},
		{"method", "method", apierr.IngestMethodNotAllowed, func(b *broken) { b.method = "PUT" }},
		{"no key", "key", apierr.IngestUnauthorized, func(b *broken) { b.key = "" }},
		{"malformed key", "key", apierr.IngestUnauthorized, func(b *broken) { b.key = "svc_ak_1" }},
		{"unknown key", "key", apierr.IngestUnauthorized, func(b *broken) { b.key = "svc_pk_unknown" }},
		{"lookup outage", "key", apierr.IngestServiceUnavailable, func(b *broken) { b.key = outageKey }},
		{"signal", "key", apierr.IngestSignalNotAllowed, func(b *broken) { b.key = logsKey }},
		{"key's rate", "rate", apierr.IngestRateLimited, func(b *broken) { b.plan.paced = true }},
		{"in flight", "in flight", apierr.IngestRateLimited, func(b *broken) { b.busy = true }},
		{"size", "size", apierr.IngestPayloadTooLarge, func(b *broken) { b.padded = true }},
		{"content type", "media", apierr.IngestUnsupportedMediaType, func(b *broken) { b.media = "text/plain" }},
		{"unusual protobuf type", "media", apierr.IngestUnsupportedMediaType, func(b *broken) { b.media = "application/x-google-protobuf" }},
		{"zstd", "media", apierr.IngestUnsupportedMediaType, func(b *broken) { b.encoding = "zstd" }},
		{"deflate", "media", apierr.IngestUnsupportedMediaType, func(b *broken) { b.encoding = "deflate" }},
		{"br", "media", apierr.IngestUnsupportedMediaType, func(b *broken) { b.encoding = "br" }},
		{"gzip twice", "media", apierr.IngestUnsupportedMediaType, func(b *broken) { b.encoding = "gzip, gzip" }},
		{"gzip", "gzip", apierr.IngestBadRequest, func(b *broken) { b.gzip, b.garble = true, true }},
		{"expands too far", "gzip", apierr.IngestPayloadTooLarge, func(b *broken) { b.gzip, b.payload = true, make([]byte, 200<<10) }},
		{"OTLP", "otlp", apierr.IngestBadRequest, func(b *broken) {
			if len(b.payload) < 1000 {
				b.payload = []byte("this is no protobuf")
			}
		}},
		{"plan", "plan", apierr.IngestPlanLimitReached, func(b *broken) { b.plan.spent = true }},
		// The real queue decides which of these three comes first: TestOrderOfQueueRefusals.
		{"organization's share", "queue", apierr.IngestOrgQueueThrottled, func(b *broken) { b.queue = queue.ErrOwnerFull }},
		{"backed up", "queue", apierr.IngestExportLaneBackpressure, func(b *broken) { b.queue = queue.ErrBackedUp }},
		{"queue", "queue", apierr.IngestQueueUnavailable, func(b *broken) { b.queueFails = true }},
	}
}

func (b *broken) send(t *testing.T) (*fixture, *http.Response) {
	t.Helper()
	f := b.server(t, ingest.Limits{InFlight: 1, Body: 8 << 10, Decompressed: 100 << 10})
	body := b.payload
	headers := []string{"Content-Type", b.media, "Content-Encoding", b.encoding, "x-svc-ingest-key", b.key}
	if b.gzip {
		body = gzipped(t, body)
		if b.encoding == "" {
			headers[3] = "gzip"
		}
	}
	if b.garble {
		body = body[:len(body)-6]
	}
	if b.padded {
		body = append(bytes.Clone(body), make([]byte, 8<<10)...)
	}
	return f, f.do(b.method, b.path, body, headers...)
}

// TestOrderOfChecks causes every fault alone, and every pair of faults of different checks. The answer must be that of the first
// check.
func TestOrderOfChecks(t *testing.T) {
	all := faults()
	for i, first := range all {
		for j := i; j < len(all); j++ {
			second := all[j]
			if i != j && first.group == second.group {
				continue
			}
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				b := broken{
					situation: situation{key: goodKey}, method: "POST", path: "/v1/traces", media: "application/x-protobuf",
					payload: wire(t, spans(1)),
				}
				second.apply(&b)
				first.apply(&b)
				f, res := b.send(t)
				e := refused(t, res, first.tag)
				if strings.Contains(e.Message, "/secret") || strings.Contains(e.Message, "hunter2") {
					t.Errorf("message %q shows an inner error", e.Message)
				}
				if n, _ := f.queue.count(); n != 0 {
					t.Errorf("%d records were written", n)
				}
			})
		}
	}
}

func TestMessagesNameTheField(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	bad := spans(4)
	bad.ResourceSpans[0].ScopeSpans[0].Spans[3].Name = "zz"
	body := bytes.Replace(wire(t, bad), []byte("zz"), []byte("\xff\xff"), 1)
	e := refused(t, f.do("POST", "/v1/traces", body, bearer(goodKey)...), apierr.IngestBadRequest)
	if !strings.Contains(e.Message, "spans[3].name") {
		t.Errorf("message %q does not name the field", e.Message)
	}
	e = refused(t, f.do("POST", "/v1/traces", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"xyz"}]}]}]}`),
		append(bearer(goodKey), "Content-Type", "application/json")...), apierr.IngestBadRequest)
	if !strings.Contains(e.Message, "traceId") {
		t.Errorf("message %q does not name the field", e.Message)
	}
}

func TestPartialSuccess(t *testing.T) {
	bad := spans(3)
	bad.ResourceSpans[0].ScopeSpans[0].Spans[1].TraceId = []byte("too short")
	f := newFixture(t, ingest.Limits{}, nil)
	res := f.do("POST", "/v1/traces", wire(t, bad), bearer(goodKey)...)
	var got coltrace.ExportTraceServiceResponse
	if err := proto.Unmarshal([]byte(text(t, res.Body)), &got); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || got.GetPartialSuccess().GetRejectedSpans() != 1 ||
		!strings.Contains(got.GetPartialSuccess().GetErrorMessage(), "trace") {
		t.Fatalf("status %d, %v", res.StatusCode, &got)
	}
	if _, rows := f.queue.count(); rows != 2 {
		t.Errorf("%d rows were queued, want 2", rows)
	}
	res = f.do("POST", "/v1/traces", []byte(strings.Replace(spanJSON(), "eee19b7ec3c1b174", "", 1)),
		append(bearer(goodKey), "Content-Type", "application/json")...)
	body := text(t, res.Body)
	var fromJSON coltrace.ExportTraceServiceResponse
	if err := protojson.Unmarshal([]byte(body), &fromJSON); err != nil || fromJSON.GetPartialSuccess().GetRejectedSpans() != 1 ||
		!strings.Contains(body, `"rejectedSpans":"1"`) {
		t.Errorf("%s: %v", body, err)
	}
}

func TestRoutes(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	res := f.do("GET", "/health", nil)
	if got := text(t, res.Body); res.StatusCode != 200 || got != "OK" {
		t.Errorf("health: %d %q", res.StatusCode, got)
	}
	if res := f.do("HEAD", "/health", nil); res.StatusCode != 200 {
		t.Errorf("HEAD health: %d", res.StatusCode)
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH"} {
		res := f.do(method, "/v1/traces", nil)
		if res.StatusCode != 405 || res.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: %d, Allow %q", method, res.StatusCode, res.Header.Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/v1", "/v1/traces/", "/v1/trace", "/healthz", "/v1//traces"} {
		if res := f.do("POST", path, nil, bearer(goodKey)...); res.StatusCode != 404 {
			t.Errorf("%s: %d", path, res.StatusCode)
		} else {
			refused(t, res, apierr.IngestRouteNotFound)
		}
	}
	f.Drain()
	if res := f.do("GET", "/health", nil); res.StatusCode != 503 {
		t.Errorf("health while draining: %d", res.StatusCode)
	}
	if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != 200 {
		t.Errorf("export while draining: %d", res.StatusCode)
	}
}

func TestPreflight(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for _, path := range []string{"/v1/traces", "/v1/sessionReplays/blob", "/nowhere"} {
		res := f.do("OPTIONS", path, nil, "Origin", "https://shop.example", "Access-Control-Request-Method", "POST")
		h := res.Header
		if res.StatusCode != 204 || h.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || h.Get("Access-Control-Max-Age") == "" {
			t.Errorf("%s: %d %v", path, res.StatusCode, h)
		}
		if h.Get("Access-Control-Expose-Headers") != "" || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s exposes too much: %v", path, h)
		}
		for _, name := range []string{
			"Authorization", "Content-Type", "Content-Encoding", "x-svc-ingest-key", "x-svc-session-id",
			"x-svc-chunk-seq", "x-svc-is-checkpoint", "x-svc-event-count", "x-svc-duration-ms",
		} {
			if !strings.Contains(h.Get("Access-Control-Allow-Headers"), name) {
				t.Errorf("%s does not allow %s", path, name)
			}
		}
	}
}

func TestRequestID(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for sent, kept := range map[string]bool{"abc-1.2_3": true, "": false, "two words": false, longText(129): false} {
		got := f.do("GET", "/health", nil, "X-Request-Id", sent).Header.Get("X-Request-Id")
		if (got == sent) != kept || got == "" {
			t.Errorf("sent %q, got %q", sent, got)
		}
	}
}
