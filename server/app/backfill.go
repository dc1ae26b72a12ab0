package app

import "context"

// openBackfill fills what a later version added with what older ones stored, in the background. A ClickHouse server can have several nodes of svc,
// which would add rows twice: there it is a command, `svc migrate backfill`.
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
