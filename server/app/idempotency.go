package app

import "github.com/svc-observability/svc/server/idempotency"

// openIdempotency opens the record of answers to create calls.
func (a *App) openIdempotency() (*idempotency.Keys, error) {
	sealer, err := a.hasher.Sealer("idempotency")
	if err != nil {
		return nil, err
	}
	return idempotency.New(a.store, sealer, a.hasher.Hash, a.log), nil
}
