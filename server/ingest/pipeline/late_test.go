package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// forgetful is a warehouse that can forget tokens. It can still find the rows of a token.
type forgetful struct {
	*warehouse
	mu    sync.Mutex
	late  int
	known map[string]string
}

// forget drops all tokens, as a shard does after the inserts of many other nodes.
func (f *forgetful) forget() {
	f.warehouse.mu.Lock()
	defer f.warehouse.mu.Unlock()
	for token, text := range f.tokens {
		f.known[token] = text
	}
	clear(f.tokens)
}

// InsertLate knows the rows of a token although the token is forgotten.
func (f *forgetful) InsertLate(ctx context.Context, t Table, token string) error {
	f.mu.Lock()
	f.late++
	f.mu.Unlock()
	f.warehouse.mu.Lock()
	if text, ok := f.known[token]; ok {
		f.tokens[token] = text
	}
	f.warehouse.mu.Unlock()
	return f.Insert(ctx, t, token)
}

// TestLateRepeat loses the answer to an insert. The warehouse forgets the token before the next attempt, which comes from the same run or
// from the next one. Only an attempt that comes late asks for the rows.
func TestLateRepeat(t *testing.T) {
	for name, c := range map[string]struct {
		after    time.Duration
		restart  bool
		forgets  bool
		wantLate bool
	}{
		"soon":               {after: time.Minute},
		"late":               {after: 3 * time.Minute, forgets: true, wantLate: true},
		"soon after a crash": {after: time.Second, restart: true},
		"late after a crash": {after: time.Hour, restart: true, forgets: true, wantLate: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &forgetful{warehouse: newWarehouse(t), known: map[string]string{}}
			var mu sync.Mutex
			now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
			r := newRig(t, t.TempDir(), f.warehouse, func(cfg *Config) {
				cfg.Inserter = f
				cfg.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return now
				}
			})
			var attempts atomic.Int64
			var up atomic.Bool
			up.Store(!c.restart)
			f.hooks(func(string) error {
				if attempts.Add(1) > 1 && !up.Load() {
					return errors.New("the warehouse is down")
				}
				return nil
			}, func(string) error {
				if attempts.Load() > 1 {
					return nil
				}
				if c.forgets {
					f.forget()
				}
				mu.Lock()
				now = now.Add(c.after)
				mu.Unlock()
				return errors.New("the answer is lost")
			})
			pos := r.append("a", "row 0000", true)
			if c.restart {
				for attempts.Load() < 2 {
					time.Sleep(time.Millisecond)
				}
				r.crash()
				up.Store(true)
				r.open()
			}
			r.flushed(pos)
			r.close()
			if got := f.stored("a"); !slices.Equal(got, rows(0, 1)) {
				t.Errorf("stored %v", got)
			}
			if (f.late > 0) != c.wantLate {
				t.Errorf("%d attempts looked for stored rows", f.late)
			}
		})
	}
}
