package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/rpc"
)

// nodeLimits has the limits of the API that its nodes share. Only rate is set without Redis: each process counts for itself then.
type nodeLimits struct {
	// rate makes a rate limit. Limits of one name share their counts.
	rate func(name string, requests int, window time.Duration) ratelimit.Limiter
	// attempts bounds attempts to sign in.
	attempts auth.Buckets
	// reads are the places of an organization for reads of telemetry, charts and sql those for charts and for SQL among them.
	reads, charts, sql read.Places
}

// openLimits connects to Redis, if there is one. If Redis does not answer, the server still starts and requests still pass.
func (a *App) openLimits(ctx context.Context) (nodeLimits, error) {
	if a.cfg.RedisURL == "" {
		return nodeLimits{rate: func(_ string, requests int, window time.Duration) ratelimit.Limiter {
			return ratelimit.NewWindow(requests, window)
		}}, nil
	}
	// The fingerprint is derived from the secret key, so it is the same on the nodes of one installation only.
	client, err := ratelimit.Open(a.cfg.RedisURL.Reveal(), a.hasher.Fingerprint(), a.log)
	if err != nil {
		return nodeLimits{}, a.cfg.Invalid("redis-url", err.Error())
	}
	a.onClose("redis", func(context.Context) error { return client.Close() })
	if err := client.Ping(ctx); err != nil {
		a.log.Warn("redis does not answer: requests are not limited until it does", "error", err)
	}
	if err := a.registry.Register(client); err != nil {
		return nodeLimits{}, err
	}
	return nodeLimits{
		rate:     client.Window,
		attempts: client.Buckets("attempts"),
		reads:    client.Places("reads", limits.ReadsOfOrganization),
		charts:   client.Places("charts", limits.ChartReadsOfOrganization),
		sql:      client.Places("sql", limits.SQLStatementsOfOrganization),
	}, nil
}

// openDeniedCallLog starts the writer that records refused calls in the audit log. It runs until the server stops.
func (a *App) openDeniedCallLog() (*rpc.DeniedCallLog, error) {
	denied := rpc.NewDeniedCallLog(a.store, a.log)
	a.onClose("log of denied calls", func(context.Context) error { denied.Close(); return nil })
	return denied, a.registry.Register(denied)
}
