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
			a.log.Warn("tables of this version do not show all that older ones stored; tried again at the next start", "error", err)
		case hours > 0:
			a.log.Info("tables of this version show what older ones stored", "hours", hours)
		}
	}()
	a.onClose("backfill", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
	return nil
}
