package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

// TestScrape scrapes a real client of Prometheus, which wants a token, and reads its metrics, its checks and its end through the API.
func TestScrape(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil, func(o *app.Options) { o.Egress = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	reg := prometheus.NewRegistry()
	orders := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "shop_orders_total", Help: "Orders of the shop."}, []string{"kind"})
	latency := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "shop_seconds", Buckets: []float64{0.1, 1}})
	native := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "shop_native_seconds", NativeHistogramBucketFactor: 1.1})
	reg.MustRegister(orders, latency, native)
	orders.WithLabelValues("web").Add(41)
	latency.Observe(0.5)
	native.Observe(0.5)
	metrics := promhttp.HandlerFor(reg, promhttp.HandlerOpts{Registry: reg})
	var refused atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "token me:s3cret" {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		metrics.ServeHTTP(w, r)
	}))
	defer target.Close()
	c := restClient{t, s, s.APIKey}
	made := c.call("POST", "/v2/scrape_targets", fmt.Sprintf(`{"name":"shop","service_name":"checkout","url":"%s/metrics","scrape_interval_seconds":5,
		"labels_json":"{\"region\":\"eu\"}","auth_type":"token","auth_credentials":"{\"token_id\":\"me\",\"token_secret\":\"s3cret\"}"}`, target.URL), 200)
	if text := fmt.Sprint(made); strings.Contains(text, "s3cret") || made["has_credentials"] != true {
		t.Fatalf("created: %v", made)
	}
	path := "/v2/scrape_targets/" + fmt.Sprint(made["id"])
	if probe := c.call("POST", path+"/probe", "{}", 200); probe["success"] != true || probe["last_scrape_error"] != nil ||
		probe["last_scrape_at"] == nil {
		t.Errorf("probe: %v", probe)
	}
	now := func(d time.Duration) string { return time.Now().UTC().Add(d).Format(time.RFC3339) }
	series := func(metric string) string {
		status, text := c.try("POST", "/v2/metrics/timeseries", fmt.Sprintf(
			`{"filters":{"metric_name":%q,"metric_type":"sum"},"aggregation":"max","start_time":%q,"end_time":%q,"bucket_seconds":60}`, metric,
			now(-10*time.Minute), now(time.Minute)))
		if status != 200 {
			t.Fatalf("timeseries: %d %s", status, text)
		}
		return text
	}
	eventually := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(45 * time.Second); !is(); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s did not happen: %v", what, c.call("GET", path, "", 200))
			}
		}
	}
	eventually("the counter", func() bool { return strings.Contains(series("shop_orders_total"), "41") })
	kinds := map[any]any{
		"shop_orders_total": "sum", "shop_seconds": "histogram", "shop_native_seconds": "exponential_histogram", "up": "gauge",
		"scrape_duration_seconds": "gauge",
	}
	eventually("the list of metrics", func() bool { // it is stored after the points
		list := c.call("GET", fmt.Sprintf("/v2/metrics?start_time=%s&end_time=%s&limit=100", now(-10*time.Minute), now(time.Minute)), "", 200)
		rows, _ := list["data"].([]any)
		found := 0
		for _, row := range rows {
			m, _ := row.(map[string]any)
			if m["service_name"] != "checkout" {
				t.Errorf("%v belongs to %v", m["name"], m["service_name"])
			}
			if kind, ok := kinds[m["name"]]; ok {
				if found++; m["type"] != kind {
					t.Fatalf("%v is a %v, want %v", m["name"], m["type"], kind)
				}
			}
		}
		return found == len(kinds)
	})
	eventually("the checks", func() bool {
		data, _ := c.call("GET", path+"/checks", "", 200)["data"].([]any)
		if len(data) < 2 {
			return false
		}
		first, _ := data[0].(map[string]any)
		if first["object"] != "scrape_target.check" || first["success"] != true || first["samples_scraped"] == nil || first["message"] != nil {
			t.Fatalf("check: %v", first)
		}
		return true
	})
	if data, _ := c.call("GET", path+"/checks?limit=1", "", 200)["next_cursor"].(string); data == "" {
		t.Error("a page of one check has no next")
	}
	stranger := s.NewOrganization(t, "Strangers")
	for _, call := range []string{"GET " + path, "GET " + path + "/checks", "POST " + path + "/probe", "DELETE " + path} {
		method, p, _ := strings.Cut(call, " ")
		body := ""
		if method == "POST" {
			body = "{}"
		}
		if status, text := (restClient{t, s, stranger.APIKey}).try(method, p, body); status != 404 {
			t.Errorf("%s by a stranger: %d %s", call, status, text)
		}
	}
	// The credentials stay at their origin, and a failure shows.
	if status, text := c.try("PATCH", path, `{"url":"https://other.example.com/metrics"}`); status != 400 ||
		!strings.Contains(text, "auth_credentials") {
		t.Errorf("another origin: %d %s", status, text)
	}
	c.call("PATCH", path, `{"auth_type":"bearer","auth_credentials":"{\"token\":\"wrong\"}"}`, 200)
	before := refused.Load()
	eventually("a refused scrape", func() bool { return refused.Load() > before })
	eventually("the error", func() bool {
		return c.call("GET", path, "", 200)["last_scrape_error"] == "the target answered 401 Unauthorized"
	})
	log := fmt.Sprint(c.call("GET", "/v2/audit_log?resource_type=scrape_target&limit=100", "", 200))
	for _, action := range []string{"scrape_target.created", "scrape_target.probed", "scrape_target.updated"} {
		if !strings.Contains(log, action) {
			t.Errorf("the audit log has no %s", action)
		}
	}
	if strings.Contains(log, "s3cret") || strings.Contains(log, "wrong") {
		t.Error("the audit log has a secret")
	}
	usage := c.call("GET", path, "", 200)
	if usage["enabled"] != true {
		t.Errorf("%v", usage)
	}
	c.call("DELETE", path, "", 200)
	eventually("the end of the scrapes", func() bool {
		n := refused.Load()
		time.Sleep(limits.LeastScrapeInterval + time.Second) // a further scrape would come within the interval of the target
		return refused.Load() == n
	})
}
