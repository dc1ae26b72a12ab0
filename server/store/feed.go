package store

import (
	"context"
	"sync"
	"time"

	"entgo.io/ent/dialect"
)

// feedRetry is how often the feed tries again while it is down, and tells so: caches then ask the database about once in that time.
const feedRetry = time.Second

// feed follows what other processes commit.
type feed struct {
	once   sync.Once
	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
}

// start begins once. It returns when no later change of another process can be missed without notice.
func (f *feed) start(s *Store) {
	f.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		f.mu.Lock()
		f.cancel, f.done = cancel, done
		f.mu.Unlock()
		follow := s.followPostgres
		if s.dialect == dialect.SQLite {
			last, err := s.sqliteVersion(ctx)
			follow = func(ctx context.Context) { s.followSQLite(ctx, last, err) }
		}
		go func() {
			defer close(done)
			follow(ctx)
		}()
	})
}

func (f *feed) close() {
	f.once.Do(func() {}) // no start after this
	f.mu.Lock()
	cancel, done := f.cancel, f.done
	f.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

// wait sleeps; false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
