package e2e

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/ratelimit/redistest"
	"github.com/svc-observability/svc/server/testkit"
)

var unlimitedRequests = regexp.MustCompile(`(?m)^svc_rate_limit_unlimited_requests_total (\d+)$`)

// TestSharedRateLimit checks that a server that counts in Redis grants exactly 600 requests, whatever their outcome. The
// successor of a key gets a new budget. While Redis is down, every request is granted.
func TestSharedRateLimit(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	s := testkit.Start(t, func(c *config.Config) { c.RedisURL = config.DSN(redis.URL()) })
	get := func(key, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, http.NoBody)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		_ = res.Body.Close()
		return res.StatusCode, res.Header.Get("Retry-After")
	}
	c := restClient{t, s, s.APIKey}
	made := c.call("POST", "/v2/api_keys", `{"name":"reader","scopes":["api_keys:read"]}`, 200)
	key, _ := made["secret"].(string)
	id, _ := made["id"].(string)

	// Half of the requests are for data that the key may not read, or that does not exist.
	paths := []string{"/v2/api_keys/" + id, "/v2/ingest_keys", "/v2/api_keys/" + id, "/v2/api_keys/key_YpBvM2x91qDn6yHdGMXjWx"}
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for i := range 64 {
				status, retryAfter := get(key, paths[i%len(paths)])
				if status == 429 && retryAfter != "60" {
					t.Errorf("429 with Retry-After %q", retryAfter)
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// A request is granted without counting when Redis takes more than a moment to answer, as on a busy machine.
	uncounted := 0
	if m := unlimitedRequests.FindStringSubmatch(metricsOf(t, s)); m != nil {
		uncounted, _ = strconv.Atoi(m[1])
	}
	if statuses[429] > 40 || statuses[429] < 40-uncounted || statuses[200] == 0 || statuses[403] == 0 || statuses[404] == 0 {
		t.Errorf("640 requests, %d of them not counted: %v, want 40 refused with 429", uncounted, statuses)
	}
	rolled, _ := c.call("POST", "/v2/api_keys/"+id+"/roll", "", 200)["secret"].(string)
	if status, _ := get(rolled, "/v2/api_keys"); status != 200 {
		t.Errorf("the successor of a key that is at its limit: %d", status)
	}
	redis.Stop()
	start := time.Now()
	if status, _ := get(rolled, "/v2/api_keys"); status != 200 || time.Since(start) > 5*time.Second {
		t.Errorf("without Redis: %d after %v", status, time.Since(start))
	}
}
