package app

import "context"

// openBackfill updates, in the background, the rows that older versions stored, so that they have what later versions added. An
// external ClickHouse server can have several nodes of svc, each of which would add the same rows. There it is a command instead:
// `svc migrate backfill`.
func (a *App) openBackfill(context.Context) error {
	if a.cfg.WarehouseURL.Reveal() != "" {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		hours, err := a.warehouse.Backfill(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			a.log.Warn("telemetry of older versions could not be copied into new tables; the next start tries again", "error", err)
		case hours > 0:
			a.log.Info("copied telemetry of older versions into new tables", "hours", hours)
		}
	}()
	a.onClose("backfill", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
	return nil
}
