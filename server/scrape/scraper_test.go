package scrape

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// rows is a store of targets in memory.
type rows struct {
	mu      sync.Mutex
	all     []store.ScrapeTarget
	results []store.ScrapeResult
	told    func(store.Change)
	err     error
}

func (r *rows) ScrapeTargetsOfShards(_ context.Context, shards []int) (out []store.ScrapeTarget, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.all {
		if row.Enabled && slices.Contains(shards, row.Shard) {
			out = append(out, row)
		}
	}
	return out, r.err
}

func (r *rows) RecordScrapes(_ context.Context, results []store.ScrapeResult) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, results...)
	return nil
}

func (r *rows) Subscribe(fn func(store.Change)) func() {
	r.told = fn
	return func() {}
}

func (r *rows) edit(change func(*store.ScrapeTarget)) {
	r.mu.Lock()
	for i := range r.all {
		change(&r.all[i])
		r.all[i].UpdatedAt = time.Now()
	}
	r.mu.Unlock()
	r.told(store.Change{Subject: store.SubjectScrapeTarget})
}

// sink keeps the submitted points: for each series, its values with times. A stale point is the value "ended".
type sink struct {
	mu     sync.Mutex
	series map[string][]string
	at     map[string][]time.Time
	err    error
	keys   map[string]bool
}

func (k *sink) SubmitMetrics(_ context.Context, org principal.OrgID, id string, body []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return k.err
	}
	k.keys[string(org)+" "+id] = true
	req := &colmetrics.ExportMetricsServiceRequest{}
	if err := proto.Unmarshal(body, req); err != nil {
		return err
	}
	for _, m := range req.GetResourceMetrics()[0].GetScopeMetrics()[0].GetMetrics() {
		for _, p := range append(m.GetGauge().GetDataPoints(), m.GetSum().GetDataPoints()...) {
			name := m.GetName()
			for _, a := range p.GetAttributes()[2:] {
				name += " " + a.GetKey() + "=" + a.GetValue().GetStringValue()
			}
			value := fmt.Sprint(p.GetAsDouble())
			if p.GetFlags() == noRecordedValue {
				value = "ended"
			}
			k.series[name], k.at[name] = append(k.series[name], value), append(k.at[name], time.Unix(0, int64(p.GetTimeUnixNano())))
		}
		for _, p := range m.GetHistogram().GetDataPoints() {
			value := fmt.Sprint(p.GetCount())
			if p.GetFlags() == noRecordedValue {
				value = "ended"
			}
			k.series[m.GetName()] = append(k.series[m.GetName()], value)
		}
	}
	return nil
}

func (k *sink) last(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if all := k.series[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// checks keeps the checks.
type checks struct {
	mu   sync.Mutex
	rows [][]any
}

func (c *checks) InsertRows(_ context.Context, _ string, _ []string, rows [][]any, _ string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, rows...)
	return nil
}

type rig struct {
	*Scraper
	rows   *rows
	sink   *sink
	checks *checks
}

func loopback() *egress.Guard { return egress.New(netip.MustParsePrefix("127.0.0.1/32")) }

// start makes a scraper with targets, whose intervals are shortened to a second by interval.
func start(t *testing.T, targets ...store.ScrapeTarget) *rig {
	t.Helper()
	r := &rig{
		rows: &rows{all: targets}, sink: &sink{series: map[string][]string{}, at: map[string][]time.Time{}, keys: map[string]bool{}},
		checks: &checks{},
	}
	s, err := New(Config{
		Targets: r.rows, Guard: loopback(), Sink: r.sink, Checks: r.checks, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Scraper = s
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx, store.Fence{}, nil) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func row(url string, seconds int) store.ScrapeTarget {
	return store.ScrapeTarget{
		ID: uuid.Must(uuid.NewV7()), Org: "org_one", Name: "t", URL: url, TargetType: store.ScrapePrometheus, ScrapeIntervalSeconds: seconds,
		AuthType: AuthNone, Enabled: true, UpdatedAt: time.Now(),
	}
}

// wait waits until a condition holds.
func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// serve answers scrapes with what page returns.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestLife(t *testing.T) {
	t.Parallel()
	var body atomic.Value
	body.Store("# TYPE a counter\na{x=\"1\"} 1\na{x=\"2\"} 2\ng 5\n")
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		b, _ := body.Load().(string)
		if b == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(b))
	})
	r := start(t, row(target.URL, 2))
	wait(t, "the first scrape", func() bool { return r.sink.last("scrape_series_added") == "3" })
	for name, want := range map[string]string{
		"up": "1", "a x=1": "1", "a x=2": "2", "g": "5", "scrape_samples_scraped": "3",
		"scrape_timeout_seconds": "1",
	} {
		if got := r.sink.last(name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	wait(t, "the second scrape", func() bool { return r.sink.last("scrape_series_added") == "0" })
	body.Store("# TYPE a counter\na{x=\"1\"} 0\ng 6\nnew 1\n") // a counter starts anew, a series is gone
	wait(t, "the end of a series", func() bool { return r.sink.last("a x=2") == "ended" })
	if r.sink.last("a x=1") != "0" || r.sink.last("g") != "6" || r.sink.last("scrape_series_added") != "1" {
		t.Errorf("after a change: %v", r.sink.series)
	}
	body.Store("")
	wait(t, "the failure", func() bool { return r.sink.last("up") == "0" })
	for _, name := range []string{"a x=1", "g", "new"} {
		if got := r.sink.last(name); got != "ended" {
			t.Errorf("%s = %s after a failure", name, got)
		}
	}
	body.Store("g 7\n")
	wait(t, "the recovery", func() bool { return r.sink.last("g") == "7" && r.sink.last("up") == "1" })
	if r.sink.last("a x=1") != "ended" {
		t.Error("a series that is still gone has a value")
	}
	r.rows.edit(func(t *store.ScrapeTarget) { t.Enabled = false })
	wait(t, "the pause", func() bool { return r.sink.last("up") == "ended" && r.sink.last("g") == "ended" })
	if err := r.book.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.rows.mu.Lock()
	defer r.rows.mu.Unlock()
	if len(r.rows.results) == 0 || len(r.checks.rows) < 4 {
		t.Errorf("%d results, %d checks", len(r.rows.results), len(r.checks.rows))
	}
}

// TestHistogramEnds has a histogram that goes away: its end is one point.
func TestHistogramEnds(t *testing.T) {
	t.Parallel()
	var gone atomic.Bool
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if !gone.Load() {
			_, _ = w.Write([]byte("# TYPE h histogram\nh_bucket{le=\"+Inf\"} 4\nh_sum 1\nh_count 4\n"))
		}
	})
	r := start(t, row(target.URL, 2))
	wait(t, "the first scrape", func() bool { return r.sink.last("h") == "4" })
	gone.Store(true)
	wait(t, "the end", func() bool { return r.sink.last("h") == "ended" })
	if r.sink.last("up") != "1" {
		t.Error("an empty page is a failure")
	}
}

// TestRefusedByThePlan shows the refusal of ingest as the problem of the target.
func TestRefusedByThePlan(t *testing.T) {
	t.Parallel()
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("g 1\n")) })
	r := start(t, row(target.URL, 2))
	r.sink.mu.Lock()
	r.sink.err = apierr.New(apierr.IngestPlanLimitReached, "The plan includes no metrics.")
	r.sink.mu.Unlock()
	wait(t, "the refusal", func() bool {
		_ = r.book.flush(t.Context())
		r.rows.mu.Lock()
		defer r.rows.mu.Unlock()
		return len(r.rows.results) > 0 && r.rows.results[len(r.rows.results)-1].Problem == "The plan includes no metrics."
	})
}

// TestSlowTargets has targets that never answer beside one that does, which keeps its times.
func TestSlowTargets(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	defer close(stop)
	quick := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("g 1\n")) })
	all := []store.ScrapeTarget{row(quick.URL, 2)}
	for range 60 {
		other := row(slow.URL, 3)
		other.Org = "org_two"
		all = append(all, other)
	}
	r := start(t, all...)
	wait(t, "five scrapes", func() bool { r.sink.mu.Lock(); defer r.sink.mu.Unlock(); return len(r.sink.at["g"]) >= 4 })
	r.sink.mu.Lock()
	defer r.sink.mu.Unlock()
	for i, at := range r.sink.at["g"] {
		grid := next(at.Add(-time.Second), all[0].ID, 2*time.Second)
		if late := at.Sub(grid); i > 0 && (late < 0 || late > 500*time.Millisecond) {
			t.Errorf("scrape %d began %s after its time", i, late)
		}
	}
}

func TestPhase(t *testing.T) {
	interval := 15 * time.Second
	counts := map[time.Duration]int{}
	for range 3000 {
		id := uuid.Must(uuid.NewV7())
		now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		first := next(now, id, interval)
		if first.Before(now) || first.Sub(now) > interval {
			t.Fatalf("next is %s", first)
		}
		// A restart at any time comes to the same grid.
		if again := next(first.Add(7*interval+3*time.Second), id, interval); again.Sub(first)%interval != 0 {
			t.Fatalf("%s is not on the grid of %s", again, first)
		}
		if again := next(first, id, interval); again.Sub(first) != interval {
			t.Fatalf("after %s comes %s", first, again)
		}
		counts[phase(id, interval).Truncate(time.Second)]++
	}
	for second, n := range counts {
		if n > 300 { // 200 on average
			t.Errorf("%d of 3,000 targets start in the second %s", n, second)
		}
	}
}

// TestTakeover: the lease of a shard goes to another process. That one scrapes at the same places of the grid, ends no series, and each
// result is recorded under the lease of its scrape.
func TestTakeover(t *testing.T) {
	const interval = 2 * time.Second
	var mu sync.Mutex
	var times []time.Time
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		_, _ = w.Write([]byte("a 1\n"))
	})
	one := row(target.URL, int(interval/time.Second))
	list := &rows{all: []store.ScrapeTarget{one}}
	kept := &sink{series: map[string][]string{}, at: map[string][]time.Time{}, keys: map[string]bool{}}
	for holder := range int64(2) {
		s, err := New(Config{Targets: list, Guard: loopback(), Sink: kept, Checks: &checks{}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		stopping, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(t.Context(), store.Fence{Kind: store.WorkScrape, Token: holder + 1}, stopping)
		}()
		wait(t, "two scrapes of each holder", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(times) >= 2*int(holder+1)
		})
		wait(t, "the points", func() bool {
			kept.mu.Lock()
			defer kept.mu.Unlock()
			return len(kept.series[`a`]) >= 2*int(holder+1)
		})
		close(stopping)
		<-ended
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(list.results) == 0 || list.results[len(list.results)-1].Under.Token != holder+1 {
			t.Errorf("results of holder %d: %+v", holder, list.results)
		}
	}
	for _, at := range times {
		if late := time.Duration(at.UnixNano()-int64(phase(one.ID, interval))) % interval; late > 500*time.Millisecond {
			t.Errorf("a scrape %s after its place", late)
		}
	}
	if slices.Contains(kept.series[`a`], "ended") {
		t.Errorf("the takeover ended the series: %v", kept.series)
	}
}

// probed is the error of a probe of a handler.
func probed(t *testing.T, h http.HandlerFunc, change ...func(*Target)) string {
	t.Helper()
	server := serve(t, h)
	target := Target{
		ID: uuid.New(), Org: "org_one", Name: "t", Service: "t", URL: server.URL + "/metrics?key=hidden",
		Interval: 15 * time.Second,
	}
	for _, c := range change {
		c(&target)
	}
	err := NewProber(loopback()).Probe(t.Context(), target)
	if err == nil {
		return ""
	}
	if strings.Contains(err.Error(), "hidden") {
		t.Errorf("the error shows the query: %v", err)
	}
	return err.Error()
}

func zipped(size int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	line := bytes.Repeat([]byte("# a comment of a page that has no end\n"), 1000)
	for n := 0; n < size; n += len(line) {
		_, _ = w.Write(line)
	}
	_ = w.Close()
	return b.Bytes()
}

// TestHostilePages has answers that want to cost the server something.
func TestHostilePages(t *testing.T) {
	body := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(s)) }
	}
	gzipped := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(b)
		}
	}
	var series strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&series, "s{i=\"%d\"} 1\n", i)
	}
	var labels strings.Builder
	for i := range 65 {
		fmt.Fprintf(&labels, "l%d=\"\",", i)
	}
	bomb := zipped(64 << 20)
	for name, tc := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"good":            {body("a 1\n"), ""},
		"no last newline": {body("a 1"), ""},
		"nothing":         {body(""), ""},
		"gzip":            {gzipped(zipped(1000)), ""},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			for line := bytes.Repeat([]byte("a 1\n"), 10_000); r.Context().Err() == nil; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}, "more than 16 MiB"},
		"declared length": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "99999999999") },
			"99999999999 bytes",
		},
		"gzip bomb":      {gzipped(bomb), "more than 16 MiB"},
		"bomb that lies": {gzipped(append(slices.Clone(bomb[:len(bomb)-4]), 1, 0, 0, 0)), "more than 16 MiB"},
		"damaged gzip":   {gzipped(append(zipped(1000)[:60], make([]byte, 40)...)), "gzip of the answer is damaged"},
		"no gzip":        {gzipped([]byte("a 1\na 1\na 1\na 1\na 1\na 1\n")), "not gzip"},
		"brotli": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte("x"))
		}, `Content-Encoding "br"`},
		"many series": {body(series.String()), "more than 50,000 samples"},
		"many labels": {body("a{" + labels.String() + "} 1\n"), "has 65 labels; at most 64"},
		"long value":  {body(`a{b="` + strings.Repeat("x", 5000) + "\"} 1\n"), "has 5000 bytes; at most 4096"},
		"bad UTF-8":   {body("a{b=\"\xff\xfe\"} 1\n"), "UTF-8"},
		"a web page":  {body("<!doctype html><html></html>"), "web page"},
		"not metrics": {body("hello there, this is no metric\n"), "not in a format of Prometheus"},
		"no EOF": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0")
			_, _ = w.Write([]byte("a 1\n"))
		}, "not in a format of Prometheus"},
		"broken protobuf": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited")
			_, _ = w.Write([]byte{200, 1, 2, 3})
		}, "not in a format of Prometheus"},
		"401": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "answered 401 Unauthorized"},
		"redirect inside": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				http.Redirect(w, r, "/other", http.StatusFound)
			}
		}, ""},
		"redirect round": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/metrics", http.StatusFound) },
			"redirects more than 3",
		},
		"redirect to others": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, "another origin"},
	} {
		t.Run(name, func(t *testing.T) {
			got := probed(t, tc.h)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPrivateAddresses(t *testing.T) {
	for _, host := range []string{"127.0.0.2", "localhost.", "[::1]", "10.0.0.1", "169.254.169.254"} {
		guard := egress.New()
		err := NewProber(guard).Probe(t.Context(), Target{ID: uuid.New(), URL: "http://" + host + ":1/metrics", Interval: 15 * time.Second})
		if err == nil || !strings.Contains(err.Error(), "not public") && !strings.Contains(err.Error(), "resolved") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestAuthorization(t *testing.T) {
	for name, tc := range map[string]struct{ kind, text, want string }{
		"bearer": {AuthBearer, `{"token":"t0"}`, "Bearer t0"},
		"basic":  {AuthBasic, `{"username":"u","password":"p:q"}`, "Basic dTpwOnE="},
		"token":  {AuthToken, `{"token_id":"i","token_secret":"s"}`, "token i:s"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseCredentials(tc.kind, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			v := Vault{plainSealer{}}
			r := row("https://example.com/", 15)
			r.AuthType = tc.kind
			if r.Credentials, err = v.Seal(r.Org, r.ID, c); err != nil {
				t.Fatal(err)
			}
			target, err := v.Target(r)
			if err != nil || target.Authorization != tc.want {
				t.Errorf("%q, %v", target.Authorization, err)
			}
			r.Org = "org_two" // a value that was copied to another row
			if _, err := v.Target(r); err == nil {
				t.Error("the credentials open at another place")
			}
		})
	}
	for name, tc := range map[string][2]string{
		"no JSON": {AuthBearer, "x"}, "none": {AuthNone, `{"token":"x"}`}, "another type": {AuthBasic, `{"token":"x"}`},
		"empty": {AuthBearer, `{"token":""}`}, "no text": {AuthBearer, `{"token":1}`}, "two lines": {AuthBearer, `{"token":"a\nb"}`},
		"colon": {AuthBasic, `{"username":"a:b","password":"c"}`}, "null": {AuthToken, "null"},
	} {
		if _, err := ParseCredentials(tc[0], tc[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// plainSealer writes the place before the text.
type plainSealer struct{}

func (plainSealer) Seal(plain []byte, place string) []byte {
	return append([]byte(place+"|"), plain...)
}

func (plainSealer) Open(sealed []byte, place string) ([]byte, error) {
	text, ok := bytes.CutPrefix(sealed, []byte(place+"|"))
	if !ok {
		return nil, ErrCredentials
	}
	return text, nil
}

// TestBackoff pauses after 429, for the time that the target names.
func TestBackoff(t *testing.T) {
	s := &Scraper{}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	target := &scheduled{Target: Target{Interval: 15 * time.Second}}
	var got []time.Duration
	for _, status := range []*statusError{{503, 0}, {503, 0}, {429, 0}, {429, 2 * time.Minute}, {503, 0}, {503, 0}, {503, 0}} {
		s.pace(target, status, now)
		got = append(got, target.until.Sub(now))
	}
	want := []time.Duration{
		15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute,
		5 * time.Minute,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s.pace(target, &statusError{500, 0}, now); !target.until.IsZero() || target.failures != 0 {
		t.Error("another status pauses")
	}
	h := http.Header{}
	for text, want := range map[string]time.Duration{
		"": 0, "x": 0, "-1": 0, "7": 7 * time.Second, "86400": limits.ScrapeBackoff,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		h.Set("Retry-After", text)
		if got := retryAfter(h, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", text, got, want)
		}
	}
}

// TestConnection keeps a connection between scrapes.
func TestConnection(t *testing.T) {
	t.Parallel()
	var dialled atomic.Int32
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("g 1\n")) }))
	target.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dialled.Add(1)
		}
	}
	target.Start()
	defer target.Close()
	r := start(t, row(target.URL, 2))
	wait(t, "three scrapes", func() bool { r.sink.mu.Lock(); defer r.sink.mu.Unlock(); return len(r.sink.series["g"]) >= 3 })
	if n := dialled.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
