package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/testkit"
)

// otlpTables maps each path to the tables and attribute columns that may hold the items of its signal.
var otlpTables = map[string][][2]string{
	"/v1/traces": {{"spans", "SpanAttributes"}},
	"/v1/logs":   {{"logs", "LogAttributes"}},
	"/v1/metrics": {
		{"metrics_gauge", "Attributes"},
		{"metrics_sum", "Attributes"},
		{"metrics_histogram", "Attributes"},
		{"metrics_exponential_histogram", "Attributes"},
	},
}

// otlpPath maps the path of a gRPC method to that of the same signal over HTTP.
func otlpPath(path string) string {
	for signal, service := range map[string]string{"/v1/traces": "TraceService", "/v1/logs": "LogsService", "/v1/metrics": "MetricsService"} {
		if strings.HasSuffix(path, "."+service+"/Export") {
			return signal
		}
	}
	return path
}

// timerSlack is how much too early a sender's timer may fire.
const timerSlack = 20 * time.Millisecond

// storedItems returns the number of rows of each item of a run.
func storedItems(t *testing.T, p *testkit.Process, path, run string) map[string]int {
	t.Helper()
	var parts []string
	for _, table := range otlpTables[path] {
		parts = append(parts, fmt.Sprintf("SELECT %s['%s'] AS item FROM %s WHERE ResourceAttributes['%s'] = '%s'", table[1],
			loadtest.ItemAttribute, table[0], loadtest.RunAttribute, run))
	}
	sql := "SELECT item, count() FROM (" + strings.Join(parts, " UNION ALL ") + ") GROUP BY item"
	out, err := testkit.Command(t, "admin", "sql", sql, "--data-dir", p.DataDir, "--format", "TSV").Output()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	stored := map[string]int{}
	for line := range strings.Lines(string(out)) {
		item, count, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		stored[item] = n
	}
	return stored
}

var acceptedItems = regexp.MustCompile(`(?m)^svc_ingest_items_total\{outcome="accepted",signal="(\w+)"\} (\S+)$`)

// accepted reads svc_ingest_items_total for the items in the durable queue, by path.
func accepted(t *testing.T, p *testkit.Process) map[string]int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]int{}
	for _, m := range acceptedItems.FindAllSubmatch(text, -1) {
		n, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		if path := "/v1/" + string(m[1]); n > 0 {
			items[path] = int(n)
		}
	}
	return items
}

// pending counts the requests that the proxy has seen and whose sender has not yet received a success. It also counts the
// distinct items of the requests that were accepted.
func (p *faultProxy) pending() (unsettled int, taken map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken = map[string]int{}
	for _, d := range p.deliveries {
		if d.settled {
			taken[otlpPath(d.path)] += len(d.items)
		} else {
			unsettled++
		}
	}
	return unsettled, taken
}

// refusals counts the answers of the server that were not a success.
func (p *faultProxy) refusals() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.deliveries {
		n += len(d.others)
	}
	return n
}

// account compares the stored items of a run with the requests that the proxy saw, and both with the number of sent items, by
// path. Each item must have one row for each acknowledgement of the server: one, or two if the first answer was cut. It returns
// the acknowledged items by path, and those that were acknowledged twice.
func (p *faultProxy) account(t *testing.T, server *testkit.Process, run string, sent map[string]int) map[string]int {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	acks, twice, fates, requests := map[string]map[string]int{}, map[string]int{}, map[string]map[fate]int{}, map[string]int{}
	for _, d := range p.deliveries {
		path := otlpPath(d.path)
		if acks[path] == nil {
			acks[path], fates[path] = map[string]int{}, map[fate]int{}
		}
		fates[path][d.fate]++
		requests[path]++
		for _, item := range d.items {
			acks[path][item] += d.acks
		}
		twice[path] += len(d.items) * (d.acks - 1)
		want := 1
		if d.fate == cutAnswer {
			want = 2
		}
		if d.acks != want || len(d.others) > 0 && !p.refusing {
			t.Errorf("%s %s: a request of %d items (%s) was acknowledged %d times, want %d; other answers: %q", run, d.path, len(d.items),
				d.fate, d.acks, want, d.others)
		}
		if !d.refused.IsZero() && d.pause < faultRetryAfter-timerSlack {
			t.Errorf("%s %s: sent again %s after a refusal that asked for %s", run, d.path, d.pause, faultRetryAfter)
		}
	}
	total := map[string]int{}
	for path, n := range sent {
		items := acks[path]
		if len(items) != n {
			t.Errorf("%s %s: %d different items went by, %d were sent", run, path, len(items), n)
		}
		for _, f := range p.plan {
			if fates[path][f] == 0 {
				t.Errorf("%s %s: no request met %q: the test shows less than it says", run, path, f)
			}
		}
		stored := storedItems(t, server, path, run)
		if diff := cmp.Diff(items, stored); diff != "" {
			t.Errorf("%s %s: rows of each item differ (-acknowledged +stored):\n%.2000s", run, path, diff)
		}
		for _, n := range items {
			total[path] += n
		}
		t.Logf("%s %s: %d items in %d requests (%v), each stored once but %d whose answer was cut", run, path, len(items),
			requests[path], fates[path], twice[path])
	}
	return total
}
