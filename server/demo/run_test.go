package demo

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiving is a server that answers by path. Its function answer returns false to accept everything.
type receiving struct {
	mu     sync.Mutex
	spans  int
	tries  map[string]int
	answer func(w http.ResponseWriter, path string, try int) bool
}

func (s *receiving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[r.URL.Path]++
	var body []byte
	if zip, err := gzip.NewReader(r.Body); err == nil {
		body, _ = io.ReadAll(zip)
	}
	if len(body) == 0 || r.Header.Get("Authorization") != "Bearer svc_sk_test" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if s.answer != nil && s.answer(w, r.URL.Path, s.tries[r.URL.Path]) {
		return
	}
	switch r.URL.Path {
	case "/v1/traces":
		var m coltrace.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, rs := range m.ResourceSpans {
			s.spans += len(rs.ScopeSpans[0].Spans)
		}
	case "/v1/events", "/v1/sessionEvents", "/v1/sessionReplays/meta":
		_, _ = io.WriteString(w, `{"accepted":`+strconv.Itoa(strings.Count(string(body), "\n"))+`}`)
	}
}

func run(ctx context.Context, t *testing.T, s *receiving, change func(*Options)) (Result, error) {
	t.Helper()
	s.tries = map[string]int{}
	at := httptest.NewServer(s)
	defer at.Close()
	to := time.Now().UTC().Truncate(day).Add(-9 * time.Hour) // at night there are few visitors, so maybe no recording
	o := Options{Config: Config{Seed: 1, Rate: 1}, Target: Target{URL: at.URL, Key: "svc_sk_test"}, From: to.Add(-5 * time.Minute), To: to}
	if change != nil {
		change(&o)
	}
	return Run(ctx, o)
}

func TestRun(t *testing.T) {
	s := &receiving{}
	done := 0.0
	result, err := run(t.Context(), t, s, func(o *Options) { o.Progress = func(p Progress) { done = p.Done } })
	if err != nil || result.Stopped || done != 1 || result.Signals[signalSpans].Sent != s.spans || s.spans == 0 {
		t.Errorf("%v %+v: %d spans came", err, result, s.spans)
	}
	for _, signal := range Signals() {
		if n := result.Signals[signal]; n.Sent == 0 || n.Accepted != n.Sent || n.Requests == 0 {
			t.Errorf("%s: %+v", signal, n)
		}
	}
}

// If the server is busy, the run repeats the request when the server allows it, and loses nothing.
func TestRunWaits(t *testing.T) {
	s := &receiving{answer: func(w http.ResponseWriter, path string, try int) bool {
		if try > 1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(map[string]int{"/v1/traces": http.StatusTooManyRequests}[path] +
			map[bool]int{true: http.StatusServiceUnavailable}[path != "/v1/traces"])
		return true
	}}
	began := time.Now()
	result, err := run(t.Context(), t, s, nil)
	if err != nil || result.Retries < 7 || result.Signals[signalSpans].Accepted != s.spans || time.Since(began) < time.Second {
		t.Errorf("%v %+v after %s: %d spans came", err, result, time.Since(began), s.spans)
	}
}

// Refused items are counted, with the server's reason.
func TestRunRefused(t *testing.T) {
	s := &receiving{answer: func(w http.ResponseWriter, path string, _ int) bool {
		switch path {
		case "/v1/traces":
			text, _ := proto.Marshal(&coltrace.ExportTraceServiceResponse{
				PartialSuccess: &coltrace.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"},
			})
			_, _ = w.Write(text)
		case "/v1/logs":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"_tag":"@svc/x","message":"no"}}`)
		case "/v1/events":
			_, _ = io.WriteString(w, `{"accepted":0,"reasons":["line 1: name is reserved"]}`)
		default:
			return false
		}
		return true
	}}
	result, err := run(t.Context(), t, s, nil)
	spans, logs, products := result.Signals[signalSpans], result.Signals[signalLogs], result.Signals[signalProducts]
	if err != nil || spans.Refused != 3*spans.Requests || spans.Accepted != spans.Sent-spans.Refused || logs.Accepted != 0 ||
		logs.Refused != logs.Sent || products.Accepted != 0 {
		t.Errorf("%v %+v", err, result)
	}
	reasons := strings.Join(result.Reasons, "\n")
	for _, want := range []string{"too old", "@svc/x: no", "name is reserved"} {
		if !strings.Contains(reasons, want) {
			t.Errorf("%q lacks %q", reasons, want)
		}
	}
}

// An invalid key ends the run.
func TestRunWithAWrongKey(t *testing.T) {
	_, err := run(t.Context(), t, &receiving{}, func(o *Options) { o.Key = "svc_sk_other" })
	if err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "ingest key") {
		t.Error(err)
	}
	if _, err := run(t.Context(), t, &receiving{}, func(o *Options) { o.From = time.Now().Add(-31 * day) }); err == nil {
		t.Error("31 days back are tried")
	}
}

// A stop lets open requests finish, and the result shows how far the run came.
func TestRunStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := &receiving{}
	result, err := run(ctx, t, s, func(o *Options) {
		o.From = o.To.Add(-10 * time.Hour)
		o.Progress = func(p Progress) {
			if p.Done > 0.01 {
				stop()
			}
		}
	})
	if err != nil || !result.Stopped || result.Signals[signalSpans].Accepted != s.spans || s.spans == 0 ||
		!result.To.Before(result.From.Add(time.Hour)) {
		t.Errorf("%v %+v: %d spans came", err, result, s.spans)
	}
}

// In a live run, telemetry is sent when it is due.
func TestRunLive(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	s := &receiving{}
	steps := 0
	result, err := run(ctx, t, s, func(o *Options) {
		o.From = time.Now()
		o.To, o.Follow, o.Rate = o.From, true, 20
		o.Progress = func(p Progress) {
			if steps++; steps > 2 && p.Signals[signalSpans].Sent > 0 && p.Live {
				stop()
			}
		}
	})
	if err != nil || result.Stopped || s.spans == 0 || result.Signals[signalSpans].Accepted != s.spans ||
		result.To.Before(result.From.Add(2*time.Second)) {
		t.Errorf("%v %+v: %d spans came", err, result, s.spans)
	}
}
