package store

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store/pgtest"
)

func workNode(kinds ...string) WorkNode {
	return WorkNode{ID: uuid.New(), Kinds: kinds, Host: "test", Version: "v0"}
}

func openWork(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// write is a transaction of a worker that writes nothing.
func (s *Store) write1(t *testing.T, f Fence) error {
	t.Helper()
	return s.fenced(t.Context(), "test", f, func(*ent.Tx) error { return nil })
}

func beat(t *testing.T, s *Store, n WorkNode) []Fence {
	t.Helper()
	held, err := s.BeatWork(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestWorkOnPostgres plays two nodes on one database: they share the shards, a node that is gone loses its leases, and a transaction
// under a lease that is over writes nothing.
func TestWorkOnPostgres(t *testing.T) {
	url := pgtest.Start(t).NewDatabase(t)
	one, two := openWork(t, Config{URL: url}), openWork(t, Config{URL: url})
	a, b := workNode(WorkAlerts, WorkHeartbeat), workNode(WorkAlerts)
	for s, n := range map[*Store]WorkNode{one: a, two: b} {
		if err := s.JoinWork(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	first := beat(t, one, a)
	if len(first) != WorkShards(WorkAlerts)/2+1 {
		t.Fatalf("the first node has %d shards", len(first))
	}
	if n := len(beat(t, two, b)); n != WorkShards(WorkAlerts)/2 {
		t.Fatalf("the second node has %d shards", n)
	}
	for _, f := range first {
		if err := one.write1(t, f); err != nil {
			t.Fatal(err)
		}
	}

	// The first node gives no sign of life until its leases are over.
	expire := `UPDATE work_shards SET expires_at = clock_timestamp() - interval '1 second' WHERE holder = $1`
	if _, err := one.writeDB.ExecContext(t.Context(), expire, a.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := one.writeDB.ExecContext(t.Context(),
		`UPDATE work_nodes SET seen_at = clock_timestamp() - interval '1 minute' WHERE id = $1`, a.ID); err != nil {
		t.Fatal(err)
	}
	if n := len(beat(t, two, b)); n != WorkShards(WorkAlerts) {
		t.Fatalf("the second node took over %d shards", n)
	}
	for _, f := range first {
		if err := one.write1(t, f); f.Kind == WorkAlerts && !errors.Is(err, ErrFenced) {
			t.Fatalf("a transaction under the old lease of %s: %v", f.Shard(), err)
		}
	}
	// The second node cannot do the other kind, whose lease nobody took.
	if again := beat(t, one, a); len(again) != 1 || again[0].Kind != WorkHeartbeat {
		t.Fatalf("the first node is back with %v", again)
	}
	// The second node gives one back with each beat, and the first one takes it.
	for range 40 {
		beat(t, two, b)
		beat(t, one, a)
	}
	if n, m := len(beat(t, one, a)), len(beat(t, two, b)); n != 33 || m != 32 {
		t.Errorf("the nodes have %d and %d shards", n, m)
	}

	// A stop gives everything back at once.
	if err := two.LeaveWork(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if n := len(beat(t, one, a)); n != 65 {
		t.Errorf("after the stop, the first node has %d shards", n)
	}
	shards, nodes, err := one.ListWork(t.Context())
	if err != nil || len(shards) != 65 || len(nodes) != 1 || nodes[0].ID != a.ID {
		t.Errorf("the list shows %d shards, nodes %v, %v", len(shards), nodes, err)
	}
}

// TestTakeoverWaits: on PostgreSQL, a takeover of a shard waits for a transaction under its lease, so that the new holder sees what the
// old one wrote.
func TestTakeoverWaits(t *testing.T) {
	s := openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)})
	a, b := workNode(WorkSweep), workNode(WorkSweep)
	for _, n := range []WorkNode{a, b} {
		if err := s.JoinWork(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	f := beat(t, s, a)[0]
	released := make(chan error, 1)
	err := s.fenced(t.Context(), "test", f, func(tx *ent.Tx) error {
		go func() { released <- s.LeaveWork(t.Context(), a.ID) }()
		select {
		case err := <-released:
			t.Errorf("the shard was released in the middle of a transaction: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		return tx.Counter.Create().SetID("written").SetValue(1).Exec(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if n := len(beat(t, s, b)); n != 1 {
		t.Errorf("the second node has %d shards", n)
	}
	if err := s.write1(t, f); !errors.Is(err, ErrFenced) {
		t.Errorf("a transaction under the old lease: %v", err)
	}
}

// TestFrozenHolder: a process is frozen in the middle of a transaction under its lease. PostgreSQL ends that transaction, so another
// process takes the shard over, and the transaction writes nothing.
func TestFrozenHolder(t *testing.T) {
	t.Parallel()
	s := openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)})
	a, b := workNode(WorkSweep), workNode(WorkSweep)
	for _, n := range []WorkNode{a, b} {
		if err := s.JoinWork(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	f := beat(t, s, a)[0]
	for _, gone := range []string{
		`UPDATE work_shards SET expires_at = clock_timestamp() + interval '1 second' WHERE holder = $1`,
		`UPDATE work_nodes SET seen_at = clock_timestamp() - interval '1 minute' WHERE id = $1`,
	} {
		if _, err := s.writeDB.ExecContext(t.Context(), gone, a.ID); err != nil {
			t.Fatal(err)
		}
	}
	var took time.Duration
	err := s.fenced(t.Context(), "test", f, func(tx *ent.Tx) error {
		start := time.Now()
		for len(beat(t, s, b)) == 0 {
			if time.Since(start) > limits.WorkLease {
				t.Fatal("the shard of the frozen process is not taken over")
			}
			time.Sleep(100 * time.Millisecond)
		}
		took = time.Since(start)
		return tx.Counter.Create().SetID("written").SetValue(1).Exec(t.Context())
	})
	if err == nil {
		t.Error("the frozen transaction could still write")
	}
	if took < time.Second {
		t.Errorf("taken over after %s, in the time of the lease", took)
	}
	if n, err := s.read.Counter.Query().Count(t.Context()); err != nil || n != 0 {
		t.Errorf("%d rows were written, %v", n, err)
	}
}

// TestWorkOnSQLite: a start takes all shards with new fences, and nothing expires.
func TestWorkOnSQLite(t *testing.T) {
	now := fixedNow()
	s := openWork(t, Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: func() time.Time { return now }})
	a, b := workNode(WorkAlerts), workNode(WorkAlerts)
	if err := s.JoinWork(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	old := beat(t, s, a)
	now = now.Add(-time.Hour)
	if len(old) != WorkShards(WorkAlerts) || s.write1(t, old[0]) != nil {
		t.Fatalf("the first start has %d shards", len(old))
	}
	if err := s.JoinWork(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.write1(t, old[0]); !errors.Is(err, ErrFenced) {
		t.Errorf("a transaction of the process before: %v", err)
	}
	held := beat(t, s, b)
	if len(held) != WorkShards(WorkAlerts) || s.write1(t, held[63]) != nil || len(beat(t, s, a)) != 0 {
		t.Errorf("the second start has %d shards", len(held))
	}
	if err := s.LeaveWork(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.write1(t, held[0]); !errors.Is(err, ErrFenced) {
		t.Errorf("a transaction after the stop: %v", err)
	}
}

// TestShardOf: the shard of a key never changes, because rows keep it, and keys spread over the shards.
func TestShardOf(t *testing.T) {
	for key, want := range map[string]int{"org_a": 59, "org_b": 2, "": 1} {
		if got := ShardOf(WorkAlerts, key); got != want {
			t.Errorf("the shard of %q is %d, it was %d", key, got, want)
		}
	}
	counts := make([]int, WorkShards(WorkAlerts))
	for range 64_000 {
		counts[ShardOf(WorkAlerts, uuid.NewString())]++
	}
	for i, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("shard %d has %d of 64,000 keys", i, n)
		}
	}
}
