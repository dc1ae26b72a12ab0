package store

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestAlertChecks takes batches of checks out of the database, in groups that stay the same until they are removed.
func TestAlertChecks(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		testAlertChecks(t, openWork(t, Config{Path: filepath.Join(t.TempDir(), "svc.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		testAlertChecks(t, openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)}))
	})
}

func testAlertChecks(t *testing.T, s *Store) {
	ctx := t.Context()
	node := workNode(WorkAlerts)
	if err := s.JoinWork(ctx, node); err != nil {
		t.Fatal(err)
	}
	fences := map[int]Fence{}
	for _, f := range beat(t, s, node) {
		fences[f.Number] = f
	}
	fence, elsewhere := fences[1], fences[2]
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	wait := func(text string) {
		t.Helper()
		at = at.Add(time.Minute)
		err := s.tx(ctx, "test", func(tx *ent.Tx) error {
			return tx.AlertCheckBatch.Create().SetID(uuid.New()).SetShard(fence.Number).SetEvaluatedAt(at).SetRows([]byte(text)).Exec(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	next := func(want ...string) AlertCheckGroup {
		t.Helper()
		group, err := s.NextAlertChecks(ctx, fence, 2)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range group.Batches {
			got = append(got, string(b))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		return group
	}
	next()
	wait("a")
	first := next("a")
	wait("b")
	wait("c")
	wait("d")
	if again := next("a"); again.ID != first.ID {
		t.Error("the token of a group changed")
	}
	if group, err := s.NextAlertChecks(ctx, elsewhere, 2); err != nil || len(group.Batches) != 0 {
		t.Errorf("another shard has %d batches, %v", len(group.Batches), err)
	}
	if err := s.DeleteAlertChecks(ctx, elsewhere, first.ID); err != nil {
		t.Fatal(err)
	}
	next("a")
	old := fence
	old.Token--
	if _, err := s.NextAlertChecks(ctx, old, 2); !errors.Is(err, ErrFenced) {
		t.Errorf("read under an old lease: %v", err)
	}
	if err := s.DeleteAlertChecks(ctx, old, first.ID); !errors.Is(err, ErrFenced) {
		t.Errorf("deleted under an old lease: %v", err)
	}
	for _, want := range [][]string{{"a"}, {"b", "c"}, {"d"}} {
		if err := s.DeleteAlertChecks(ctx, fence, next(want...).ID); err != nil {
			t.Fatal(err)
		}
	}
	next()
}
