package store

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestCountIngestNodes: a node counts while it gives signs of life, and no longer after it has stopped.
func TestCountIngestNodes(t *testing.T) {
	s := openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)})
	count := func(want int) {
		t.Helper()
		if n, err := s.CountIngestNodes(t.Context(), "own"); err != nil || n != want {
			t.Errorf("%d nodes, %v; want %d", n, err, want)
		}
	}
	count(0)
	for _, node := range []string{"a", "b", "c", "own"} {
		if err := s.SetIngestMark(t.Context(), node, IngestMark{Through: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	count(3)
	if err := s.ClearIngestMark(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	count(2)
	silent := time.Now().Add(-limits.IngestMarkSilent - time.Minute)
	if err := s.write.IngestMark.UpdateOneID("c").SetSeenAt(silent).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	count(1)
}
