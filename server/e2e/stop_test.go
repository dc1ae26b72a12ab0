package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/testkit"
)

// manySpans is an encoded request of n spans.
func manySpans(t *testing.T, n int) []byte {
	t.Helper()
	now := uint64(time.Now().UnixNano())
	spans := make([]*trace.Span, n)
	for i := range spans {
		spans[i] = &trace.Span{
			TraceId: id(fmt.Sprintf("%032x", i/10+1)), SpanId: id(fmt.Sprintf("%016x", i+1)), Name: "backlog",
			StartTimeUnixNano: now, EndTimeUnixNano: now + uint64(i),
		}
	}
	body, err := proto.Marshal(&coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource: checkoutResource(), ScopeSpans: []*trace.ScopeSpans{{Spans: spans}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestStopWithBacklog stops a server whose queue holds more than can be stored within the shutdown timeout, while senders go on.
// The stop succeeds in time, and the next start stores every acknowledged span once.
func TestStopWithBacklog(t *testing.T) {
	// The backlog must be larger than the stop can store, and every span of it is stored in the end: the shorter the stop, the less work.
	const perRequest = 3000
	timeout, flood := time.Second, time.Second
	if os.Getenv(envAttack) != "" {
		timeout, flood = 5*time.Second, 2*time.Second
	}
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir, "--shutdown-timeout", timeout.String())
	body := manySpans(t, perRequest)
	var accepted atomic.Int64
	var senders sync.WaitGroup
	for range 6 {
		senders.Go(func() {
			for {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.IngestURL+"/v1/traces", bytes.NewReader(body))
				if err != nil {
					return
				}
				req.Header.Set("X-Svc-Ingest-Key", p.PrivateKey)
				req.Header.Set("Content-Type", "application/x-protobuf")
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					return // the server is gone
				}
				_ = res.Body.Close()
				if res.StatusCode == http.StatusOK {
					accepted.Add(perRequest)
				}
			}
		})
	}
	time.Sleep(flood)
	begun := time.Now()
	code := p.Stop(t)
	took := time.Since(begun)
	senders.Wait()
	if code != 0 || took > patience(timeout+time.Second) { // processes end after the timeout
		t.Errorf("exit code %d after %s\n%s", code, took, p.Log())
	}
	if !strings.Contains(p.Log(), "leaves acknowledged telemetry in the queue") {
		t.Errorf("there was no backlog to leave, so nothing was tested\n%s", p.Log())
	}
	t.Logf("%d spans accepted, stopped in %s", accepted.Load(), took)

	p = testkit.StartProcess(t, dir)
	awaitStored(t, p)
	awaitCount(t, p, fmt.Sprint(accepted.Load()))
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// awaitStored waits, for minutes if need be, until the queue is stored.
func awaitStored(t *testing.T, p *testkit.Process) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if flushed(t, p) {
			return
		}
	}
	t.Fatal("the queue was not stored in time")
}
