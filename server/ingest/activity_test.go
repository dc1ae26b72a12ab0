package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

const (
	pathEvents   = "/v1/events"
	pathMeta     = "/v1/sessionReplays/meta"
	pathBlob     = "/v1/sessionReplays/blob"
	pathTimeline = "/v1/sessionEvents"
	recording    = ` [{"type":4,"data":{},"timestamp":1},{"type":2,"data":{},"timestamp":2}]` + "\n"
)

var (
	lines = map[string]string{
		pathEvents:   `{"name":"order placed","attributes":{"total":12.5}}` + "\n\n" + `{"name":"$screen"}` + "\n",
		pathMeta:     `{"session_id":"s_1","status":"active"}` + "\n" + `{"session_id":"s_1","version":2}`,
		pathTimeline: `{"session_id":"s_1","type":"click"}` + "\r\n" + `{"session_id":"s_1","type":"navigation"}`,
	}
	chunkHeaders = []string{
		"x-svc-session-id", "s_1", "x-svc-chunk-seq", "3", "x-svc-is-checkpoint", "1", "x-svc-event-count", "2",
		"x-svc-duration-ms", "5000",
	}
)

// send posts with the good key, or with the key in headers.
func (f *fixture) send(path string, body []byte, headers ...string) *http.Response {
	return f.do("POST", path, body, append(bearer(goodKey), headers...)...)
}

// TestEmptyActivity: a body without a line is refused as a mistake of the sender.
func TestEmptyActivity(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for _, path := range []string{pathEvents, pathMeta, pathTimeline} {
		for _, body := range [][]byte{nil, []byte("\n \r\n"), gzipped(t, nil)} {
			headers := []string{"Content-Type", "application/x-ndjson"}
			if len(body) > 10 {
				headers = append(headers, "Content-Encoding", "gzip")
			}
			res := f.send(path, body, headers...)
			if got := text(t, res.Body); res.StatusCode != 400 || !strings.Contains(got, "The body is empty") {
				t.Errorf("%s %q: %d %s", path, body, res.StatusCode, got)
			}
		}
	}
}

func TestActivity(t *testing.T) {
	for _, c := range []struct {
		name, path, want string
		body             []byte
		headers          []string
		rows             int
	}{
		{
			name: "events", path: pathEvents, body: []byte(lines[pathEvents]), headers: []string{"Content-Type", "application/x-ndjson"},
			want: `{"accepted":2}`, rows: 2,
		},
		{
			name: "meta", path: pathMeta, body: []byte(lines[pathMeta]), headers: []string{"Content-Type", "application/json"}, rows: 2,
			want: `{"accepted":2,"warnings":["line 1: start_time is missing: the receive time stands for it (2 times in this request)"]}`,
		},
		{
			name: "timeline", path: pathTimeline, body: []byte(lines[pathTimeline]), headers: []string{"Content-Type", "text/plain;charset=UTF-8"},
			rows: 2, want: `{"accepted":2,"warnings":["line 1: timestamp is missing: the receive time stands for it (2 times in this request)"]}`,
		},
		{
			name: "gzip", path: pathEvents, body: gzipped(t, []byte(lines[pathEvents])), headers: []string{"Content-Encoding", "gzip"},
			want: `{"accepted":2}`, rows: 2,
		},
		{
			name: "octets", path: pathEvents, body: []byte(lines[pathEvents]),
			headers: []string{"Content-Type", "application/octet-stream", "Content-Encoding", "identity"}, want: `{"accepted":2}`, rows: 2,
		},
		{
			name: "large", path: pathEvents, body: bytes.Repeat([]byte(`{"name":"order placed","user_id":"ada"}`+"\n"), 8000),
			want: `{"accepted":8000}`, rows: 8000,
		},
		{
			name: "one rejected", path: pathEvents, body: []byte(`{"name":"a"}` + "\n" + `{"name":""}`), rows: 1,
			want: `{"accepted":1,"rejected":1,"reasons":["line 2: name must be 1 to 128 bytes long"]}`,
		},
		{
			name: "all rejected", path: pathEvents, body: []byte(`{"name":"$x"}`),
			want: `{"accepted":0,"rejected":1,"reasons":["line 1: name must not begin with $, which is reserved"]}`,
		},
		{
			name: "chunk", path: pathBlob, body: gzipped(t, []byte(recording)),
			headers: append([]string{"Content-Type", "application/octet-stream"}, chunkHeaders...), rows: 1,
		},
		{
			name: "chunk said to be gzip", path: pathBlob, body: gzipped(t, []byte("[]")),
			headers: append([]string{"Content-Encoding", "gzip"}, chunkHeaders...), rows: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, ingest.Limits{}, nil)
			res := f.send(c.path, c.body, c.headers...)
			if got := text(t, res.Body); res.StatusCode != 200 || got != c.want {
				t.Fatalf("status %d, body %s, want 200 and %s", res.StatusCode, got, c.want)
			}
			if media := res.Header.Get("Content-Type"); (c.path == pathBlob) != (media == "") || c.path != pathBlob && media != "application/json" {
				t.Errorf("Content-Type %q", media)
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

func TestChunkIsStoredAsItCame(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	body := gzipped(t, []byte(recording))
	f.send(pathBlob, body, chunkHeaders...)
	if len(f.queue.records) != 1 || !bytes.Equal(f.queue.records[0].Payload, body) {
		t.Fatal("the queue does not hold the chunk as it came")
	}
	h, err := ingest.ParseRecordHeader(f.queue.records[0].Header)
	if err != nil {
		t.Fatal(err)
	}
	want := activity.Chunk{SessionID: "s_1", Seq: 3, IsCheckpoint: true, EventCount: 2, DurationMs: 5000, ByteSize: uint64(len(recording))}
	if diff := cmp.Diff(want, h.Chunk); diff != "" || h.Kind != activity.SessionReplayEvents || h.Encoding != ingest.EncodingNone {
		t.Errorf("%+v (-want +got):\n%s", h, diff)
	}
}

// Every endpoint refuses alike. If two things are wrong, the first in the contract's order counts.
func TestActivityRefusals(t *testing.T) {
	limits := ingest.Limits{Body: 64 << 10, Decompressed: 128 << 10, Recording: 256 << 10, Columns: 1 << 20}
	big := bytes.Repeat([]byte("x"), limits.Body+1)
	zipped := gzipped(t, []byte(recording))
	for _, path := range []string{pathEvents, pathMeta, pathTimeline, pathBlob} {
		good, bad, badCode := []byte(lines[path]), []byte("{"), "ingest_bad_request"
		var headers []string
		if path == pathBlob {
			good, bad, badCode, headers = zipped, []byte("{"), "ingest_replay_body_not_gzip", chunkHeaders
		}
		for _, c := range []struct {
			name    string
			body    []byte
			headers []string
			status  int
			code    string
		}{
			{"no key before size", big, []string{"Authorization", ""}, 401, "ingest_unauthorized"},
			{"unknown key", good, bearer("svc_pk_unknown"), 401, "ingest_unauthorized"},
			{"lookup fails", good, bearer(outageKey), 503, "ingest_unavailable"},
			{"another signal's key before size", big, bearer(logsKey), 403, "ingest_signal_not_allowed"},
			{"size before media type", big, []string{"Content-Type", "text/html"}, 413, "ingest_payload_too_large"},
			{"media type", good, []string{"Content-Type", "text/html"}, 415, "ingest_unsupported_media_type"},
			{"OTLP's media type", good, []string{"Content-Type", "application/x-protobuf"}, 415, "ingest_unsupported_media_type"},
			{"form of curl -d", good, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "ingest_unsupported_media_type"},
			{"media type before body", bad, []string{"Content-Encoding", "br"}, 415, "ingest_unsupported_media_type"},
			{"zstd", good, []string{"Content-Encoding", "zstd"}, 415, "ingest_unsupported_media_type"},
			{"body", bad, nil, 400, badCode},
			{"said to be gzip", bad, []string{"Content-Encoding", "gzip"}, 400, badCode},
			{"truncated gzip", zipped[:len(zipped)-3], []string{"Content-Encoding", "gzip"}, 400, badCode},
			{"bomb", gzipped(t, bytes.Repeat([]byte(" "), 300<<10)), []string{"Content-Encoding", "gzip"}, 413, "ingest_payload_too_large"},
		} {
			f := newFixture(t, limits, nil)
			res := f.send(path, c.body, append(headers, c.headers...)...)
			body := text(t, res.Body)
			var e struct {
				Error struct {
					Code    string `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal([]byte(body), &e); err != nil || res.StatusCode != c.status || e.Error.Code != c.code || e.Error.Message == "" {
				t.Errorf("%s, %s: %d %s, want %d %s", path, c.name, res.StatusCode, body, c.status, c.code)
			}
			if records, _ := f.queue.count(); records != 0 {
				t.Errorf("%s, %s: %d records queued", path, c.name, records)
			}
		}
	}
}

func TestActivityMessagesNameTheField(t *testing.T) {
	for _, c := range []struct {
		path, body, want string
		headers          []string
	}{
		{
			path: pathTimeline, body: lines[pathTimeline] + "\n" + `{"session_id":"s","type":"click","timestamp":"soon"}`,
			want: "line 3: timestamp must be a time",
		},
		{path: pathMeta, body: `{"session_id":"no good"}`, want: "line 1: session_id must be 1 to 128"},
		{path: pathEvents, body: `{"name":"a"}` + "\nnonsense", want: "line 2: must be a JSON object"},
		{path: pathBlob, headers: []string{"x-svc-chunk-seq", "x"}, want: "x-svc-chunk-seq must be a whole number"},
		{path: pathBlob, headers: []string{"x-svc-session-id", ""}, want: "x-svc-session-id is required"},
		{path: pathBlob, body: "{}", want: "The chunk does not hold a JSON array"},
		{path: pathBlob, body: "[garbage]", want: "The chunk does not hold a JSON array of rrweb events: at byte 1 an event is not an object"},
		{path: pathBlob, body: `[{"type":4},{"type":2`, want: "The chunk does not hold a JSON array of rrweb events: it ends before the array does"},
		{path: pathBlob, body: "", want: "The chunk does not hold a JSON array"},
	} {
		f := newFixture(t, ingest.Limits{}, nil)
		body, headers := []byte(c.body), c.headers
		if c.path == pathBlob {
			body, headers = gzipped(t, body), append(chunkHeaders[:len(chunkHeaders):len(chunkHeaders)], headers...)
		}
		res := f.send(c.path, body, headers...)
		if got := text(t, res.Body); res.StatusCode != 400 || !strings.Contains(got, `"message":"`+c.want) {
			t.Errorf("%s %q: %d %s, want %q", c.path, c.body, res.StatusCode, got, c.want)
		}
	}
}

func TestActivityTestKey(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for path, body := range lines {
		res := f.do("POST", path, []byte(body), bearer(ingest.TestKey)...)
		if got := text(t, res.Body); res.StatusCode != 200 || !strings.HasPrefix(got, `{"accepted":0`) {
			t.Errorf("%s: %d %s", path, res.StatusCode, got)
		}
	}
	res := f.do("POST", pathBlob, gzipped(t, []byte(recording)), append(bearer(ingest.TestKey), chunkHeaders...)...)
	if got := text(t, res.Body); res.StatusCode != 200 || got != "" {
		t.Errorf("chunk: %d %s", res.StatusCode, got)
	}
	if records, _ := f.queue.count(); records != 0 {
		t.Errorf("%d records queued", records)
	}
}

func TestActivityFailures(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	f.queue.fail(queue.ErrTooLarge)
	if res := f.send(pathEvents, []byte(lines[pathEvents])); res.StatusCode != 413 {
		t.Errorf("a record too large for the queue gives %d", res.StatusCode)
	}
	f.queue.fail(io.ErrShortWrite)
	if res := f.send(pathBlob, gzipped(t, []byte(recording)), chunkHeaders...); res.StatusCode != 503 ||
		!strings.Contains(text(t, res.Body), "ingest_queue_unavailable") {
		t.Errorf("a failed write gives %d", res.StatusCode)
	}
	f.queue.fail(nil)
	if res := f.send(pathEvents, []byte(lines[pathEvents]+`{"name":"$x"}`)); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
	for outcome, want := range map[string]float64{"accepted": 2, "rejected": 1} {
		if got := f.metric(t, "svc_ingest_items_total", outcome, "events"); got != want {
			t.Errorf("%s: counted %g, want %g", outcome, got, want)
		}
	}
}

func TestActivityInFlight(t *testing.T) {
	gate := make(chan struct{})
	f := newFixture(t, ingest.Limits{InFlight: 1}, gate)
	done := make(chan *http.Response)
	go func() { done <- f.send(pathEvents, []byte(lines[pathEvents])) }()
	f.queue.awaitWaiting(t, 1)
	res := f.send(pathBlob, bytes.Repeat([]byte("x"), 21<<20), chunkHeaders...)
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "1" {
		t.Errorf("the second request gives %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	close(gate)
	if res := <-done; res.StatusCode != 200 {
		t.Errorf("the first request gives %d", res.StatusCode)
	}
}

// A page of another origin may send the headers of a chunk.
func TestActivityPreflight(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	for _, path := range []string{pathEvents, pathMeta, pathTimeline, pathBlob} {
		res := f.do("OPTIONS", path, nil, "Origin", "https://shop.example", "Access-Control-Request-Method", "POST")
		allowed := strings.ToLower(res.Header.Get("Access-Control-Allow-Headers"))
		if res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Origin") != "*" ||
			res.Header.Get("Access-Control-Expose-Headers") != "" {
			t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
		}
		for i := 0; i < len(chunkHeaders); i += 2 {
			if !strings.Contains(allowed, chunkHeaders[i]) {
				t.Errorf("%s: %s is not allowed", path, chunkHeaders[i])
			}
		}
		if res := f.do("GET", path, nil, bearer(goodKey)...); res.StatusCode != 405 || res.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("GET %s: %d, Allow %q", path, res.StatusCode, res.Header.Get("Allow"))
		}
	}
}

// bomb returns a gzip file of n spaces, which has a thousandth of that size.
func bomb(t testing.TB, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.Copy(w, io.LimitReader(spaces{}, n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A chunk is measured while it inflates and is never held as a whole, so a bomb costs no memory.
func TestBombCostsNoMemory(t *testing.T) {
	f := newFixture(t, ingest.Limits{Recording: 24 << 20}, nil)
	handler, body := f.HTTPHandler(), bomb(t, 25<<20)
	r := httptest.NewRequest("POST", pathBlob, bytes.NewReader(body))
	for i := 0; i < len(chunkHeaders); i += 2 {
		r.Header.Set(chunkHeaders[i], chunkHeaders[i+1])
	}
	r.Header.Set("Authorization", "Bearer "+goodKey)
	w := httptest.NewRecorder()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	handler.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.Code != 413 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("a body of %d bytes made the server allocate %d", len(body), used)
	}
}

// Inflating ends when the request's time is up.
func TestBombEndsInTime(t *testing.T) {
	f := newFixture(t, ingest.Limits{Request: time.Millisecond}, nil)
	if res := f.send(pathBlob, bomb(t, 32<<20), chunkHeaders...); res.StatusCode != 503 ||
		!strings.Contains(text(t, res.Body), "ingest_request_timeout") {
		t.Errorf("status %d", res.StatusCode)
	}
}

// TestActivityIsTheSameEitherWay: a record gives the same tables from its attachment and from its bytes.
func TestActivityIsTheSameEitherWay(t *testing.T) {
	sets := &blocks.Pool{}
	q := &keepingQueue{}
	g, err := ingest.New(ingest.Config{Keys: customKeys{}, Queue: q, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Gateway: g}
	for path, body := range lines {
		f.send(path, []byte(body))
		f.send(path, gzipped(t, []byte(body)), "Content-Encoding", "gzip")
	}
	f.send(pathEvents, []byte(strings.Repeat(lines[pathEvents]+"\n", 4000))) // compressed for the queue
	f.send(pathBlob, gzipped(t, []byte(recording)), chunkHeaders...)
	if len(q.records) != 8 {
		t.Fatalf("%d records", len(q.records))
	}
	d, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	attached, decoded := ingest.NewBatch(d), ingest.NewBatch(d)
	for _, rec := range q.records {
		if err := attached.Add(rec.Attachment); err != nil {
			t.Fatal(err)
		}
		if err := decoded.Decode(rec.Header, rec.Payload); err != nil {
			t.Fatal(err)
		}
	}
	if tables := native(t, attached); len(tables) != 4 || attached.Rows() != decoded.Rows() {
		t.Errorf("%d tables, %d and %d rows", len(tables), attached.Rows(), decoded.Rows())
	}
	if !cmp.Equal(native(t, attached), native(t, decoded)) {
		t.Error("the rows of the attachments differ from those of the records")
	}
}

// keepingQueue keeps records with their attachments.
type keepingQueue struct{ memoryQueue }

func (*keepingQueue) Admits(string, bool, int) error { return nil }

func (q *keepingQueue) Append(_ context.Context, rec queue.Record) (queue.Position, error) {
	q.records = append(q.records, queue.Record{Header: bytes.Clone(rec.Header), Payload: bytes.Clone(rec.Payload), Attachment: rec.Attachment})
	return queue.Position{}, nil
}

type customKeys struct{}

func (customKeys) AuthenticateIngest(context.Context, string) (ingest.Key, error) {
	return ingest.Key{
		Origin: otlp.Origin{
			Org:        org,
			KeyType:    otlp.KeyCustom,
			KeyID:      "ingk_1",
			Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}},
		},
		Signals: []string{"sessions", "events"},
	}, nil
}
