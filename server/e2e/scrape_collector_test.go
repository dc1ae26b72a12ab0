package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/testport"
)

// exposition is a page that was recorded, so that two scrapers read the same.
type exposition struct {
	contentType string
	body        []byte
}

// record fetches a page in the format that the Accept header asks for.
func record(t *testing.T, url, accept string) exposition {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, res.StatusCode, err)
	}
	return exposition{res.Header.Get("Content-Type"), body}
}

// The formats, as Accept headers.
var scrapeFormats = map[string]string{
	"text":        "text/plain;version=0.0.4",
	"openmetrics": "application/openmetrics-text;version=1.0.0",
	"protobuf":    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
}

// clientPages are the pages of a client with a metric of each type, in each format.
func clientPages(t *testing.T) map[string]exposition {
	t.Helper()
	reg := prometheus.NewRegistry()
	orders := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "shop_orders_total", Help: "Orders of the shop."},
		[]string{"kind", "empty"})
	depth := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "shop_depth", Help: "Depth."}, []string{"queue"})
	latency := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "shop_seconds", Buckets: []float64{0.1, 1, 10}}, []string{"route"})
	native := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "shop_native_seconds", NativeHistogramBucketFactor: 1.1,
		NativeHistogramZeroThreshold: 0.001,
	})
	sizes := prometheus.NewSummary(prometheus.SummaryOpts{Name: "shop_bytes", Objectives: map[float64]float64{0.5: 0.05, 0.99: 0.001}})
	untyped := prometheus.NewUntypedFunc(prometheus.UntypedOpts{Name: "shop_untyped", Help: "Of no type."}, func() float64 { return 7 })
	reg.MustRegister(orders, depth, latency, native, sizes, untyped)
	orders.WithLabelValues("web", "").Add(41)
	orders.WithLabelValues(`a "quoted" \ kind`, "x").Add(0.5)
	depth.WithLabelValues("in").Set(-4.25)
	depth.WithLabelValues("out").Set(1e300)
	for i := range 200 {
		v := float64(i*i) / 700
		latency.WithLabelValues("/a").Observe(v)
		native.Observe(v - 3)
		sizes.Observe(v)
	}
	latency.WithLabelValues("/b").Observe(3)
	target := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		EnableOpenMetrics:                   true,
		EnableOpenMetricsTextCreatedSamples: true,
	}))
	defer target.Close()
	pages := map[string]exposition{}
	for format, accept := range scrapeFormats {
		pages["client "+format] = record(t, target.URL, accept)
	}
	return pages
}

// nodePages are the pages of a real node_exporter, if the machine has one.
func nodePages(t *testing.T) map[string]exposition {
	t.Helper()
	binary, err := exec.LookPath("prometheus-node-exporter")
	if err != nil {
		t.Log("node_exporter is not compared: prometheus-node-exporter is not installed")
		return nil
	}
	addr := fmt.Sprintf("127.0.0.1:%d", testport.Free(t))
	cmd := exec.Command(binary, "--web.listen-address", addr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	eventually(t, "node_exporter", func() bool {
		res, err := http.Get("http://" + addr + "/metrics")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	})
	pages := map[string]exposition{}
	for format, accept := range scrapeFormats {
		pages["node "+format] = record(t, "http://"+addr+"/metrics", accept)
	}
	return pages
}

// scrapeCollector is the Collector with the prometheus receiver. Its build takes minutes, so only `make otelscrape` makes it.
func scrapeCollector(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../.cache/bin/otelscrape")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no Collector with the prometheus receiver: run `make otelscrape`, which takes some minutes once")
	}
	return path
}

// TestScrapeEqualsCollector scrapes recorded pages of a client and of node_exporter, each in all formats, with a scrape target and with the
// prometheus receiver of the OpenTelemetry Collector, which exports to the same server. The points in the warehouse must be equal: names,
// types, units, descriptions, temporality, monotonicity, attributes, values, buckets, quantiles. These differ on purpose:
//
//   - The attributes job and instance are on our points; the Collector has them in its resource only.
//   - The Collector calls the time of its first scrape the start of series whose start is not known; ours have none.
//   - The series about the scrape itself have other descriptions, durations and counts of new series; scrape_timeout_seconds is ours only.
func TestScrapeEqualsCollector(t *testing.T) {
	t.Parallel()
	binary := scrapeCollector(t)
	pages := clientPages(t)
	maps.Copy(pages, nodePages(t))
	names := slices.Sorted(maps.Keys(pages))
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := pages[strings.ReplaceAll(strings.TrimPrefix(r.URL.Path, "/"), "_", " ")]
		w.Header().Set("Content-Type", page.contentType)
		_, _ = w.Write(page.body)
	}))
	defer target.Close()
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"), "--egress-networks", "127.0.0.1/32")
	out, err := testkit.Command(t, "admin", "org", "create", "Collector", "--json", "--data-dir", p.DataDir).Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := p.Server
	if err := json.Unmarshal(out, &theirs.File); err != nil {
		t.Fatal(err)
	}
	c := restClient{t, &p.Server, p.APIKey}
	var jobs strings.Builder
	for _, name := range names {
		path := strings.ReplaceAll(name, " ", "_")
		c.call("POST", "/v2/scrape_targets", fmt.Sprintf(`{"name":%q,"url":"%s/%s","scrape_interval_seconds":5}`, name, target.URL, path), 200)
		fmt.Fprintf(&jobs, `        - {job_name: %q, scrape_interval: 5s, scrape_timeout: 4s, metrics_path: /%s, scrape_native_histograms: true, static_configs: [{targets: [%q]}]}
`, name, path, strings.TrimPrefix(target.URL, "http://"))
	}
	stop := startScrapeCollector(t, binary, "receivers:\n  prometheus:\n    config:\n      scrape_configs:\n"+jobs.String()+fmt.Sprintf(`exporters:
  otlp_http: {endpoint: %q, headers: {authorization: "Bearer %s"}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [prometheus], exporters: [otlp_http]}
`, p.IngestURL, theirs.PrivateKey))
	waitScraped := func(org string) {
		eventually(t, "two scrapes of each page", func() bool {
			rows := warehouseRows(t, p.DataDir, fmt.Sprintf(`SELECT ServiceName, count() AS n FROM metrics_gauge WHERE OrgId = '%s' AND MetricName = 'up' AND Value = 1 GROUP BY 1 HAVING n >= 2`, org))
			return len(rows) == len(names)
		})
	}
	waitScraped(p.OrgID)
	waitScraped(theirs.OrgID)
	stop()
	waitFlushed(t, p)
	total, kinds := 0, map[string]int{}
	for _, name := range names {
		ours, collectors := pointsOf(t, p.DataDir, p.OrgID, name), pointsOf(t, p.DataDir, theirs.OrgID, name)
		total += len(ours)
		differences := 0
		for key := range maps.Keys(ours) {
			kinds[key[:strings.IndexByte(key, ',')]]++
			if !collectors[key] {
				if differences++; differences <= 12 {
					t.Errorf("%s: only ours: %s", name, key)
				}
			}
		}
		for key := range maps.Keys(collectors) {
			if !ours[key] {
				if differences++; differences <= 24 {
					t.Errorf("%s: only the Collector's: %s", name, key)
				}
			}
		}
		if differences > 0 || len(ours) < 10 {
			t.Errorf("%s: %d differences in %d points", name, differences, len(ours))
		}
	}
	if len(kinds) != 5 {
		t.Errorf("the kinds of the points are %v, want all five", kinds)
	}
	t.Logf("%d points of %d pages are compared: %v", total, len(names), kinds)
}

// pointsOf are the points of one page, each as a text with everything that must be equal.
func pointsOf(t *testing.T, dir, org, service string) map[string]bool {
	t.Helper()
	common := `MetricName, if(MetricName = 'up' OR startsWith(MetricName, 'scrape_'), '', MetricDescription) AS Description, MetricUnit, Flags,
		mapSort(mapFilter((k, v) -> k NOT IN ('job', 'instance'), Attributes)) AS Labels, arraySort(ExemplarsValue) AS Exemplars`
	out := map[string]bool{}
	for table, columns := range map[string]string{
		"metrics_gauge":                 common + `, if(MetricName IN ('scrape_duration_seconds', 'scrape_series_added'), 0, Value) AS V`,
		"metrics_sum":                   common + `, Value, AggregationTemporality, IsMonotonic`,
		"metrics_histogram":             common + `, Count, Sum, BucketCounts, ExplicitBounds, AggregationTemporality`,
		"metrics_exponential_histogram": common + `, Count, Sum, Scale, ZeroCount, ZeroThreshold, PositiveOffset, PositiveBucketCounts, NegativeOffset, NegativeBucketCounts, AggregationTemporality`,
		"metrics_summary": strings.Replace(common, ", arraySort(ExemplarsValue) AS Exemplars", "", 1) +
			`, Count, Sum, QuantilesQuantile, QuantilesValue`,
	} {
		for _, row := range warehouseRows(t, dir, fmt.Sprintf(`SELECT DISTINCT '%s' AS Kind, %s FROM %s WHERE OrgId = '%s' AND ServiceName = '%s' AND MetricName != 'scrape_timeout_seconds'`,
			table, columns, table, org, service)) {
			out[row] = true
		}
	}
	return out
}

// warehouseRows are the rows of a statement as JSON.
func warehouseRows(t *testing.T, dir, statement string) []string {
	t.Helper()
	out, err := testkit.Command(t, "admin", "sql", statement, "--data-dir", dir, "--format", "JSONEachRow").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var rows []string
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			rows = append(rows, string(line))
		}
	}
	return rows
}

// startScrapeCollector runs the Collector until stop.
func startScrapeCollector(t *testing.T, binary, config string) (stop func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "otelscrape.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--config", file)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("the Collector's log:\n%s", log.String())
		}
	})
	return stop
}
