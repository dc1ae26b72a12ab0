package integrations_test

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// TestStates moves an account through failures of each kind and back.
func TestStates(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	fresh := store.IntegrationConnection{State: store.IntegrationConnected}
	fail := func(c store.IntegrationConnection, kind integrations.Kind, times int, every time.Duration) store.IntegrationConnection {
		at := now
		for range times {
			c = integrations.Failed(c, integrations.NewProblem(kind, nil, "It failed."), at)
			at = at.Add(every)
		}
		return c
	}
	for name, c := range map[string]struct {
		kind  integrations.Kind
		times int
		every time.Duration
		state string
	}{
		"two failures":   {integrations.Upstream, 2, time.Minute, store.IntegrationConnected},
		"three failures": {integrations.Upstream, 3, time.Minute, store.IntegrationError},
		"two failures, a quarter of an hour apart": {integrations.Upstream, 2, limits.IntegrationFailing, store.IntegrationError},
		"refused once":          {integrations.Unauthorized, 1, time.Minute, store.IntegrationConnected},
		"refused twice":         {integrations.Unauthorized, 2, time.Minute, store.IntegrationReconnectNeeded},
		"refused again at once": {integrations.Unauthorized, 2, time.Second, store.IntegrationConnected},
		"a short pause":         {integrations.RateLimited, 10, time.Minute, store.IntegrationConnected},
		"suspended":             {integrations.Suspended, 1, time.Minute, store.IntegrationReconnectNeeded},
		"uninstalled":           {integrations.Gone, 1, time.Minute, store.IntegrationDisconnected},
		"without quota":         {integrations.RateLimited, 20, time.Minute, store.IntegrationError},
	} {
		got := fail(fresh, c.kind, c.times, c.every)
		if got.State != c.state || got.LastSyncError == "" {
			t.Errorf("%s: %s (%s)", name, got.State, got.LastSyncError)
		}
		if (got.SyncDueAt == nil) != (c.state == store.IntegrationDisconnected) {
			t.Errorf("%s: due at %v", name, got.SyncDueAt)
		}
		back := integrations.Succeeded(got, integrations.Synced{Name: "acme"}, now.Add(time.Hour))
		if back.State != store.IntegrationConnected || back.Reason != "" || back.LastSyncError != "" || back.Failures != 0 ||
			back.FailingSince != nil ||
			back.SyncDueAt.After(now.Add(time.Hour+limits.IntegrationSync)) || back.SyncDueAt.Before(now.Add(limits.IntegrationSync)) {
			t.Errorf("%s, then a success: %+v", name, back)
		}
	}
	// A failure of another kind before a refusal does not count as the first refusal.
	mixed := fail(fail(fresh, integrations.Upstream, 1, 0), integrations.Unauthorized, 1, 0)
	if mixed.State != store.IntegrationConnected {
		t.Errorf("one failure and one refusal: %s", mixed.State)
	}
	// A provider that asks for a pause is no failure to look into: people learn when it goes on.
	paused := integrations.NewProblem(integrations.RateLimited, nil, "Acme asks for a pause.")
	paused.RetryAfter = 95 * time.Second
	if got := integrations.Failed(fresh, paused, now).LastSyncError; got != "Acme asks for a pause. The server goes on at 2026-11-27 "+
		"12:01:35 UTC." {
		t.Errorf("a pause: %q", got)
	}
	// Pauses grow from the least to the most, and never shrink while the account fails.
	c, last := fresh, time.Duration(0)
	for i := range 12 {
		c = fail(c, integrations.Upstream, 1, 0)
		pause := c.SyncDueAt.Sub(now)
		if pause < limits.IntegrationRetryLeast || pause > limits.IntegrationRetryMost+limits.IntegrationRetryMost/8 || pause < last {
			t.Errorf("failure %d: a pause of %s after one of %s", i+1, pause, last)
		}
		last = pause
	}
}
