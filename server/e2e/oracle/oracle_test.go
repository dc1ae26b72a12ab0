package oracle_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/testkit"
)

// TestOracle compares the figures of reads with those of the evaluation. A seed that found a defect stays in this list, with the name of
// the defect.
func TestOracle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		seed uint64
	}{
		{"rows at the end of a window, rates in buckets that it cuts, and sessions that another span of a trace names", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, arrive := begin(t, tc.seed)
			if *corrupt {
				a.corrupted()
				return
			}
			for n, check := range append(a.parts(), func() { a.checkLate(arrive) }) {
				began := time.Now()
				check()
				a.Logf("part %d took %.1f s", n, time.Since(began).Seconds())
			}
			a.uncovered()
			a.finish(tc.seed)
		})
	}
}

// FuzzOracle compares one part of the reads of TestOracle with any seed. It has no seeds of its own, since an ordinary run of the tests
// would compare them, too.
func FuzzOracle(f *testing.F) {
	if testing.Short() {
		f.Skip("each input needs an organization of its own on a running server")
	}
	f.Fuzz(func(t *testing.T, seed uint64, part uint8) {
		a, _ := begin(t, seed)
		parts := a.parts()
		parts[int(part)%len(parts)]()
		a.finish(seed)
	})
}

// parts are the comparisons.
func (a *audit) parts() []func() {
	return []func(){
		a.checkSignals, a.checkServices, a.checkQuery, a.checkMetrics, a.checkTools, a.checkPages, a.checkErrors, a.checkActivity,
		a.checkDistributions, a.checkPatterns, a.checkWidgets, a.checkAgents, a.checkToolsOfReads, a.checkDiagnosis, a.checkDifference,
		a.checkAllReleases, a.checkDurations, a.checkErrorTools, a.checkOperationTools, a.checkRecordings, a.checkSpanSearch,
		a.checkTraceTools, a.checkAttributes, a.checkEarlier,
	}
}

// fuzzTime bounds the comparisons of one input. The fuzzing engine takes an input that runs for 10 s for a deadlock.
const fuzzTime = 7 * time.Second

// begin sends telemetry. arrive sends rows that are late.
func begin(tb testing.TB, seed uint64) (a *audit, arrive func()) {
	now := time.Now()
	c, err := contract.Load()
	if err != nil {
		tb.Fatal(err)
	}
	s := testkit.Shared(tb).NewOrganization(tb, fmt.Sprint("Oracle ", tb.Name()))
	a = &audit{TB: tb, telemetry: generate(seed, now), server: s, contract: c, compared: map[string]int{}, wrongOf: map[string]int{}, began: now}
	if flag.Lookup("test.fuzz").Value.String() != "" {
		a.until = now.Add(fuzzTime)
	}
	arrive = a.hold()
	a.send(tb, s)
	return a, arrive
}

func (a *audit) finish(seed uint64) {
	if a.wrong > 0 {
		a.Errorf("seed %d: %d figures are wrong", seed, a.wrong)
	}
	a.report(time.Since(a.began))
}

// report prints the number of compared figures.
func (a *audit) report(took time.Duration) {
	total := 0
	var lines []string
	for _, read := range slices.Sorted(maps.Keys(a.compared)) {
		total += a.compared[read]
		lines = append(lines, fmt.Sprintf("%-28s %6d", read, a.compared[read]))
	}
	a.Logf("%d figures in %.1f s\n%s", total, took.Seconds(), strings.Join(lines, "\n"))
}
