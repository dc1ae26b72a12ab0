package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/rpc"
)

// limiters makes a rate limit. Those of one name share their counts where nodes count together.
type limiters func(name string, requests int, window time.Duration) rpc.Limiter

// openLimiters returns what makes the rate limits of the API: counted in Redis by all nodes when one is configured, by this process
// for itself otherwise, and in Redis what bounds attempts to sign in. A Redis that is away does not stop the start, as it does not stop requests.
func (a *App) openLimiters(ctx context.Context) (limiters, auth.Buckets, error) {
	if a.cfg.RedisURL == "" {
		return func(_ string, requests int, window time.Duration) rpc.Limiter {
			return rpc.NewWindowLimiter(requests, window)
		}, nil, nil
	}
	// The fingerprint is the same on nodes of one installation only: those whose secret key is the same.
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
	return func(name string, requests int, window time.Duration) rpc.Limiter {
		return client.Limiter(name, requests, window)
	}, client.Buckets("attempts"), nil
}

// openDeniedCallLog starts the writer of refused calls to the audit log. It runs until the server stops.
func (a *App) openDeniedCallLog() (*rpc.DeniedCallLog, error) {
	denied := rpc.NewDeniedCallLog(a.store, a.log)
	a.onClose("log of denied calls", func(context.Context) error { denied.Close(); return nil })
	return denied, a.registry.Register(denied)
}
