package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// prepareWarehouse brings the schema up to date and checks that the telemetry belongs to this installation.
func (a *App) prepareWarehouse(ctx context.Context) error {
	err := a.warehouse.Migrate(ctx)
	if err != nil {
		if a.cfg.WarehouseURL.Reveal() != "" {
			return fmt.Errorf("warehouse-url: %s: %w", a.warehouse, err)
		}
		return err
	}
	return a.owner().ClaimWarehouse(ctx, a.warehouse)
}

// goesOnWithout reports whether the server starts without its warehouse: an existing installation whose warehouse is damaged or does not
// answer. Ingest goes on into the queue, and reads answer 503. Faults of the configuration end the start, and so does every failure of
// a first start, whose warehouse holds nothing yet.
func (a *App) goesOnWithout(ctx context.Context, err error) bool {
	if a.opts.adopt || ctx.Err() != nil {
		return false
	}
	var ofConfiguration *config.Error
	for _, fatal := range []error{warehouse.ErrAuth, warehouse.ErrConfig, warehouse.ErrClient, warehouse.ErrMalformed} {
		if errors.Is(err, fatal) || errors.As(err, &ofConfiguration) {
			return false
		}
	}
	var ofWarehouse *warehouse.Error
	if !errors.As(err, &ofWarehouse) && !errors.Is(err, chdb.ErrCannotOpen) {
		return false
	}
	all, err := a.store.ListOrganizations(ctx)
	return err == nil && len(all) > 0
}

// repairLater holds the warehouse and prepares it again and again in the background, until that succeeds.
func (a *App) repairLater(cause error) {
	a.warehouse.Hold(cause)
	a.log.Error("the warehouse cannot be opened: ingest goes on into the queue, reads answer 503, and svc tries again", "error", cause)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		logged := cause.Error()
		for {
			select {
			case <-time.After(limits.WarehouseRetry):
			case <-ctx.Done():
				return
			}
			if a.supervisor != nil && !a.supervisor.Ready() {
				continue // it is started again by its supervisor, which logs why it ends
			}
			err := a.prepareWarehouse(ctx)
			if err == nil {
				a.warehouse.Release()
				a.log.Info("the warehouse is open again, and the queue is being stored; after a restart long windows are read from rollups again")
				return
			}
			if ctx.Err() == nil {
				a.warehouse.Hold(err)
				if err.Error() != logged { // an outage may last for hours
					logged = err.Error()
					a.log.Error("the warehouse still cannot be opened", "error", err)
				}
			}
		}
	}()
	a.onClose("repair of the warehouse", func(context.Context) error {
		cancel()
		<-done
		return nil
	})
}
