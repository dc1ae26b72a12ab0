package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/rpc"
)

// limiters makes a rate limit. Limits of one name share their counts if the nodes count together.
type limiters func(name string, requests int, window time.Duration) ratelimit.Limiter

// openLimiters returns the maker of the API's rate limits, and the buckets that bound attempts to sign in. With Redis, all nodes
// count together. Without Redis, each process counts for itself and there are no shared buckets. If Redis does not answer, the
// server still starts and requests still pass.
func (a *App) openLimiters(ctx context.Context) (limiters, auth.Buckets, error) {
	if a.cfg.RedisURL == "" {
		return func(_ string, requests int, window time.Duration) ratelimit.Limiter {
			return ratelimit.NewWindow(requests, window)
		}, nil, nil
	}
	// The fingerprint is derived from the secret key, so it is the same on the nodes of one installation only.
	client, err := ratelimit.Open(a.cfg.RedisURL.Reveal(), a.hasher.Fingerprint(), a.log)
	if err != nil {
		return nil, nil, a.cfg.Invalid("redis-url", err.Error())
	}
	a.onClose("redis", func(context.Context) error { return client.Close() })
	if err := client.Ping(ctx); err != nil {
		a.log.Warn("redis does not answer: requests are not limited until it does", "error", err)
	}
	if err := a.registry.Register(client); err != nil {
		return nil, nil, err
	}
	return func(name string, requests int, window time.Duration) ratelimit.Limiter {
		return client.Window(name, requests, window)
	}, client.Buckets("attempts"), nil
}

// openDeniedCallLog starts the writer that records refused calls in the audit log. It runs until the server stops.
func (a *App) openDeniedCallLog() (*rpc.DeniedCallLog, error) {
	denied := rpc.NewDeniedCallLog(a.store, a.log)
	a.onClose("log of denied calls", func(context.Context) error { denied.Close(); return nil })
	return denied, a.registry.Register(denied)
}
