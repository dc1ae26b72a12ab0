package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// TestEngineGivesWay checks that the threads of the engine's process have a lower priority than the server that acknowledges.
// This includes threads that the engine started itself.
func TestEngineGivesWay(t *testing.T) {
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	if status, _, tag := ingest(t, &p.Server, oneSpan(1, 0)); status != 200 {
		t.Fatalf("%d %s", status, tag)
	}
	server, engine := niceOf(t, p.Pid()), niceOf(t, child(t, p.Pid()))
	if len(server) == 0 || len(engine) < 10 {
		t.Fatalf("%d threads of the server, %d of the engine", len(server), len(engine))
	}
	// If root starts the engine, it sets the priority of a few of its threads itself, such as the one that watches its memory.
	raised := 0
	for _, e := range engine {
		if e <= slices.Max(server) {
			raised++
		}
	}
	if raised*10 > len(engine) {
		t.Errorf("threads of the server are at %v, of the engine at %v", server, engine)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// niceOf returns the nice value of each thread of a process.
func niceOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		text := string(raw)
		nice, err := strconv.Atoi(strings.Fields(text[strings.LastIndexByte(text, ')')+1:])[16])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, nice)
	}
	return all
}
