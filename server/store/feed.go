package store

import (
	"context"
	"sync"
	"time"

	"entgo.io/ent/dialect"
)

// feedRetry is the interval at which the feed retries while it is down and says so to caches. Caches then query the database
// about once in that time.
const feedRetry = time.Second

// feed follows the commits of other processes.
type feed struct {
	once   sync.Once
	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
}

// start starts the feed once. After it returns, every later change of another process is published, by name or as SubjectAny.
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
	f.once.Do(func() {}) // prevents a later start
	f.mu.Lock()
	cancel, done := f.cancel, f.done
	f.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

// wait sleeps. It returns false if ctx ended first.
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
