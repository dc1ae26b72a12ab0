package ingest_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/ingest"
)

// manySpans returns an export request of tiny spans.
func manySpans(n int) []byte {
	var span []byte
	span = protowire.AppendTag(span, 1, protowire.BytesType)
	span = protowire.AppendBytes(span, bytes.Repeat([]byte{0xaa}, 16))
	span = protowire.AppendTag(span, 2, protowire.BytesType)
	span = protowire.AppendBytes(span, bytes.Repeat([]byte{0xbb}, 8))
	span = protowire.AppendTag(span, 5, protowire.BytesType)
	span = protowire.AppendString(span, "x")
	span = protowire.AppendTag(span, 7, protowire.Fixed64Type)
	span = protowire.AppendFixed64(span, uint64(time.Now().UnixNano()))
	span = protowire.AppendTag(span, 8, protowire.Fixed64Type)
	span = protowire.AppendFixed64(span, uint64(time.Now().UnixNano()))
	one := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), span)
	scope := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), bytes.Repeat(one, n))
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), scope)
}

// TestLargeInParallel sends bodies with a large expansion at the same time. Their memory is bounded once for all of them. A few
// wait, and the others get an answer that asks for a retry. Small requests of the same organization are answered meanwhile.
func TestLargeInParallel(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	url := "http://" + f.listen(t) + "/v1/traces"
	spans := 1_000_000 // more than a request may have
	if raceDetector {
		spans = 200_000
	}
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"honest", gzipped(t, manySpans(spans))},
		{"behind a small trailer", append(gzipped(t, manySpans(spans)), gzipped(t, manySpans(1))...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Logf("%d bytes", len(c.body))
			peak := watchHeap(true)
			const senders = 16
			statuses, waits := make([]int, senders), make([]string, senders)
			var slowest time.Duration
			var wg sync.WaitGroup
			started := time.Now()
			for i := range senders {
				wg.Go(func() {
					res := sendLarge(t, url, c.body)
					statuses[i], waits[i] = res.StatusCode, res.Header.Get("Retry-After")
				})
			}
			done := make(chan struct{})
			go func() { wg.Wait(); close(done) }()
			small := gzipped(t, manySpans(1))
			for range 200 {
				at := time.Now()
				if res := sendLarge(t, url, small); res.StatusCode != http.StatusOK {
					t.Errorf("a small request: %d", res.StatusCode)
				}
				slowest = max(slowest, time.Since(at))
				select {
				case <-done:
				case <-time.After(20 * time.Millisecond):
					continue
				}
				break
			}
			<-done
			took, grown := time.Since(started), peak()
			t.Logf("%v in %s, the heap grew by %d MiB, the slowest small request took %s", statuses, took, grown>>20, slowest)
			tooLarge := 0
			for i, status := range statuses {
				switch {
				case status == http.StatusRequestEntityTooLarge && !raceDetector, status == http.StatusOK && raceDetector:
					tooLarge++
				case status != http.StatusTooManyRequests || waits[i] == "":
					t.Errorf("status %d, Retry-After %q", status, waits[i])
				}
			}
			if tooLarge < 5 || !slices.Contains(statuses, http.StatusTooManyRequests) && tooLarge < senders {
				t.Errorf("%d were decoded: %v", tooLarge, statuses)
			}
			if limit := uint64(800 << 20); grown > limit && !raceDetector {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			if slowest > 2*time.Second && !raceDetector {
				t.Errorf("a small request took %s", slowest)
			}
		})
	}
}

func sendLarge(t *testing.T, url string, body []byte) *http.Response {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return &http.Response{}
	}
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("X-Svc-Ingest-Key", goodKey)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return &http.Response{}
	}
	_ = res.Body.Close()
	return res
}

// Even if a body is refused before it is read, the server reads a part of it. The sender then sees the answer instead of a broken
// connection.
func TestEarlyRefusalsOfLargeBodies(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	base := "http://" + f.listen(t)
	body := make([]byte, 12<<20)
	for _, c := range []struct {
		method, path, key string
		want              int
	}{
		{http.MethodPost, "/v1/traces", "svc_pk_unknown", http.StatusUnauthorized},
		{http.MethodPost, "/v1/traces", "", http.StatusUnauthorized},
		{http.MethodPost, "/v1/nothing", goodKey, http.StatusNotFound},
		{http.MethodPut, "/v1/traces", goodKey, http.StatusMethodNotAllowed},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, base+c.path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Svc-Ingest-Key", c.key)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, res.StatusCode, c.want)
		}
	}
}
