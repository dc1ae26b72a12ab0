package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/corpus"
	"github.com/svc-observability/svc/server/testkit"
)

// maxServerMemory is the most memory that the server may take at any time, without the engine's process.
const maxServerMemory = 1 << 30

const requestTimeout = "@svc/ingest/RequestTimeout"

// TestCorpus sends every bad request to a real server and reads the stored rows from the warehouse. They must be exactly the
// expected ones.
func TestCorpus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testkit.StartMeasured(t, dir)
	target := corpus.NewTarget(strings.TrimPrefix(p.IngestURL, "http://"), p.OTLPGRPCAddr, p.PrivateKey)
	defer target.Close()
	var pushes connector
	adminJSON(t, p, dir, &pushes, "connector", "create", "corpus", "--zone", "shop.example")
	target.Connector = pushes.ID + "?secret=" + pushes.Secret
	cases := corpus.Cases(time.Now())
	want, sessions, peak := map[string]int{}, map[string]bool{}, 0
	for i := range cases {
		c := &cases[i]
		c.Load()
		a, err := target.Send(t.Context(), c)
		// On a busy machine, a gibibyte may take longer than a request may. Such a request stored nothing, and its answer says to
		// send it again. A server that refuses a head closes the connection before it has read all of it, so the reset may reach a
		// busy client before the client has read the answer (RFC 9112, section 9.6).
		for range 3 {
			late := err == nil && a.Tag == requestTimeout && c.Want.Tag != requestTimeout
			reset := errors.Is(err, syscall.ECONNRESET) && c.Want.Status == http.StatusRequestHeaderFieldsTooLarge
			if !late && !reset {
				break
			}
			a, err = target.Send(t.Context(), c)
		}
		if err == nil {
			err = c.Check(a)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, name := range c.Stored {
			if c.Path == "/v1/sessionReplays/meta" { // the last row of a session is kept
				if sessions[name] {
					continue
				}
				sessions[name] = true
			}
			want[fmt.Sprintf("%.60s", name)]++
		}
		c.Body = nil
		if now := peakMemory(t, p.Pid()); now > peak+32<<20 {
			t.Logf("%s: %d MiB", c.Name, now>>20)
			peak = now
		}
	}
	peak = peakMemory(t, p.Pid())
	t.Logf("%d cases, most memory of the server: %d MiB", len(cases), peak>>20)
	if peak > maxServerMemory {
		t.Errorf("the server took %d MiB", peak>>20)
	}
	waitFlushed(t, p)
	const sql = `SELECT substring(Name, 1, 60) AS N, count() FROM (
		SELECT SpanName AS Name FROM spans UNION ALL SELECT Body FROM logs UNION ALL SELECT MetricName FROM metrics_gauge UNION ALL SELECT MetricName FROM metrics_sum
		UNION ALL SELECT MetricName FROM metrics_histogram UNION ALL SELECT MetricName FROM metrics_exponential_histogram UNION ALL SELECT MetricName FROM metrics_summary
		UNION ALL SELECT Name FROM product_events UNION ALL SELECT SessionId FROM session_replays FINAL UNION ALL SELECT SessionId FROM session_replay_events UNION ALL SELECT SessionId FROM session_events
	) GROUP BY N`
	out, err := testkit.Command(t, "admin", "sql", sql, "--data-dir", dir, "--format", "TSV").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, count, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if got[name], err = strconv.Atoi(count); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("stored (-want +got):\n%s", d)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// peakMemory is the peak memory of a process so far.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := highWater.FindSubmatch(status)
	if m == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	kb, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
