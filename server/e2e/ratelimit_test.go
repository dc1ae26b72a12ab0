package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/limits"
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

var restCount = regexp.MustCompile(`(svc:[^:\r\n]+:rate:)rest:`)

// TestSharedReads takes the places of an organization in Redis, as other API nodes do. Its reads wait until the places are free, and its
// SQL is refused. The reads of another organization do not wait.
func TestSharedReads(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	s := testkit.Start(t, func(c *config.Config) { c.RedisURL = config.DSN(redis.URL()) })
	theirs := s.NewOrganization(t, "Shared reads theirs")
	now := time.Now().UTC()
	window := "start_time=" + now.Add(-time.Hour).Format(time.RFC3339) + "&end_time=" + now.Format(time.RFC3339)
	services := func(s *testkit.Server) { restClient{t, s, s.APIKey}.call("GET", "/v2/services?"+window, "", 200) }
	services(s)
	prefix := restCount.FindStringSubmatch(redis.Command(t, "KEYS svc:*:rate:rest:*"))
	if prefix == nil {
		t.Fatal("no count of requests in Redis")
	}
	hold := func(places string, most int, held time.Duration) (until time.Time) {
		until = time.Now().Add(held)
		for i := range most {
			redis.Command(t, fmt.Sprintf("ZADD %s%s:%s %d other-%d", prefix[1], places, s.OrgID, until.UnixMilli(), i))
		}
		return until.Truncate(time.Millisecond)
	}
	until := hold("reads", limits.ReadsOfOrganization, time.Minute)
	if services(theirs); time.Now().After(until) {
		t.Error("the read of another organization waited")
	}
	until = hold("reads", limits.ReadsOfOrganization, 2*time.Second)
	if services(s); time.Now().Before(until) {
		t.Error("a read did not wait while all places were taken")
	}
	until = hold("sql", limits.SQLStatementsOfOrganization, time.Minute)
	if services(s); time.Now().After(until) {
		t.Error("a read waited while SQL had all its places")
	}
	sql := func(want int) { restClient{t, s, s.APIKey}.call("POST", "/v2/sql/search", `{"sql":"SELECT 1"}`, want) }
	sql(http.StatusTooManyRequests)
	redis.Command(t, "DEL "+prefix[1]+"sql:"+s.OrgID)
	sql(http.StatusOK)
	if left := redis.Command(t, "ZCARD "+prefix[1]+"reads:"+s.OrgID); !strings.HasPrefix(left, ":0") {
		t.Errorf("places of reads that have ended: %q", left)
	}
}
