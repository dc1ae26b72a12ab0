package repositories

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// unread counts the looks in which the host failed to tell the commits of pull requests. A restart begins the count again.
type unread struct {
	mu sync.Mutex
	of map[pullKey]failures
}

type pullKey struct {
	repository uuid.UUID
	number     int64
}

type failures struct {
	updated time.Time // the change of the pull request
	looks   int
	last    time.Time
}

// commits reads the messages of the commits of a pull request. If the host failed, there are none, and again says whether the next look
// has to ask for them. The error is one that concerns all pull requests.
func (s *Shard) commits(
	ctx context.Context, host source.Host, name string, r *store.SourceRepository, p *source.PullRequest,
) (messages []string, again bool, err error) {
	key := pullKey{r.ID, p.Number}
	if s.unread.looks(key, p.UpdatedAt) >= limits.RepositoryUnread {
		return nil, false, nil // it may have too many of them for the host
	}
	messages, err = host.PullRequestCommits(ctx, name, p.Number)
	if err == nil {
		s.unread.forget(key)
		return messages, false, nil
	}
	if concernsAll(ctx, err) {
		return nil, false, err
	}
	if integrations.IsKind(err, integrations.Upstream) || timedOut(err) {
		again = s.unread.failed(key, p.UpdatedAt, s.cfg.Now()) < limits.RepositoryUnread
	}
	level := s.cfg.Logger.DebugContext
	if !again {
		level = s.cfg.Logger.WarnContext
	}
	level(ctx, "the commits of a pull request could not be read", "repository", r.ID, "number", p.Number, "again", again, "error", err)
	return nil, again, nil // its own texts may name issues
}

// looks is how often a pull request has failed since it changed.
func (u *unread) looks(key pullKey, updated time.Time) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if f := u.of[key]; f.updated.Equal(updated) {
		return f.looks
	}
	return 0
}

// failed notes a look that failed, and returns how many did. It forgets those of former days, which nobody asks for any more.
func (u *unread) failed(key pullKey, updated, now time.Time) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.of, func(_ pullKey, f failures) bool { return now.Sub(f.last) > limits.Day })
	f := u.of[key]
	if !f.updated.Equal(updated) {
		f = failures{updated: updated}
	}
	f.looks, f.last = f.looks+1, now
	u.of[key] = f
	return f.looks
}

func (u *unread) forget(key pullKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.of, key)
}
