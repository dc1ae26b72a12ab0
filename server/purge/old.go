package purge

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// OldEvery is the time between two looks for rows that are old, also after a failure.
const OldEvery = 10 * time.Minute

// Old removes the rows of the database that are older than their retention, and returns the time of the next look.
func Old(ctx context.Context, s *store.Store) (next time.Time, err error) {
	now := time.Now()
	_, keys := s.PurgeIdempotencyKeys(ctx)
	swept, deliveries := s.SweepDeliveries(ctx, now.Add(-limits.DeliveryRetention), limits.DeliverySweep)
	next = time.Now().Add(OldEvery)
	if swept == limits.DeliverySweep {
		next = time.Now() // there may be more
	}
	return next, errors.Join(
		keys, deliveries,
		s.SweepAlertChecks(ctx, now.Add(-limits.AlertCheckRetention)),
		s.SweepIntegrations(ctx, now.Add(-limits.WebhookRetention)),
		s.SweepPlatformEvents(ctx, now.Add(-limits.PlatformEvents)),
	)
}
