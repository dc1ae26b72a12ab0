package ratelimit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/ratelimit/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, url, namespace string, log *bytes.Buffer) *ratelimit.Client {
	t.Helper()
	c, err := ratelimit.Open(url, namespace, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.Wait()
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestNodesShareABudget checks that three nodes with separate connections together grant exactly the limit, for each key
// separately.
func TestNodesShareABudget(t *testing.T) {
	server := redistest.Start(t)
	const limit, callers, each = 600, 6, 120 // for each of three nodes
	var allowed [2]atomic.Int64
	var wg sync.WaitGroup
	var log bytes.Buffer
	for range 3 {
		l := open(t, server.URL(), "a", &log).Window("rest", limit, time.Minute)
		for range callers {
			wg.Go(func() {
				for range each {
					for key := range allowed {
						ok, retryAfter := l.Allow(fmt.Sprint(key), time.Now())
						if ok {
							allowed[key].Add(1)
						} else if retryAfter != time.Minute {
							t.Errorf("retry after %v", retryAfter)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	for key := range allowed {
		if got := allowed[key].Load(); got != limit {
			t.Errorf("key %d: %d requests allowed, want exactly %d", key, got, limit)
		}
	}
	for name, l := range map[string]ratelimit.Limiter{
		"another limiter":      open(t, server.URL(), "a", &log).Window("mcp", limit, time.Minute),
		"another installation": open(t, server.URL(), "b", &log).Window("rest", limit, time.Minute),
	} {
		if ok, _ := l.Allow("0", time.Now()); !ok {
			t.Errorf("%s shares the budget", name)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}

// TestWindowSlides compares with the definition on a short window: no window ever holds more than the limit, and requests are
// allowed again as soon as the oldest have left it.
func TestWindowSlides(t *testing.T) {
	server := redistest.Start(t)
	const limit, window = 20, 200 * time.Millisecond
	var log bytes.Buffer
	l := open(t, server.URL(), "a", &log).Window("rest", limit, window)
	type request struct{ before, after time.Time }
	var allowed []request
	for start := time.Now(); time.Since(start) < 5*window; {
		before := time.Now()
		if ok, _ := l.Allow("k", before); ok {
			allowed = append(allowed, request{before, time.Now()})
		}
	}
	for i := limit; i < len(allowed); i++ {
		if apart := allowed[i].after.Sub(allowed[i-limit].before); apart < window {
			t.Errorf("requests %d and %d, of which %d are allowed in a window of %v, are %v apart", i-limit, i, limit, window, apart)
		}
	}
	// A caller who asks all the time uses up the whole limit at once in each of five windows. One who is held up uses fewer of them.
	if n := len(allowed); n < 2*limit || n > 6*limit {
		t.Errorf("%d requests were allowed in five windows of %d", n, limit)
	}
	// Refused requests did not count: after a pause, the whole budget is available.
	time.Sleep(window + 20*time.Millisecond)
	for i := range limit {
		if ok, _ := l.Allow("k", time.Now()); !ok {
			t.Errorf("request %d after the silence is refused", i)
		}
	}
}

// TestOutageLetsThrough checks that without Redis no request is refused or slowed down, and that the outage is logged once and
// counted. When Redis is back, the limit holds again.
func TestOutageLetsThrough(t *testing.T) {
	server := redistest.Start(t)
	var log bytes.Buffer
	c := open(t, server.URL(), "a", &log)
	l := c.Window("rest", 2, time.Minute)
	got := make([]bool, 3)
	for i := range got {
		got[i], _ = l.Allow("k", time.Now())
	}
	if !slices.Equal(got, []bool{true, true, false}) {
		t.Fatalf("with Redis: %v", got)
	}
	server.Stop()
	start := time.Now()
	for range 100 {
		if ok, _ := l.Allow("k", time.Now()); !ok {
			t.Fatal("refused without Redis")
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("100 requests without Redis took %v", took)
	}
	if c.Ping(t.Context()) == nil {
		t.Error("a stopped Redis answers")
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors in the log, want one:\n%s", n, &log)
	}
	if err := testutil.CollectAndCompare(c, strings.NewReader(`# HELP svc_rate_limit_unlimited_requests_total Requests that were allowed without counting because Redis did not answer.
# TYPE svc_rate_limit_unlimited_requests_total counter
svc_rate_limit_unlimited_requests_total 100
# HELP svc_rate_limit_redis_down 1 while Redis does not answer, so that requests are not limited.
# TYPE svc_rate_limit_redis_down gauge
svc_rate_limit_redis_down 1
`)); err != nil {
		t.Error(err)
	}
	server.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for refused := false; !refused; {
		ok, _ := l.Allow("k", time.Now())
		refused = !ok
		select {
		case <-ctx.Done():
			t.Fatal("not limited although Redis is back")
		case <-time.After(20 * time.Millisecond):
		}
	}
	if !strings.Contains(log.String(), "answers again") {
		t.Errorf("the log does not say that Redis is back:\n%s", &log)
	}
}

func TestOpenRefusesOtherURLs(t *testing.T) {
	for _, url := range []string{"", "http://x", "redis://:hunter2@host:port", "redis://:hunter2@host/0?colour=red"} {
		c, err := ratelimit.Open(url, "a", slog.New(slog.DiscardHandler))
		if err == nil {
			_ = c.Close()
			t.Errorf("%q was taken", url)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}
