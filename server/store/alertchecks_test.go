package store

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/principal"
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
			got = append(got, string(b.Rows))
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
	if err := s.SetAsideAlertChecks(ctx, old, first.Batches); !errors.Is(err, ErrFenced) {
		t.Errorf("set aside under an old lease: %v", err)
	}
	if err := s.SetAsideAlertChecks(ctx, elsewhere, first.Batches); err != nil {
		t.Fatal(err)
	}
	next("a") // it belongs to another shard
	if err := s.DeleteAlertChecks(ctx, fence, next("a").ID); err != nil {
		t.Fatal(err)
	}
	group := next("b", "c")
	for range 2 {
		if err := s.SetAsideAlertChecks(ctx, fence, group.Batches[:1]); err != nil {
			t.Fatal(err)
		}
	}
	if again := next("c"); again.ID != group.ID {
		t.Error("the token of a group changed")
	}
	for _, c := range []struct {
		before time.Time
		want   int
	}{{at.Add(-time.Hour), 3}, {at.Add(time.Hour), 2}} {
		if err := s.SweepAlertChecks(ctx, c.before); err != nil {
			t.Fatal(err)
		}
		if n, err := s.read.AlertCheckBatch.Query().Count(ctx); err != nil || n != c.want {
			t.Errorf("%d batches, want %d (%v)", n, c.want, err)
		}
	}
	for _, want := range [][]string{{"c"}, {"d"}} {
		if err := s.DeleteAlertChecks(ctx, fence, next(want...).ID); err != nil {
			t.Fatal(err)
		}
	}
	next()
	created, err := s.CreateOrganization(ctx, NewOrganization{Name: "Gone", Admin: &NewUser{Email: "gone@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	gone := created.Organization.ID
	for _, want := range []int{0, 1} {
		if deleted, err := s.DeletedOrganizations(ctx, []principal.OrgID{gone, "org_never"}); err != nil || len(deleted) != want {
			t.Errorf("deleted: %v, %v", deleted, err)
		}
		if want == 0 {
			if err := s.DeleteOrganization(ctx, gone); err != nil {
				t.Fatal(err)
			}
		}
	}
}
