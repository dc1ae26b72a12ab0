package rest_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/rest"
	"github.com/svc-observability/svc/server/rpc/loopback"
)

// checkEnvelope checks the error envelope: a closed object, and Retry-After exactly when a retry makes sense.
func checkEnvelope(t *testing.T, res *http.Response, body, param string) {
	t.Helper()
	var envelope struct {
		Error map[string]any `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	want := []string{"_tag", "code", "message", "recovery", "retryable", "title", "type"}
	if param != "" {
		want = append(want, "param")
		slices.Sort(want)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(envelope.Error))); diff != "" {
		t.Errorf("fields of the envelope: %s", diff)
	}
	if param != "" && envelope.Error["param"] != param {
		t.Errorf("param is %v, want %q", envelope.Error["param"], param)
	}
	if retryable, header := envelope.Error["retryable"], res.Header.Get("Retry-After"); (retryable == true) != (header != "") {
		t.Errorf("retryable is %v, Retry-After is %q", retryable, header)
	}
	if got := res.Header.Get("WWW-Authenticate"); (res.StatusCode == 401) != (got == "Bearer") {
		t.Errorf("%d with WWW-Authenticate %q", res.StatusCode, got)
	}
	if res.StatusCode == 405 && res.Header.Get("Allow") == "" {
		t.Error("405 without Allow")
	}
}

func TestHeadAndOptions(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	get, body := send(t, server.URL, call{"GET", "/v2/api_keys", "full", "", nil})
	head, none := send(t, server.URL, call{"HEAD", "/v2/api_keys", "full", "", nil})
	if head.StatusCode != 200 || none != "" || head.ContentLength != int64(len(body)) || get.ContentLength != int64(len(body)) {
		t.Errorf("HEAD: %d, %q, length %d; GET has %d bytes", head.StatusCode, none, head.ContentLength, len(body))
	}
	if res, _ := send(t, server.URL, call{"HEAD", "/v2/api_keys", "nobody", "", nil}); res.StatusCode != 401 {
		t.Errorf("HEAD without a credential: %d", res.StatusCode)
	}
	if res, _ := send(t, server.URL, call{"HEAD", "/v2/api_keys/x/roll", "full", "", nil}); res.StatusCode != 405 ||
		res.Header.Get("Allow") != "OPTIONS, POST" {
		t.Errorf("HEAD where no GET is: %d, %q", res.StatusCode, res.Header.Get("Allow"))
	}
	res, text := send(t, server.URL, call{"OPTIONS", "/v2/api_keys", "nobody", "", nil})
	if res.StatusCode != 204 || res.Header.Get("Allow") != "GET, HEAD, OPTIONS, POST" || text != "" {
		t.Errorf("OPTIONS: %d, %q, %q", res.StatusCode, res.Header.Get("Allow"), text)
	}
	if res, _ := send(t, server.URL, call{"OPTIONS", "/v2/nothing", "nobody", "", nil}); res.StatusCode != 404 {
		t.Errorf("OPTIONS of an unknown path: %d", res.StatusCode)
	}
}

func TestGzip(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	_, plain := send(t, server.URL, call{"GET", "/v2/api_keys?limit=100", "full", "", nil})
	res, packed := send(t, server.URL, call{"GET", "/v2/api_keys?limit=100", "full", "", http.Header{"Accept-Encoding": {"br, gzip;q=0.8"}}})
	if res.Header.Get("Content-Encoding") != "gzip" || len(packed) >= len(plain) || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("not compressed: %v", res.Header)
	}
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != plain {
		t.Errorf("the compressed answer differs: %v", err)
	}
	if res, _ := send(t, server.URL, call{
		"GET", "/v2/api_keys?limit=100", "full", "",
		http.Header{"Accept-Encoding": {"gzip;q=0"}},
	}); res.Header.Get("Content-Encoding") != "" {
		t.Error("compressed against the caller's wish")
	}
	encoded := http.Header{"Content-Encoding": {"gzip"}}
	if res, body := send(t, server.URL, call{"POST", "/v2/api_keys", "full", gzipped(t, `{"name":"n"}`), encoded}); res.StatusCode != 200 {
		t.Errorf("gzip request: %d %s", res.StatusCode, body)
	}
	bomb := gzipped(t, `{"name":"`+strings.Repeat("x", 4<<20)+`"}`)
	if res, body := send(t, server.URL, call{"POST", "/v2/api_keys", "full", bomb, encoded}); res.StatusCode != 413 {
		t.Errorf("gzip bomb of %d bytes: %d %s", len(bomb), res.StatusCode, body)
	}
	cut := gzipped(t, `{"name":"n"}`)
	if res, body := send(t, server.URL, call{"POST", "/v2/api_keys", "full", cut[:len(cut)-6], encoded}); res.StatusCode != 400 {
		t.Errorf("torn gzip: %d %s", res.StatusCode, body)
	}
}

func TestBodyWithoutLengthAndType(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	post := func(body string) int {
		// A reader of unknown length is sent in chunks, and no Content-Type is set.
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v2/api_keys", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "full")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	if got := post(`{"name":"n"}`); got != 200 {
		t.Errorf("chunked: %d", got)
	}
	if got := post(`{"name":"` + strings.Repeat("x", limits.RESTBody) + `"}`); got != 413 {
		t.Errorf("chunked and too large: %d", got)
	}
}

func TestRequestID(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	for given, kept := range map[string]bool{"abc-1.2_3": true, "with space": false, strings.Repeat("x", 129): false} {
		res, _ := send(t, server.URL, call{"GET", "/v2/nothing", "full", "", http.Header{"X-Request-Id": {given}}})
		if got := res.Header.Get("X-Request-Id"); (got == given) != kept || got == "" {
			t.Errorf("sent %q, got %q", given, got)
		}
	}
}

func TestRateLimitCountsARequestOnce(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 3))
	t.Cleanup(server.Close)
	for i := range 3 {
		if res, body := send(t, server.URL, call{"GET", "/v2/api_keys", "full", "", nil}); res.StatusCode != 200 {
			t.Fatalf("request %d: %d %s", i+1, res.StatusCode, body)
		}
	}
	res, body := send(t, server.URL, call{"GET", "/v2/api_keys", "full", "", nil})
	if res.StatusCode != 429 || res.Header.Get("Retry-After") != "60" || !strings.Contains(body, `"code":"rate_limited"`) {
		t.Errorf("the fourth: %d %q %s", res.StatusCode, res.Header.Get("Retry-After"), body)
	}
	if res, _ := send(t, server.URL, call{"GET", "/v2/nothing", "full", "", nil}); res.StatusCode != 404 {
		t.Errorf("an unknown route: %d", res.StatusCode)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := rest.New(rest.Config{}); err == nil {
		t.Error("a door without anything behind it was made")
	}
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	conn := loopback.Conn(http.NotFoundHandler())
	if _, err := rest.New(rest.Config{Conn: conn, Contract: c}); err == nil {
		t.Error("a door that admits everybody was made")
	}
}

// reportCPU reports, when its result is called, the CPU time of this process for each request since: wall time says little on a machine
// that does other work.
func reportCPU(b *testing.B) func() {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	return func() { b.ReportMetric(float64((used()-start).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}

// BenchmarkGet is a GET through the whole chain: route, admit, rate limit, query, gateway, loopback, validation, service, JSON.
func BenchmarkGet(b *testing.B) {
	door := newDoor(b, 1<<30)
	req := httptest.NewRequest(http.MethodGet, "/v2/api_keys?limit=20", nil)
	req.Header.Set("Authorization", "full")
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		w := httptest.NewRecorder()
		w.Body = &bytes.Buffer{}
		door.ServeHTTP(w, req)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// BenchmarkGetParallel is the same from many callers at once.
func BenchmarkGetParallel(b *testing.B) {
	door := newDoor(b, 1<<30)
	b.ReportAllocs()
	defer reportCPU(b)()
	b.RunParallel(func(pb *testing.PB) {
		req := httptest.NewRequest(http.MethodGet, "/v2/api_keys/key_1", nil)
		req.Header.Set("Authorization", "full")
		for pb.Next() {
			w := httptest.NewRecorder()
			if door.ServeHTTP(w, req); w.Code != http.StatusOK {
				b.Error(w.Code, w.Body)
				return
			}
		}
	})
}

// TestOversizeIsAnsweredToSimpleClients sends the whole body before it reads, as simple clients do: the answer must still arrive.
func TestOversizeIsAnsweredToSimpleClients(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const size = 8 << 20
	head := fmt.Sprintf("POST /v2/api_keys HTTP/1.1\r\nHost: x\r\nAuthorization: full\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
	if _, err := io.Copy(conn, io.MultiReader(strings.NewReader(head), strings.NewReader(strings.Repeat("x", size)))); err != nil {
		t.Fatalf("the server hung up before the body was sent: %v", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	checkEnvelope(t, res, string(body), "")
}
