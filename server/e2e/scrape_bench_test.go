package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/testkit"
)

// scrapedPage has 200 samples: 160 counters of 8 families, and 4 histograms with 8 buckets each. The values grow with each page.
func scrapedPage(n int64) []byte {
	var b bytes.Buffer
	for f := range 8 {
		fmt.Fprintf(&b, "# HELP requests_%d_total Requests by code.\n# TYPE requests_%d_total counter\n", f, f)
		for c := range 20 {
			fmt.Fprintf(&b, "requests_%d_total{code=\"%d\",handler=\"/api/v1/orders\",method=\"GET\"} %d\n", f, 200+c, n*int64(c))
		}
	}
	for h := range 4 {
		fmt.Fprintf(&b, "# TYPE latency_%d_seconds histogram\n", h)
		for i := range 7 {
			fmt.Fprintf(&b, "latency_%d_seconds_bucket{path=\"/api/v1/orders\",le=\"%d\"} %d\n", h, i, n*int64(i))
		}
		fmt.Fprintf(&b, "latency_%d_seconds_bucket{path=\"/api/v1/orders\",le=\"+Inf\"} %d\nlatency_%d_seconds_sum{path=\"/api/v1/orders\"} "+
			"%d\nlatency_%d_seconds_count{path=\"/api/v1/orders\"} %d\n", h, n*9, h, n, h, n*9)
	}
	return b.Bytes()
}

// BenchmarkScrape lets one node scrape 5,000 targets of 50 organizations with 200 samples each, every 15 seconds, and store the points. It
// reports the CPU of the server and of the engine without that of the targets, the memory, and the delay of the scrapes.
func BenchmarkScrape(b *testing.B) {
	const organizations, targets, hosts = 50, 5000, 250
	var pages atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(scrapedPage(pages.Add(1)))
	})
	urls := make([]string, hosts)
	for i := range urls {
		s := httptest.NewServer(handler)
		defer s.Close()
		urls[i] = s.URL
	}
	p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"), "--egress-networks", "127.0.0.1/32")
	engine := child(b, p.Pid())
	idle := rss(b, p.Pid())
	s, err := store.Open(b.Context(), store.Config{Path: filepath.Join(p.DataDir, "svc.db")})
	if err != nil {
		b.Fatal(err)
	}
	for o := range organizations {
		created, err := s.CreateOrganization(b.Context(), store.NewOrganization{
			Name: fmt.Sprint("Organization ", o), Slug: fmt.Sprint("scraped-", o),
			Admin: &store.NewUser{Email: fmt.Sprintf("admin%d@example.com", o), Name: "Admin"},
		})
		if err != nil {
			b.Fatal(err)
		}
		for n := range targets / organizations {
			_, err := s.CreateScrapeTarget(b.Context(), created.Organization.ID, store.ScrapeTarget{
				ID: uuid.Must(uuid.NewV7()), Name: fmt.Sprint("target ", n),
				URL:        fmt.Sprintf("%s/metrics/%d", urls[(o*targets/organizations+n)%hosts], n),
				TargetType: store.ScrapePrometheus, AuthType: store.ScrapeAuthNone, ScrapeIntervalSeconds: 15, Enabled: true,
				CreatedBy: created.Admin.ID, UpdatedBy: created.Admin.ID,
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for range b.N {
		time.Sleep(40 * time.Second) // every target was scraped twice
		before, scraped, at := usageOf(b, p, engine), pages.Load(), time.Now()
		delays := scrapeDelays(b, p)
		time.Sleep(60 * time.Second)
		used, took := usageOf(b, p, engine).since(before), time.Since(at).Seconds()
		cores := 2.0
		b.ReportMetric(100*used.server/took/cores, "server-%of2cores")
		b.ReportMetric(100*used.engine/took/cores, "engine-%of2cores")
		b.ReportMetric(float64(pages.Load()-scraped)*200/took, "samples/s")
		b.ReportMetric(float64(rss(b, p.Pid())-idle)/(1<<20), "server-rss-MiB-more")
		b.ReportMetric(1000*delays.p99(scrapeDelays(b, p)), "ms-p99-delay")
		b.ReportMetric(0, "ns/op")
		text := metricsOf(b, &p.Server)
		for _, result := range []string{"success", "failed", "skipped"} {
			if m := regexp.MustCompile(`svc_scrapes_total\{result="` + result + `"\} (\S+)`).FindStringSubmatch(text); m != nil {
				n, _ := strconv.ParseFloat(m[1], 64)
				b.ReportMetric(n, result)
			}
		}
		if m := oldestUnflushed.FindStringSubmatch(text); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64)
			b.ReportMetric(n, "s-unflushed")
		}
	}
	stop(b, p)
}

// delays are the counts of svc_scrape_start_delay_seconds, by bound.
type delays []struct {
	bound float64
	count float64
}

var delayBucket = regexp.MustCompile(`svc_scrape_start_delay_seconds_bucket\{le="(\S+)"\} (\S+)`)

func scrapeDelays(b *testing.B, p *testkit.Process) (out delays) {
	b.Helper()
	for _, m := range delayBucket.FindAllStringSubmatch(metricsOf(b, &p.Server), -1) {
		bound, err := strconv.ParseFloat(strings.Replace(m[1], "+Inf", "Inf", 1), 64)
		if err != nil {
			b.Fatal(err)
		}
		count, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, struct{ bound, count float64 }{bound, count})
	}
	return out
}

// p99 is the bound of the bucket with 99 of 100 scrapes since.
func (d delays) p99(now delays) float64 {
	all := now[len(now)-1].count - d[len(d)-1].count
	for i := range now {
		if now[i].count-d[i].count >= 0.99*all {
			return now[i].bound
		}
	}
	return 0
}
