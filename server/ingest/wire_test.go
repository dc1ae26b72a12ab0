package ingest_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/framing"
	"github.com/svc-observability/svc/server/ingest"
)

func nowNano() int64 { return time.Now().UnixNano() }

// listen serves the HTTP door on a real port.
func (f *fixture) listen(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := f.HTTPServer()
	done := make(chan error, 1)
	go func() { done <- s.Serve(framing.Listen(l, false)) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return l.Addr().String()
}

// rawRequest writes to a connection by hand and reads one answer.
func rawRequest(t *testing.T, addr string, write func(c net.Conn, r *bufio.Reader)) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	write(c, r)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

const rawHead = "POST /v1/traces HTTP/1.1\r\nHost: ingest\r\nAuthorization: Bearer " + goodKey + "\r\n"

func send(t *testing.T, c io.Writer, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

func TestChunkedBodies(t *testing.T) {
	f := newFixture(t, ingest.Limits{Body: 64 << 10}, nil)
	url := "http://" + f.listen(t) + "/v1/traces"
	post := func(body io.Reader, media string) *http.Response {
		t.Helper()
		// A reader of unknown length is sent in chunks.
		r, err := http.NewRequestWithContext(t.Context(), "POST", url, io.MultiReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+goodKey)
		r.Header.Set("Content-Type", media)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	if res := post(bytes.NewReader(wire(t, spans(5))), "application/x-protobuf"); res.StatusCode != 200 {
		t.Errorf("chunked: %d", res.StatusCode)
	}
	refused(t, post(bytes.NewReader(make([]byte, 64<<10+1)), "application/x-protobuf"), apierr.IngestPayloadTooLarge)
	refused(t, post(bytes.NewReader(make([]byte, 64<<10+1)), "text/plain"), apierr.IngestPayloadTooLarge)
	refused(t, post(bytes.NewReader(make([]byte, 64<<10)), "text/plain"), apierr.IngestUnsupportedMediaType)
	refused(t, post(bytes.NewReader(bytes.Repeat([]byte{0xff}, 64<<10)), "application/x-protobuf"), apierr.IngestBadRequest)
}

func TestDeclaredLengthIsRefusedBeforeReading(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	res := rawRequest(t, f.listen(t), func(c net.Conn, _ *bufio.Reader) {
		send(t, c, rawHead+fmt.Sprintf("Content-Length: %d\r\n\r\n", 20<<20+1)) // and no byte of the body
	})
	refused(t, res, apierr.IngestPayloadTooLarge)
}

func TestBodyShorterThanDeclared(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	res := rawRequest(t, f.listen(t), func(c net.Conn, _ *bufio.Reader) {
		send(t, c, rawHead+"Content-Length: 100\r\n\r\nhello")
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	})
	if e := refused(t, res, apierr.IngestBadRequest); !strings.Contains(e.Message, "5 bytes") || !strings.Contains(e.Message, "100") {
		t.Errorf("message %q does not give the lengths", e.Message)
	}
}

func TestSlowBody(t *testing.T) {
	f := newFixture(t, ingest.Limits{Request: 100 * time.Millisecond}, nil)
	started := time.Now()
	res := rawRequest(t, f.listen(t), func(c net.Conn, _ *bufio.Reader) { send(t, c, rawHead+"Content-Length: 100\r\n\r\nhello") })
	refused(t, res, apierr.IngestRequestTimeout)
	if d := time.Since(started); d > 5*time.Second {
		t.Errorf("the answer took %s", d)
	}
}

func TestSlowQueue(t *testing.T) {
	gate := make(chan struct{})
	f := newFixture(t, ingest.Limits{Request: 50 * time.Millisecond}, gate)
	refused(t, f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestRequestTimeout)
	if n, _ := f.queue.count(); n != 0 {
		t.Errorf("%d records were stored", n)
	}
	close(gate)
	if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != 200 {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

func TestExpectContinue(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	addr := f.listen(t)
	body := wire(t, spans(1))
	head := fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	res := rawRequest(t, addr, func(c net.Conn, r *bufio.Reader) {
		send(t, c, rawHead+head)
		line, err := r.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			t.Fatalf("got %q, %v, want 100 Continue", line, err)
		}
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		send(t, c, string(body))
	})
	if res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
	// A request that fails on its headers gets its answer instead of "100 Continue".
	res = rawRequest(t, addr, func(c net.Conn, _ *bufio.Reader) {
		send(t, c, strings.Replace(rawHead, goodKey, "svc_pk_wrong", 1)+head)
	})
	refused(t, res, apierr.IngestUnauthorized)
}

func TestInFlightLimitIsPerOrganization(t *testing.T) {
	gate := make(chan struct{})
	f := newFixture(t, ingest.Limits{InFlight: 3}, gate)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != 200 {
				t.Errorf("status %d", res.StatusCode)
			}
		})
	}
	f.queue.awaitWaiting(t, 3)
	refused(t, f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestRateLimited)
	wg.Go(func() {
		if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(otherKey)...); res.StatusCode != 200 {
			t.Errorf("another organization: status %d", res.StatusCode)
		}
	})
	f.queue.awaitWaiting(t, 4)
	close(gate)
	wg.Wait()
	if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != 200 {
		t.Errorf("afterwards: status %d", res.StatusCode)
	}
}

func TestBufferedLimit(t *testing.T) {
	gate := make(chan struct{})
	f := newFixture(t, ingest.Limits{Buffered: 200 << 10}, gate)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...)
	}()
	f.queue.awaitWaiting(t, 1)
	// The organization has used its share. Another one still has room, until no memory is left at all.
	refused(t, f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestRateLimited)
	other := make(chan struct{})
	go func() {
		defer close(other)
		f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(otherKey)...)
	}()
	f.queue.awaitWaiting(t, 2)
	if n := f.metric(t, "svc_ingest_buffered_bytes"); n < 100<<10 || n > 200<<10 {
		t.Errorf("svc_ingest_buffered_bytes %g", n)
	}
	refused(t, f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(inactiveKey)...), apierr.IngestServiceUnavailable)
	if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(ingest.TestKey)...); res.StatusCode != 200 {
		t.Errorf("test key without memory: status %d", res.StatusCode)
	}
	close(gate)
	<-done
	<-other
	if res := f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != 200 {
		t.Errorf("afterwards: status %d", res.StatusCode)
	}
}

func TestQueueFailuresAreLoggedOnce(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	f.queue.fail(errors.New("no space left on device"))
	for range 20 {
		refused(t, f.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestQueueUnavailable)
	}
	if n := strings.Count(f.log.String(), "no space left on device"); n < 1 || n > 2 {
		t.Errorf("the cause was logged %d times:\n%s", n, f.log)
	}
}
