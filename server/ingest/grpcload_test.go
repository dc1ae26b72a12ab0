package ingest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
)

const exportTraces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// heapPeak samples the used memory until stop is called. stop returns the growth since the beginning.
func heapPeak() (stop func() uint64) {
	percent := debug.SetGCPercent(100)
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	base, most := inUse(), uint64(0)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			most = max(most, inUse())
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-over
		debug.SetGCPercent(percent)
		return most - min(most, base)
	}
}

// zeros is a reader of the given number of zero bytes, so that the senders of this test hold no memory.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	clear(p[:n])
	z.left -= n
	return n, nil
}

// largeMessage returns a valid request without spans. It consists of one unknown field.
func largeMessage(size int) io.Reader {
	field := protowire.AppendVarint(protowire.AppendTag(nil, 100, protowire.BytesType), uint64(size))
	prefix := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(field)+size))
	return io.MultiReader(bytes.NewReader(append(prefix, field...)), &zeros{size})
}

// call makes a call by hand, each on its own connection.
func call(ctx context.Context, addr, key string, body io.Reader) (codes.Code, http.Header, error) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+exportTraces, body)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := transport.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, nil, err
	}
	h := res.Trailer
	if h.Get("Grpc-Status") == "" {
		h = res.Header
	}
	var code codes.Code
	if _, err := fmt.Sscan(h.Get("Grpc-Status"), (*uint32)(&code)); err != nil {
		return 0, nil, err
	}
	return code, h, nil
}

// TestManyLargeMessages: forty senders of 60 MiB each at the same time, 2.4 GiB in total, stay within the budget. Each gets a
// clean answer.
func TestManyLargeMessages(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector multiplies memory")
	}
	f := newFixture(t, ingest.Limits{Buffered: 300 << 20}, nil)
	addr := f.listenGRPC(t)
	for _, c := range []struct {
		name, key string
		most      uint64
		allowed   []codes.Code
	}{
		{"with a key", goodKey, 600 << 20, []codes.Code{codes.OK, codes.Unavailable}},
		{"unknown key", "svc_pk_unknown", 100 << 20, []codes.Code{codes.Unauthenticated}},
		{"no message follows the key's refusal", "", 100 << 20, []codes.Code{codes.Unauthenticated}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stop := heapPeak()
			var mu sync.Mutex
			got := map[codes.Code]int{}
			var wg sync.WaitGroup
			for range 40 {
				wg.Go(func() {
					code, _, err := call(t.Context(), addr, c.key, largeMessage(60<<20))
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Errorf("no clean status: %v", err)
					}
					got[code]++
				})
			}
			wg.Wait()
			most := stop()
			t.Logf("%v, at most %d MiB", got, most>>20)
			sum := 0
			for _, code := range c.allowed {
				sum += got[code]
			}
			if sum != 40 || got[c.allowed[0]] == 0 {
				t.Errorf("answers %v, want only %v", got, c.allowed)
			}
			if most > c.most {
				t.Errorf("%d MiB in use, want at most %d", most>>20, c.most>>20)
			}
		})
	}
	if n := f.metric(t, "svc_ingest_buffered_bytes"); n != 0 {
		t.Errorf("%g bytes leaked from the budget", n)
	}
	// A declared length alone takes no memory, and leaves the memory of others untouched.
	held := f.metric(t, "svc_ingest_buffered_bytes")
	ctx, cancel := context.WithCancel(t.Context())
	body, w := io.Pipe()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _, _ = call(ctx, addr, goodKey, body) // ends with the cancel
	}()
	if _, err := w.Write([]byte{0, 3, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call is being read", func() bool { return f.metric(t, "svc_ingest_in_flight_requests") == 1 })
	if n := f.metric(t, "svc_ingest_buffered_bytes") - held; n > 2<<20 {
		t.Errorf("a declared length of 48 MiB took %g bytes", n)
	}
	cancel()
	_ = w.Close()
	<-gone
	eventually(t, "the call is over", func() bool { return f.metric(t, "svc_ingest_buffered_bytes") == 0 })
}

// TestHealthTakesNoLargeMessages: health needs no key, so it must not be a way to fill the memory.
func TestHealthTakesNoLargeMessages(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	c := dial(t, f.listenGRPC(t))
	var none emptypb.Empty
	err := c.Invoke(t.Context(), healthv1.Health_Check_FullMethodName, make([]byte, 1<<20), &none, grpc.ForceCodec(rawCodec{}))
	if status.Code(err) == codes.OK || status.Code(err) == codes.Unimplemented {
		t.Errorf("a health request of a mebibyte: %v", err)
	}
	if _, err := healthv1.NewHealthClient(c).Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
		t.Errorf("the connection is not good any more: %v", err)
	}
}

// TestSlowBodies: a sender that trickles is cut at the time limit and gets an answer. This holds on both doors, with and without
// a declared length.
func TestSlowBodies(t *testing.T) {
	const limit = 200 * time.Millisecond
	f := newFixture(t, ingest.Limits{Request: limit}, nil)
	trickle := func(first []byte) (io.Reader, func()) {
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err := w.Write(first)
			for err == nil {
				time.Sleep(20 * time.Millisecond)
				_, err = w.Write([]byte{0})
			}
		}()
		return r, func() { _ = r.Close(); <-done }
	}
	t.Run("grpc", func(t *testing.T) {
		addr := f.listenGRPC(t)
		for name, first := range map[string][]byte{"prefix": {0, 1}, "message": {0, 1, 0, 0, 0, 10}} {
			body, stop := trickle(first)
			began := time.Now()
			code, h, err := call(t.Context(), addr, goodKey, body)
			if err != nil || code != codes.DeadlineExceeded || h.Get("Grpc-Status-Details-Bin") == "" || time.Since(began) > 20*limit {
				t.Errorf("%s: %v %v after %s", name, code, err, time.Since(began))
			}
			stop()
		}
	})
	t.Run("http", func(t *testing.T) {
		url := "http://" + f.listen(t)
		for name, length := range map[string]int64{"declared": 1000, "chunked": -1} {
			body, stop := trickle([]byte{10})
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/traces", body)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			r.Header.Set("Authorization", "Bearer "+goodKey)
			res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			refused(t, res, apierr.IngestRequestTimeout)
			_ = res.Body.Close()
			stop()
		}
	})
	if n, _ := f.queue.count(); n != 0 {
		t.Errorf("%d records were written", n)
	}
}
