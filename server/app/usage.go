package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/usage"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// lastSave bounds the wait of a stop for a database that does not accept the last counts and outcomes.
const lastSave = limits.StopSaveTime

// openUsage starts the parts that record requests after their answer. They stop after the doors and the pipeline, since telemetry
// comes first.
func (a *App) openUsage(node string) error {
	meter, err := usage.Start(usage.Config{Store: usage.Database{Store: a.store}, Node: node, Logger: a.log})
	if err != nil {
		return err
	}
	a.usage = meter
	a.onClose("ingest usage", within(lastSave, meter.Close))
	unsubscribe := a.store.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectIngestPolicy || c.Subject == store.SubjectAny && c.Cause == nil {
			meter.Reread()
		}
	})
	a.onClose("changes of plans", func(context.Context) error { unsubscribe(); return nil })
	recorder, err := outcome.Start(outcome.Config{Store: outcome.Database{Store: a.store}, Node: node, Logger: a.log})
	if err != nil {
		return err
	}
	a.outcomes = recorder
	a.onClose("ingest outcomes", within(lastSave, recorder.Close))
	a.registry.MustRegister(meter, recorder)
	return nil
}

func within(limit time.Duration, stop func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return stop(ctx)
	}
}
