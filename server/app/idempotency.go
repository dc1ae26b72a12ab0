package app

import (
	"context"
	"sync"

	"github.com/svc-observability/svc/server/idempotency"
)

// openIdempotency opens the record of answers to create calls. It removes old answers until the server stops.
func (a *App) openIdempotency() (*idempotency.Keys, error) {
	sealer, err := a.hasher.Sealer("idempotency")
	if err != nil {
		return nil, err
	}
	keys := idempotency.New(a.store, sealer, a.hasher.Hash, a.log)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { keys.Run(ctx) })
	a.onClose("idempotency keys", func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	return keys, nil
}
