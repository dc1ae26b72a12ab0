package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// itemCounts are the counters of one run that must agree, by signal.
type itemCounts struct{ accepted, sampled, rejected, stored, resumed, refused map[string]int }

var itemSeries = regexp.MustCompile(`^svc_ingest_(items|stored_items|resumed_items|refused_items)_total\{(?:outcome="(\w+)",)?signal="(\w+)"\} (\S+)$`)

func countItems(t *testing.T, p *testkit.Process) itemCounts {
	t.Helper()
	c := itemCounts{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
	into := map[string]map[string]int{
		"items accepted": c.accepted, "items sampled": c.sampled, "items rejected": c.rejected,
		"stored_items ": c.stored, "resumed_items ": c.resumed, "refused_items ": c.refused,
	}
	res, err := http.Get(p.BaseURL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		m := itemSeries.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		n, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		if counts := into[m[1]+" "+m[2]]; counts != nil {
			counts[m[3]] = int(n)
		}
	}
	return c
}

// inWarehouse counts rows by signal.
func inWarehouse(t *testing.T, dir string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for signal, tables := range map[string]string{
		"traces": "spans", "logs": "logs", "metrics": "metrics_gauge metrics_sum metrics_histogram metrics_exponential_histogram metrics_summary",
		"sessions": "session_replays session_replay_events session_events", "events": "product_events",
	} {
		for table := range strings.FieldsSeq(tables) {
			out, err := testkit.Command(t, "admin", "sql", "SELECT count() FROM "+table, "--data-dir", dir).Output()
			if err != nil {
				t.Fatal(table, err)
			}
			n, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil {
				t.Fatal(table, err)
			}
			counts[signal] += n
		}
	}
	return counts
}

func signalNames() []string { return []string{"traces", "logs", "metrics", "sessions", "events"} }

// sendEverything sends each signal through each of its doors, with items that are rejected and spans that sampling drops.
func sendEverything(t *testing.T, p *testkit.Process, run string, seed int) {
	t.Helper()
	for i, cfg := range []loadtest.Config{
		{Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true},
		{Protocol: loadtest.GRPC, Signal: otlp.Traces},
		{Protocol: loadtest.HTTPJSON, Signal: otlp.Logs, Gzip: true},
		{Protocol: loadtest.GRPC, Signal: otlp.Logs, Gzip: true},
		{Protocol: loadtest.HTTPProtobuf, Signal: otlp.Metrics},
		{Protocol: loadtest.GRPC, Signal: otlp.Metrics, Gzip: true},
	} {
		cfg.URL, cfg.Addr, cfg.Key, cfg.Run = p.IngestURL, p.OTLPGRPCAddr, p.PrivateKey, fmt.Sprintf("%s-%d", run, i)
		cfg.Marked, cfg.Workers, cfg.Requests, cfg.Items = true, 2, 10, 100+i
		r, err := loadtest.Run(t.Context(), cfg)
		if err != nil || r.Acknowledged != 10 {
			t.Fatalf("%+v: %v", r, err)
		}
	}
	partial := oneSpan(seed, 10)
	scope := partial.ResourceSpans[0].ScopeSpans[0]
	for i := range 4 {
		bad := oneSpan(seed+i+1, 10).ResourceSpans[0].ScopeSpans[0].Spans[0]
		if i%2 == 0 {
			bad.TraceId = []byte("short")
		}
		scope.Spans = append(scope.Spans, bad)
	}
	if status, _, tag := ingest(t, &p.Server, partial); status != http.StatusOK {
		t.Fatalf("%d %s", status, tag)
	}
	now := time.Now().UTC().Add(-time.Minute).Format("2006-01-02 15:04:05.000")
	for path, body := range map[string]string{
		"/v1/sessionReplays/meta": `{"session_id":"` + run + `","start_time":"` + now + `","status":"active"}`,
		"/v1/sessionEvents": `{"session_id":"` + run + `","timestamp":"` + now + `","seq":1,"type":"click"}` + "\n" + `{"session_id":"` +
			run + `","timestamp":"` + now + `","seq":2,"type":"click"}`,
		"/v1/events": `{"name":"order placed"}` + "\n" + `{"name":""}` + "\n" + `{"name":"refund"}`,
	} {
		sendActivity(t, p, path, []byte(body), "Content-Type", "application/x-ndjson")
	}
}

// TestAcceptedIsStored checks the promise of the counters over a server's whole life: every signal, both doors, partial success,
// sampling, an engine that hangs and a kill in between. In each run, the accepted items are the stored and the refused ones. Over
// all runs, they equal the items in the warehouse and in the usage.
func TestAcceptedIsStored(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	if out, err := testkit.Command(t, "admin", "sampling", "set", "--trace-sample-ratio", "0.5", "--data-dir",
		dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	total := map[string]int{}
	check := func(resumed map[string]int) {
		t.Helper()
		waitFlushed(t, p)
		c := countItems(t, p)
		for _, signal := range signalNames() {
			if c.accepted[signal] == 0 {
				t.Errorf("no %s were accepted: this shows nothing", signal)
			}
			if c.accepted[signal] != c.stored[signal]+c.refused[signal] || c.resumed[signal] != resumed[signal] {
				t.Errorf("%s: accepted %d, stored %d, refused %d, resumed %d of %d", signal, c.accepted[signal], c.stored[signal], c.refused[signal],
					c.resumed[signal], resumed[signal])
			}
		}
		if c.sampled["traces"] == 0 || c.rejected["traces"] == 0 || c.rejected["events"] == 0 {
			t.Errorf("nothing was sampled or rejected: %+v", c)
		}
	}
	// The first run stores items, then loses its engine. It is killed with telemetry in the queue that it has counted as
	// accepted.
	sendEverything(t, p, "one", 1000)
	check(nil)
	stored := countItems(t, p).accepted
	if err := syscall.Kill(child(t, p.Pid()), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	sendEverything(t, p, "two", 2000)
	left := map[string]int{}
	for signal, n := range countItems(t, p).accepted {
		left[signal], total[signal] = n-stored[signal], n
	}
	eventually(t, "the usage to be in the database", func() bool { return metricValue(t, p, "svc_ingest_usage_unflushed_seconds") == 0 })
	p.Kill()

	p = testkit.StartProcess(t, dir)
	sendEverything(t, p, "three", 3000)
	check(left)
	for signal, n := range countItems(t, p).accepted {
		total[signal] += n
	}
	rows := inWarehouse(t, dir)
	eventually(t, "the usage to be in the database", func() bool { return metricValue(t, p, "svc_ingest_usage_unflushed_seconds") == 0 })
	out, err := testkit.Command(t, "admin", "usage", "--json", "--data-dir", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	var used []struct {
		Signal string
		Items  int
	}
	if err := json.Unmarshal(out, &used); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	usage := map[string]int{}
	for _, u := range used {
		usage[u.Signal] = u.Items
	}
	for _, signal := range signalNames() {
		if rows[signal] != total[signal] || usage[signal] != total[signal] {
			t.Errorf("%s: accepted %d, in the warehouse %d, in the usage %d", signal, total[signal], rows[signal], usage[signal])
		}
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
	// The last save of a stop includes every answer of this run.
	out, err = testkit.Command(t, "admin", "outcomes", "--limit", "0", "--json", "--data-dir", dir).Output()
	if err != nil || !strings.Contains(string(out), "trace_id: span rejected") {
		t.Errorf("the outcomes do not explain the rejected spans: %v\n%s", err, out)
	}
}
