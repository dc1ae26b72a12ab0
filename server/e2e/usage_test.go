package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// usage is the resources that the processes have used: CPU seconds, and allocations of the server.
type usage struct{ server, engine, allocations float64 }

func usageOf(tb testing.TB, p *testkit.Process, engine int) usage {
	tb.Helper()
	return usage{cpuSeconds(tb, p.Pid()), cpuSeconds(tb, engine), metricValue(tb, p, "go_memstats_mallocs_total")}
}

func (u usage) since(before usage) usage {
	return usage{u.server - before.server, u.engine - before.engine, u.allocations - before.allocations}
}

func (u usage) report(b *testing.B, items float64) {
	b.ReportMetric(u.server/items*1e6, "server-cpu-µs/item")
	b.ReportMetric(u.engine/items*1e6, "engine-cpu-µs/item")
	b.ReportMetric((u.server+u.engine)/items*1e6, "cpu-µs/item")
	b.ReportMetric(u.allocations/items, "allocs/item")
}

// metricValue reads one metric without labels from the server.
func metricValue(tb testing.TB, p *testkit.Process, name string) float64 {
	tb.Helper()
	res, err := http.Get(p.BaseURL + "/metrics")
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), name+" ")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
	tb.Fatalf("/metrics lacks %s (%v)", name, lines.Err())
	return 0
}

// clockTick is USER_HZ, which Linux fixes at 100 for user space.
const clockTick = 100

func cpuSeconds(tb testing.TB, pid int) float64 {
	tb.Helper()
	fields := procStat(tb, pid)
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	if err1 != nil || err2 != nil {
		tb.Fatal(err1, err2)
	}
	return (user + system) / clockTick
}

// rss is the resident memory of a process in bytes.
func rss(tb testing.TB, pid int) int64 {
	tb.Helper()
	pages, err := strconv.ParseInt(procStat(tb, pid)[21], 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// procStat returns the fields of /proc/<pid>/stat from the third on. The second field, the name, may contain spaces.
func procStat(tb testing.TB, pid int) []string {
	tb.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
}
