package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// TestKeepIngestMark: a node that still stores what an earlier run left is alive, and the mark of that run holds.
func TestKeepIngestMark(t *testing.T) {
	s := openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)})
	ctx, old := t.Context(), time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	earlier := IngestMark{Through: old, Behind: []string{"o1"}, BehindThrough: old.Add(-time.Hour)}
	if err := s.SetIngestMark(ctx, "a", earlier); err != nil {
		t.Fatal(err)
	}
	if err := s.write.IngestMark.UpdateOneID("a").SetSeenAt(time.Now().Add(-limits.IngestMarkSilent - time.Minute)).Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := s.CountIngestNodes(ctx, "own"); err != nil || n != 0 {
		t.Fatalf("a silent node counts: %d, %v", n, err)
	}
	if err := s.KeepIngestMark(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.CountIngestNodes(ctx, "own"); err != nil || n != 1 {
		t.Errorf("%d nodes, %v; want 1", n, err)
	}
	got, ok, silent, err := s.StoredThrough(ctx)
	if diff := cmp.Diff(earlier, got); err != nil || !ok || len(silent) > 0 || diff != "" {
		t.Errorf("ok %t, silent %v, %v; the mark of the earlier run (-want +got):\n%s", ok, silent, err, diff)
	}
	if err := s.KeepIngestMark(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if got, ok, _, err := s.StoredThrough(ctx); err != nil || !ok || !got.Through.Equal(time.Unix(0, 0)) {
		t.Errorf("a node without an earlier mark: everything before %s counts as stored, %t, %v", got.Through, ok, err)
	}
}
