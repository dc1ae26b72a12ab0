package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TestScrapeTakeover kills the process that scrapes a target. Another one goes on within the time of a takeover and an interval, at the
// same place of the interval, and only one process scrapes at a time.
func TestScrapeTakeover(t *testing.T) {
	t.Parallel()
	const interval = 5 * time.Second
	var mu sync.Mutex
	var times []time.Time
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		_, _ = w.Write([]byte("a 1\n"))
	}))
	defer target.Close()
	scrapes := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(times)
	}
	in := startInstallation(t)
	const roles = "api,ingest,worker"
	first, _ := in.process("first", "", roles)
	c := restClient{t, &in.front.Server, in.front.APIKey}
	made := c.call("POST", "/v2/scrape_targets", fmt.Sprintf(`{"name":"t","url":"%s/metrics","scrape_interval_seconds":5}`, target.URL), 200)
	eventually(t, "three scrapes", func() bool { return scrapes() >= 4 }) // one of them is the probe of a new target
	_, _ = in.process("second", "", roles)
	before := scrapes()
	first.Kill()
	killed := time.Now()
	eventually(t, "the next scrape", func() bool { return scrapes() > before })
	if took := time.Since(killed); took > takeoverLimit+interval+10*time.Second {
		t.Errorf("the next scrape began %s after the end of the first process", took)
	}
	eventually(t, "three scrapes of the second process", func() bool { return scrapes() >= before+3 })
	mu.Lock()
	defer mu.Unlock()
	for _, at := range times[2:] {
		if off := at.Sub(times[1]) % interval; min(off, interval-off) > 2*time.Second {
			t.Errorf("a scrape %s beside its place in the interval: %v", min(off, interval-off), times)
		}
	}
	for i := 2; i < len(times); i++ {
		if times[i].Sub(times[i-1]) < interval/2 {
			t.Errorf("two processes scrape: %v", times)
		}
	}
	if got := c.call("GET", "/v2/scrape_targets/"+fmt.Sprint(made["id"]), "", 200); got["last_scrape_error"] != nil {
		t.Errorf("the target has the error %v", got["last_scrape_error"])
	}
}
