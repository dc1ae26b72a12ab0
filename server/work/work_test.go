package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// table is the table of leases of a database, in memory. Its rules are those of the store on PostgreSQL.
type table struct {
	mu     sync.Mutex
	shards []shardRow
	seen   map[uuid.UUID]time.Time
	// committed counts the effects of each shard, per holder at the time.
	committed map[int][]string
}

type shardRow struct {
	holder  uuid.UUID
	fence   int64
	expires time.Time
}

var errCut = errors.New("the database does not answer")

// conn is the connection of one node to the table.
type conn struct {
	*table
	down  func() bool
	pause func() time.Duration
}

func (c conn) reach() error {
	time.Sleep(c.pause())
	if c.down() {
		return errCut
	}
	return nil
}

func (c conn) WorkExpires() bool                              { return true }
func (c conn) JoinWork(context.Context, store.WorkNode) error { return nil }

func (c conn) BeatWork(_ context.Context, node store.WorkNode) ([]store.Fence, error) {
	if err := c.reach(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.seen[node.ID] = now
	live := 0
	for _, at := range c.seen {
		if now.Sub(at) < limits.WorkLease {
			live++
		}
	}
	share := (len(c.shards) + live - 1) / live
	var held []store.Fence
	for i := range c.shards {
		row := &c.shards[i]
		if row.holder == node.ID {
			row.expires = now.Add(limits.WorkLease)
			held = append(held, store.Fence{Kind: "alerts", Number: i, Holder: node.ID, Token: row.fence})
		}
	}
	if len(held) > share {
		row := &c.shards[held[0].Number]
		row.holder, row.fence = uuid.Nil, row.fence+1
		held = held[1:]
	}
	for i := range c.shards {
		row := &c.shards[i]
		if len(held) < share && (row.holder == uuid.Nil || row.expires.Before(now)) {
			row.holder, row.fence, row.expires = node.ID, row.fence+1, now.Add(limits.WorkLease)
			held = append(held, store.Fence{Kind: "alerts", Number: i, Holder: node.ID, Token: row.fence})
		}
	}
	return held, nil
}

func (c conn) LeaveWork(_ context.Context, node uuid.UUID) error {
	if err := c.reach(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.shards {
		if c.shards[i].holder == node {
			c.shards[i].holder, c.shards[i].fence = uuid.Nil, c.shards[i].fence+1
		}
	}
	delete(c.seen, node)
	return nil
}

// commit is a transaction of a worker: it checks the fence and appends the effect, which must not be there yet.
func (c conn) commit(f store.Fence, effect string) error {
	if err := c.reach(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	row := c.shards[f.Number]
	if row.holder != f.Holder || row.fence != f.Token {
		return fmt.Errorf("%w: %s", store.ErrFenced, f.Shard())
	}
	for _, e := range c.committed[f.Number] {
		if e == effect {
			return nil // the unique key of the effect
		}
	}
	c.committed[f.Number] = append(c.committed[f.Number], effect)
	return nil
}

// TestNodes plays nodes that start, stop, crash, freeze and lose the database, for random schedules of an hour. Each shard then has each
// minute's effect exactly once, except for the minutes in which no node could have done it.
func TestNodes(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playNodes(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func playNodes(t *testing.T, rnd *rand.Rand) {
	const shards, hour = 8, 60
	db := &table{shards: make([]shardRow, shards), seen: map[uuid.UUID]time.Time{}, committed: map[int][]string{}}
	start := time.Now()
	var all sync.WaitGroup
	for n := range 3 {
		// Each node has times in which it is frozen, cut from the database, or crashed. Node 0 is well in the last ten minutes.
		trouble := time.Duration(rnd.IntN(45)) * time.Minute
		length := time.Duration(5+rnd.IntN(300)) * time.Second
		kind := rnd.IntN(4)
		in := func() bool { d := time.Since(start); return d >= trouble && d < trouble+length }
		c := conn{
			table: db,
			down:  func() bool { return kind == 0 && in() },
			pause: func() time.Duration {
				if kind == 1 && in() {
					return trouble + length - time.Since(start)
				}
				return time.Millisecond
			},
		}
		begin := func() *Worker {
			w, err := Start(t.Context(), Config{
				Leases: c, Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
				Kinds: []Kind{{Name: "alerts", Run: func(ctx context.Context, s *Shard) {
					done := time.Duration(0)
					Tick(ctx, s, time.Minute, 0, func(ctx context.Context, now time.Time) error {
						// Catch up: every minute since the last one that was committed.
						for m := done + time.Minute; !start.Truncate(time.Minute).Add(m).After(now); m += time.Minute {
							if err := c.commit(s.Fence, m.String()); err != nil {
								return err
							}
							done = m
						}
						return ctx.Err()
					})
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		delay := time.Duration(rnd.IntN(2)+n) * 7 * time.Second
		all.Go(func() {
			time.Sleep(delay)
			w := begin()
			if kind >= 2 {
				time.Sleep(trouble)
				if kind == 2 { // a crash: it leaves its leases behind
					w.cancel()
					<-w.done
					w.ended.Wait()
				} else if err := w.Close(context.Background()); err != nil {
					t.Error(err)
				}
				time.Sleep(length)
				w = begin()
			}
			time.Sleep(hour*time.Minute + 30*time.Second - time.Since(start))
			if err := w.Close(context.Background()); err != nil && !errors.Is(err, errCut) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for n, effects := range db.committed {
		if len(effects) != hour {
			t.Errorf("shard %d has %d effects of %d minutes: %v", n, len(effects), hour, effects)
		}
		for i, e := range effects {
			if want := (time.Duration(i+1) * time.Minute).String(); e != want {
				t.Errorf("shard %d: effect %d is that of %s", n, i, e)
				break
			}
		}
	}
	if len(db.committed) != shards {
		t.Errorf("%d shards of %d were worked on", len(db.committed), shards)
	}
}

// TestStop: running work ends by itself, nothing new begins, and the leases are given back at once.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &table{shards: make([]shardRow, 2), seen: map[uuid.UUID]time.Time{}, committed: map[int][]string{}}
		c := conn{table: db, down: func() bool { return false }, pause: func() time.Duration { return 0 }}
		var began, ended int
		var mu sync.Mutex
		w, err := Start(t.Context(), Config{
			Leases: c, Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
			Kinds: []Kind{{Name: "alerts", Run: func(ctx context.Context, s *Shard) {
				Due(ctx, s, nil, time.Second, func(ctx context.Context) (time.Time, error) {
					mu.Lock()
					began++
					mu.Unlock()
					time.Sleep(3 * time.Second)
					mu.Lock()
					ended++
					mu.Unlock()
					return time.Now(), ctx.Err()
				})
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		begin := time.Now()
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 3*time.Second || began != ended || began < 6 {
			t.Errorf("the stop took %s; %d runs began, %d ended", took, began, ended)
		}
		for i, row := range db.shards {
			if row.holder != uuid.Nil {
				t.Errorf("shard %d still has a holder", i)
			}
		}
	})
}

// TestPanic: a defect in the work of one shard ends neither the process nor the other shards, and the shard begins again.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &table{shards: make([]shardRow, 2), seen: map[uuid.UUID]time.Time{}, committed: map[int][]string{}}
		c := conn{table: db, down: func() bool { return false }, pause: func() time.Duration { return 0 }}
		var mu sync.Mutex
		begun := map[int]int{}
		w, err := Start(t.Context(), Config{
			Leases: c, Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
			Kinds: []Kind{{Name: "alerts", Run: func(ctx context.Context, s *Shard) {
				mu.Lock()
				begun[s.Number]++
				mu.Unlock()
				if s.Number == 0 {
					panic("a defect")
				}
				select {
				case <-ctx.Done():
				case <-s.Stopping():
				}
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if begun[0] < 10 || begun[1] != 1 {
			t.Errorf("the shards began %v times", begun)
		}
	})
}

// TestPhase: the same key has the same phase, and phases spread.
func TestPhase(t *testing.T) {
	buckets := map[time.Duration]int{}
	for i := range 10_000 {
		key := fmt.Sprint("org_", i)
		p := Phase(key, 10*time.Second)
		if p != Phase(key, 10*time.Second) || p < 0 || p >= 10*time.Second {
			t.Fatalf("the phase of %s is %s", key, p)
		}
		buckets[p.Truncate(time.Second)]++
	}
	for b, n := range buckets {
		if n < 800 || n > 1200 {
			t.Errorf("%d of 10,000 keys begin at %s", n, b)
		}
	}
}
