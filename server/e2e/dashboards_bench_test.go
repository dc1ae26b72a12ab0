package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// BenchmarkDashboards sends GET requests over a real socket, one at a time, for an organization with 100 dashboards of 30 widgets
// each: for one dashboard, for a page of 20, and for all in a page of 100.
func BenchmarkDashboards(b *testing.B) {
	p := testkit.StartProcess(b, filepath.Join(b.TempDir(), "data"))
	engine := child(b, p.Pid())
	widgets := make([]string, 30)
	for i := range widgets {
		widgets[i] = statWidget(fmt.Sprint("w", i), 4*i)
	}
	id := ""
	for i := range 100 {
		body := fmt.Sprintf(`{"name":"Dashboard %d","widgets":[%s]}`, i, strings.Join(widgets, ","))
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.BaseURL+"/v2/dashboards", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+p.APIKey)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		var answer struct{ ID string }
		err = json.NewDecoder(res.Body).Decode(&answer)
		if res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			b.Fatal(res.StatusCode, err)
		}
		id = answer.ID
	}
	waitIdle(b, engine)
	for _, bench := range []struct{ name, path string }{
		{"get", "/v2/dashboards/" + id},
		{"page", "/v2/dashboards"},
		{"all", "/v2/dashboards?limit=100"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const requests = 60
			size := 0
			for b.Loop() {
				took := make([]time.Duration, 0, requests)
				before := usageOf(b, p, engine)
				for range requests {
					started := time.Now()
					status, text := get(b, p, bench.path)
					if status != http.StatusOK {
						b.Fatal(status, text)
					}
					took, size = append(took, time.Since(started)), len(text)
				}
				used := usageOf(b, p, engine).since(before)
				slices.Sort(took)
				used.report(b, requests)
				b.ReportMetric(float64(took[requests/2].Microseconds())/1e3, "p50-ms")
				b.ReportMetric(float64(took[requests*99/100].Microseconds())/1e3, "p99-ms")
			}
			b.ReportMetric(float64(size), "bytes")
			b.ReportMetric(0, "ns/op")
		})
	}
	stop(b, p)
}
