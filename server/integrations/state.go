package integrations

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Succeeded is the account after a synchronization that succeeded.
func Succeeded(c store.IntegrationConnection, got Synced, now time.Time) store.IntegrationConnection {
	c.Name, c.Settings = got.Name, got.Settings
	c.State, c.Reason, c.LastSyncError, c.Failures, c.FailingSince = store.IntegrationConnected, "", "", 0, nil
	c.LastSyncAt = &now
	every := got.Every
	if every == 0 {
		every = limits.IntegrationSync
	}
	c.SyncDueAt = new(now.Add(every - jitter(c, every/8)))
	return c
}

// Failed is the account after a synchronization that failed. The first refusal of our credentials is tried again after a minute, because
// a provider that spreads a new key refuses it for moments; a second one, a minute later or more, needs a person.
func Failed(c store.IntegrationConnection, err error, now time.Time) store.IntegrationConnection {
	var p *Problem
	if !errors.As(err, &p) {
		p = NewProblem(Upstream, err, "The provider failed.")
	}
	refusedBefore := c.LastSyncError == p.Text && c.FailingSince != nil && now.Sub(*c.FailingSince) >= limits.IntegrationRefusal
	c.LastSyncError = p.Text
	if c.FailingSince == nil {
		c.FailingSince = &now
	}
	if p.Kind != RateLimited { // a lasting lack of quota counts by its time alone
		c.Failures++
	}
	switch {
	case p.Kind == Gone:
		c.State, c.Reason, c.SyncDueAt = store.IntegrationDisconnected, p.Text, nil
		return c
	case p.Kind == Suspended, p.Kind == Unauthorized && refusedBefore:
		c.State, c.Reason = store.IntegrationReconnectNeeded, p.Text
	case c.State == store.IntegrationConnected &&
		(c.Failures >= limits.IntegrationFailures || now.Sub(*c.FailingSince) >= limits.IntegrationFailing):
		c.State, c.Reason = store.IntegrationError, p.Text
	}
	if p.Kind == RateLimited {
		due := now.Add(min(max(p.RetryAfter, limits.IntegrationRetryLeast), limits.IntegrationPause))
		c.SyncDueAt = &due
		// Nobody has to do anything, so people learn when it goes on.
		c.LastSyncError = fmt.Sprintf("%s The server goes on at %s.", p.Text, due.UTC().Format("2006-01-02 15:04:05 UTC"))
		return c
	}
	pause := limits.IntegrationRetryMost
	switch {
	case c.State == store.IntegrationReconnectNeeded:
		pause = limits.IntegrationProbe
	case p.Kind == Unauthorized:
		pause = limits.IntegrationRefusal
	case c.Failures < 8:
		pause = min(pause, limits.IntegrationRetryLeast<<(c.Failures-1))
	}
	spread := jitter(c, pause/8)
	if pause >= limits.IntegrationRetryMost {
		spread = -spread
	}
	c.SyncDueAt = new(now.Add(pause + spread))
	return c
}

// jitter spreads the work of accounts that failed together. It is the same for one account, so tests can tell it.
func jitter(c store.IntegrationConnection, most time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write(c.ID[:])
	return time.Duration(h.Sum32()%1000) * most / 1000
}
