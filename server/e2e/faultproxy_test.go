package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// fate is the treatment by the proxy of a request that it sees for the first time. Repeated requests pass.
type fate string

const (
	pass        fate = "pass"
	throttle    fate = "throttle"       // 429 with Retry-After; RESOURCE_EXHAUSTED with RetryInfo
	unavailable fate = "unavailable"    // 503 with Retry-After; UNAVAILABLE with RetryInfo
	cutUnsent   fate = "cut unsent"     // the connection ends before the server hears of the request
	cutHalfway  fate = "cut halfway"    // both connections end when the server has half of the body
	cutAnswer   fate = "cut the answer" // the server has acknowledged; the connection ends before the sender learns of it
)

// faultRetryAfter is the smallest value that Retry-After can express.
const faultRetryAfter = time.Second

// faultProxy stands between an exporter and the server, for HTTP or gRPC, and treats requests by a plan, for each path
// separately. It recognizes requests by the items in them, which carry loadtest.ItemAttribute, in every encoding and compression.
type faultProxy struct {
	Addr string

	upstream string
	client   http.RoundTripper
	plan     []fate
	// refusing means that the server is expected to refuse requests, too.
	refusing bool

	mu         sync.Mutex
	seen       map[string]int // requests seen for the first time, by path
	deliveries map[string]*delivery
}

// delivery is a request and its outcome.
type delivery struct {
	path  string
	items []string
	fate  fate
	// acks counts the successes that the server answered. attempts counts how often the exporter sent the request.
	acks, attempts int
	// settled means that the last answer was a success and reached the exporter.
	settled bool
	// others are answers of the server that were not a success.
	others  []string
	refused time.Time
	pause   time.Duration
}

var itemPattern = regexp.MustCompile(`[0-9]{10}-[0-9]{6}`)

type connKey struct{}

// startFaultProxy forwards to upstream (host:port) until the test ends.
func startFaultProxy(t *testing.T, upstream string, plan ...fate) *faultProxy {
	t.Helper()
	p := &faultProxy{upstream: upstream, plan: plan, seen: map[string]int{}, deliveries: map[string]*delivery{}}
	both := &http.Protocols{}
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler: p, Protocols: both, ReadHeaderTimeout: 10 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Addr = listener.Addr().String()
	p.client = &protocolTransport{http1: &http.Transport{}, http2: &http.Transport{Protocols: http2Only()}}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-done); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("proxy: %v", err)
		}
	})
	return p
}

func http2Only() *http.Protocols {
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	return p
}

// protocolTransport uses the same protocol as the incoming request.
type protocolTransport struct{ http1, http2 *http.Transport }

func (t *protocolTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Content-Type") == "application/grpc" {
		return t.http2.RoundTrip(r)
	}
	return t.http1.RoundTrip(r)
}

func (p *faultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the exporter gave up
	}
	isGRPC := strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
	d, f := p.arrive(r.URL.Path, itemsOf(body, isGRPC))
	switch f {
	case throttle, unavailable:
		p.refuse(w, d, isGRPC)
		return
	case cutUnsent:
		cut(r)
	case cutHalfway:
		_, _, _ = p.forward(r, &halfReader{body: body[:len(body)/2]}, int64(len(body))) // it must fail
		cut(r)
	}
	res, answer, err := p.forward(r, bytes.NewReader(body), int64(len(body)))
	if err != nil {
		p.answered(d, false, "no answer: "+err.Error())
		cut(r)
	}
	ok, text := succeeded(res, answer, isGRPC)
	if f == cutAnswer {
		p.answered(d, ok, text)
		cut(r)
	}
	h := w.Header()
	maps.Copy(h, res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(answer)
	for k, v := range res.Trailer {
		h[http.TrailerPrefix+k] = v
	}
	p.answered(d, ok, text)
	p.settle(d, ok)
}

// cut ends the connection of a request without an answer.
func cut(r *http.Request) {
	_ = r.Context().Value(connKey{}).(net.Conn).Close() // the other end may have gone before
	panic(http.ErrAbortHandler)
}

// itemsOf finds the marks of the items in a body.
func itemsOf(body []byte, isGRPC bool) []string {
	if isGRPC && len(body) >= 5 { // the head of a message: compressed or not, length
		body = body[5:]
	}
	if zr, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
		if inflated, err := io.ReadAll(zr); err == nil {
			body = inflated
		}
	}
	var items []string
	for _, m := range itemPattern.FindAll(body, -1) {
		items = append(items, string(m))
	}
	return items
}

// arrive records an attempt and returns what to do with it.
func (p *faultProxy) arrive(path string, items []string) (*delivery, fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := path + " " + strings.Join(items, " ")
	d := p.deliveries[key]
	if d != nil {
		if d.attempts == 1 && !d.refused.IsZero() {
			d.pause = time.Since(d.refused)
		}
		d.attempts++
		return d, pass
	}
	d = &delivery{path: path, items: items, fate: p.plan[p.seen[path]%len(p.plan)], attempts: 1}
	p.seen[path]++
	p.deliveries[key] = d
	return d, d.fate
}

func (p *faultProxy) answered(d *delivery, ok bool, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ok {
		d.acks++
	} else {
		d.others = append(d.others, text)
	}
}

func (p *faultProxy) settle(d *delivery, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.settled = ok
}

func (p *faultProxy) refuse(w http.ResponseWriter, d *delivery, isGRPC bool) {
	p.mu.Lock()
	d.refused = time.Now()
	p.mu.Unlock()
	code, httpStatus := codes.Unavailable, http.StatusServiceUnavailable
	if d.fate == throttle {
		code, httpStatus = codes.ResourceExhausted, http.StatusTooManyRequests
	}
	h := w.Header()
	if !isGRPC {
		h.Set("Retry-After", fmt.Sprint(int(faultRetryAfter/time.Second)))
		w.WriteHeader(httpStatus)
		return
	}
	s, err := status.New(code, "the proxy refuses this once").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(faultRetryAfter)})
	if err != nil {
		panic(err)
	}
	details, err := proto.Marshal(s.Proto())
	if err != nil {
		panic(err)
	}
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Status", fmt.Sprint(int(code)))
	h.Set("Grpc-Message", s.Message())
	h.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(details))
	w.WriteHeader(http.StatusOK)
}

func (p *faultProxy) forward(r *http.Request, body io.Reader, length int64) (*http.Response, []byte, error) {
	// If the exporter gives up, the server must still get the request. Otherwise the proxy would not learn whether it was
	// acknowledged.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 20*time.Second)
	defer cancel()
	out, err := http.NewRequestWithContext(ctx, r.Method, "http://"+p.upstream+r.URL.RequestURI(), body)
	if err != nil {
		return nil, nil, err
	}
	out.Header = r.Header.Clone()
	out.ContentLength = length
	res, err := p.client.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res, answer, err
}

// succeeded reports whether the server accepted everything. It also returns the answer in readable form.
func succeeded(res *http.Response, answer []byte, isGRPC bool) (bool, string) {
	if !isGRPC {
		partial := len(answer) > 0 && string(answer) != "{}"
		return res.StatusCode == http.StatusOK && !partial, fmt.Sprintf("%d %s", res.StatusCode, answer)
	}
	code := res.Trailer.Get("Grpc-Status") + res.Header.Get("Grpc-Status") // an answer without a message has it in the header
	partial := len(answer) > 5
	return code == "0" && !partial, fmt.Sprintf("grpc-status %s %q", code, answer)
}

// halfReader breaks off in the middle of the body.
type halfReader struct{ body []byte }

func (h *halfReader) Read(b []byte) (int, error) {
	if len(h.body) == 0 {
		time.Sleep(20 * time.Millisecond) // so that what was read before is on its way
		return 0, errors.New("cut halfway")
	}
	n := copy(b, h.body)
	h.body = h.body[n:]
	return n, nil
}
