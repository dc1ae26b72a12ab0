package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// closer ends one part of the server.
type closer struct {
	name string
	// until is the deadline of this part, in percent of the time for the stop. If the part ends earlier, the next ones have more
	// time.
	until int
	// door marks the servers: they stop at the same time, before everything else.
	door  bool
	close func(context.Context) error
}

// onClose registers a function for Close. The last one registered runs first.
func (a *App) onClose(name string, fn func(context.Context) error) {
	a.closers = append(a.closers, closer{name: name, until: limits.StopSaves, close: fn})
}

// onCloseUntil is onClose with another share of the time.
func (a *App) onCloseUntil(name string, until int, fn func(context.Context) error) {
	a.closers = append(a.closers, closer{name: name, until: until, close: fn})
}

// onCloseDoor registers a function that stops a server.
func (a *App) onCloseDoor(name string, fn func(context.Context) error) {
	a.closers = append(a.closers, closer{name: name, until: limits.StopRequests, door: true, close: fn})
}

// Close stops the servers, and then closes everything else that New opened, in reverse order. Each part has its share of the
// shutdown timeout, or of the time until the deadline of ctx. A second call does nothing.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	a.closed.Do(func() {
		start := time.Now()
		total := a.cfg.ShutdownTimeout
		if end, ok := ctx.Deadline(); ok {
			total = time.Until(end)
		}
		one := func(c closer) error {
			ctx, cancel := context.WithDeadline(ctx, start.Add(total*time.Duration(c.until)/100))
			defer cancel()
			if err := c.close(ctx); err != nil {
				return fmt.Errorf("closing %s: %w", c.name, err)
			}
			return nil
		}
		var doors sync.WaitGroup
		stopped := make([]error, len(a.closers))
		for i, c := range a.closers {
			if c.door {
				doors.Go(func() { stopped[i] = one(c) })
			}
		}
		doors.Wait()
		errs = append(errs, stopped...)
		for _, c := range slices.Backward(a.closers) {
			if !c.door {
				errs = append(errs, one(c))
			}
		}
	})
	return errors.Join(errs...)
}

// stopPipeline stores the backlog within its share of the time. The rest stays in the queue for the next start. That is not an
// error.
func (a *App) stopPipeline(ctx context.Context) error {
	err := a.pipeline.Close(ctx)
	if errors.Is(err, pipeline.ErrBacklog) {
		a.log.Info("the stop leaves acknowledged telemetry in the queue; the next start stores it",
			"oldest", a.pipeline.Stats().OldestUnflushed.Round(time.Second).String())
		return nil
	}
	return err
}

// stopEngine ends the process of the engine. If it takes too long, it is killed. That loses nothing: rows are on disk before the
// queue gives up their records.
func (a *App) stopEngine(ctx context.Context) error {
	err := a.supervisor.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, chdb.ErrStuck) {
		a.log.Warn("the warehouse process was ended by force, because its statements did not end in time", "error", err)
		return nil
	}
	return err
}
