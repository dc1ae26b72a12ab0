package sourcehosting

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// sweepEvery is how often copies are compared with the repositories without a change that calls for it: a copy that was under way when its
// repository was removed may have been finished later.
const sweepEvery = 10 * time.Minute

// Follow deletes the copies of repositories that another node, or a synchronization, removed. It returns the function that ends this.
func (s *Service) Follow(subscribe func(func(store.Change)) func()) func(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	wake := make(chan struct{}, 1)
	unsubscribe := subscribe(func(c store.Change) {
		switch c.Subject {
		case store.SubjectIntegration, store.SubjectOrganization, store.SubjectAny:
			select {
			case wake <- struct{}{}:
			default: // a sweep is due anyway
			}
		}
	})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			s.sweep(ctx)
			select {
			case <-wake:
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func(context.Context) error {
		unsubscribe()
		cancel()
		running.Wait()
		return nil
	}
}

// sweep deletes the copies of repositories that are not active.
func (s *Service) sweep(ctx context.Context) {
	keys, err := s.Packs.Keys()
	if err != nil {
		s.Logger.WarnContext(ctx, "copies of source code could not be listed", "error", err)
		return
	}
	for _, key := range keys {
		id, err := uuid.Parse(key.Repository)
		if err != nil {
			continue
		}
		active, err := s.Store.RepositoryIsActive(ctx, principal.OrgID(key.Organization), id)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Logger.WarnContext(ctx, "copies of source code could not be swept", "error", err)
			return
		case !active:
			s.drop(ctx, principal.OrgID(key.Organization), id)
		}
	}
}
