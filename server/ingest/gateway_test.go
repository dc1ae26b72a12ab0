package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

func TestMain(m *testing.M) {
	// After the refusal of a body, a server waits half a second before it closes the connection, which is longer than goleak
	// waits.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

const (
	goodKey    = "svc_sk_good"
	logsKey    = "svc_ik_logs"
	outageKey  = "svc_pk_outage"
	expiredKey = "svc_ik_expired"
	otherKey   = "svc_pk_other"
	org        = "org_one"

	// Keys with a rate limit, keys of organizations that may send no spans or nothing at all, and a key that is known and
	// refused.
	paceKey      = "svc_ik_pace" // 2.5 requests per second
	brokenKey    = "svc_sk_broken"
	slowKey      = "svc_ik_slow" // 1 request per second
	spentKey     = "svc_sk_spent"
	slowSpentKey = "svc_ik_slow_spent"
	inactiveKey  = "svc_sk_inactive"
	disabledKey  = "svc_ik_disabled"
)

// keys is a lookup with a fixed answer for each secret.
type keys struct{}

func (keys) AuthenticateIngest(_ context.Context, secret string) (ingest.Key, error) {
	switch secret {
	case goodKey:
		return ingest.Key{Origin: otlp.Origin{Org: org, KeyType: otlp.KeyPrivate}, PublicID: "ingk_good"}, nil
	case logsKey:
		return ingest.Key{Origin: otlp.Origin{Org: org, KeyType: otlp.KeyCustom, KeyID: "ingk_1"}, PublicID: "ingk_1", Signals: []string{"logs"}},
			nil
	case otherKey:
		return ingest.Key{Origin: otlp.Origin{Org: "org_two", KeyType: otlp.KeyPublic}, PublicID: "ingk_other"}, nil
	case paceKey:
		return ingest.Key{Origin: otlp.Origin{Org: org, KeyType: otlp.KeyCustom, KeyID: "ingk_pace"}, PublicID: "ingk_pace", RateLimit: 2.5}, nil
	case brokenKey:
		return ingest.Key{}, apierr.New(apierr.IngestUnauthorized, "a key has more characters", apierr.Cause(ingest.ErrMalformedKey))
	case slowKey:
		return ingest.Key{Origin: otlp.Origin{Org: org, KeyType: otlp.KeyCustom, KeyID: "ingk_slow"}, PublicID: "ingk_slow", RateLimit: 1}, nil
	case spentKey:
		return ingest.Key{Origin: otlp.Origin{Org: "org_spent", KeyType: otlp.KeyPrivate}, PublicID: "ingk_spent"}, nil
	case slowSpentKey:
		return ingest.Key{
			Origin: otlp.Origin{Org: "org_spent", KeyType: otlp.KeyCustom, KeyID: "ingk_both"}, PublicID: "ingk_both",
			RateLimit: 1,
		}, nil
	case inactiveKey:
		return ingest.Key{Origin: otlp.Origin{Org: "org_inactive", KeyType: otlp.KeyPrivate}, PublicID: "ingk_inactive"}, nil
	case disabledKey:
		return ingest.Key{Origin: otlp.Origin{Org: org}, PublicID: "ingk_disabled"},
			apierr.New(apierr.IngestUnauthorized, "The ingest key is disabled.")
	case outageKey:
		return ingest.Key{}, errors.New("database password is hunter2")
	default:
		return ingest.Key{}, apierr.New(apierr.IngestUnauthorized, "The ingest key is unknown, disabled or expired.")
	}
}

// memoryQueue keeps the appended records, or refuses them, or waits for gate.
type memoryQueue struct {
	sets *blocks.Pool
	gate chan struct{}

	mu      sync.Mutex
	err     error
	records []queue.Record
	rows    int
	waiting int
}

// Admits leaves the answer to Append.
func (q *memoryQueue) Admits(string, bool, int) error { return nil }

func (q *memoryQueue) Append(ctx context.Context, rec queue.Record) (queue.Position, error) {
	q.mu.Lock()
	err := q.err
	q.waiting++
	q.mu.Unlock()
	defer func() { q.mu.Lock(); q.waiting--; q.mu.Unlock() }()
	if err != nil {
		return queue.Position{}, err
	}
	if q.gate != nil {
		select {
		case <-q.gate:
		case <-ctx.Done():
			return queue.Position{}, ctx.Err()
		}
	}
	set := rec.Attachment.(*blocks.Set)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rows += set.Rows()
	q.records = append(q.records, queue.Record{Header: bytes.Clone(rec.Header), Payload: bytes.Clone(rec.Payload), Public: rec.Public})
	q.sets.Put(set)
	return queue.Position{}, nil
}

func (q *memoryQueue) count() (records, rows int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.records), q.rows
}

func (q *memoryQueue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
}

// eventually waits for a condition that another goroutine causes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func (q *memoryQueue) awaitWaiting(t *testing.T, n int) {
	t.Helper()
	eventually(t, "requests wait in the queue", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.waiting == n
	})
}

type fixture struct {
	*ingest.Gateway
	queue *memoryQueue
	log   *bytes.Buffer
	reg   *prometheus.Registry
	// frozen is the gateway's clock in Unix nanoseconds, or 0 for the real clock.
	frozen atomic.Int64
	ledger *ledger
	// account flushes usage and outcomes into the ledger, and ends both.
	account func()

	connectors connectors
}

func (f *fixture) now() time.Time {
	if n := f.frozen.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Now()
}

func newFixture(t testing.TB, limits ingest.Limits, gate chan struct{}) *fixture {
	t.Helper()
	f := &fixture{
		queue: &memoryQueue{sets: &blocks.Pool{}, gate: gate}, log: &bytes.Buffer{}, reg: prometheus.NewRegistry(),
		ledger: newLedger(),
	}
	cfg := ingest.Config{
		Keys: keys{}, Connectors: &f.connectors, Queue: f.queue, Sets: f.queue.sets, Limits: limits, Metrics: f.reg, Region: "eu",
		Logger: slog.New(slog.NewTextHandler(&lockedWriter{w: f.log}, nil)), Now: f.now,
	}
	f.account = f.ledger.keep(t, &cfg)
	t.Cleanup(f.account)
	var err error
	f.Gateway, err = ingest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (f *fixture) do(method, path string, body []byte, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Del("Content-Type")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	f.HTTPHandler().ServeHTTP(w, r)
	return w.Result()
}

func bearer(key string) []string { return []string{"Authorization", "Bearer " + key} }

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func attribute(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func resource() *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: []*commonpb.KeyValue{attribute("service.name", "shop")}}
}

func spans(n int) *coltrace.ExportTraceServiceRequest {
	now := uint64(time.Now().UnixNano())
	scope := &tracepb.ScopeSpans{}
	for i := range n {
		scope.Spans = append(scope.Spans, &tracepb.Span{
			TraceId: []byte("0123456789abcdef"), SpanId: []byte{1, 2, 3, 4, 5, 6, byte(i >> 8), byte(i + 1)}, Name: "GET /cart",
			StartTimeUnixNano: now, EndTimeUnixNano: now + 1000, Attributes: []*commonpb.KeyValue{attribute("http.route", "/cart")},
		})
	}
	return &coltrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   resource(),
		ScopeSpans: []*tracepb.ScopeSpans{scope},
	}}}
}

func logRecords() *collogs.ExportLogsServiceRequest {
	return &collogs.ExportLogsServiceRequest{ResourceLogs: []*logspb.ResourceLogs{{Resource: resource(), ScopeLogs: []*logspb.ScopeLogs{{
		LogRecords: []*logspb.LogRecord{{
			TimeUnixNano: uint64(time.Now().UnixNano()), SeverityNumber: 9,
			Body: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: "cart emptied"}},
		}},
	}}}}}
}

func points() *colmetrics.ExportMetricsServiceRequest {
	return &colmetrics.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: resource(),
		ScopeMetrics: []*metricspb.ScopeMetrics{{
			Metrics: []*metricspb.Metric{{Name: "carts", Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{{
				TimeUnixNano: uint64(time.Now().UnixNano()), Value: &metricspb.NumberDataPoint_AsInt{AsInt: 3},
			}}}}}},
		}},
	}}}
}

func wire(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// decoded walks every queued record again and returns the number of rows.
func (f *fixture) decoded(t *testing.T) int {
	t.Helper()
	d, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	var set blocks.Set
	for i, rec := range f.queue.records {
		if err := d.DecodeRecord(rec.Header, rec.Payload, &set); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	return set.Rows()
}

func longText(n int) string { return strings.Repeat("x", n) }
