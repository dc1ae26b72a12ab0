package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse"
)

// mountHealth serves the paths of load balancers and monitors, without credentials: /healthz (the process answers), /readyz (the
// parts that a request needs answer too), /version and /metrics.
func (a *App) mountHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		status, checks := http.StatusOK, map[string]string{}
		for name, c := range a.checks(ctx) {
			checks[name] = "ok"
			if c.err != nil {
				// The error goes to the log only, because anybody may read this path.
				a.log.Warn("not ready", "check", name, "error", c.err)
				checks[name] = c.fault
				status = http.StatusServiceUnavailable
			}
		}
		if status != http.StatusOK {
			w.Header().Set("Retry-After", "1")
		}
		writeJSON(w, status, map[string]any{"status": http.StatusText(status), "checks": checks})
	})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"version": a.opts.Version, "go": runtime.Version(), "region": a.cfg.Region})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{Registry: a.registry}))
}

// check is the state of a part that requests need. The fault is a constant text, which anybody may see.
type check struct {
	err   error
	fault string
}

func (a *App) checks(ctx context.Context) map[string]check {
	all := map[string]check{"database": {a.store.Ping(ctx), "unavailable"}, "warehouse": a.checkWarehouse(ctx)}
	if a.queue != nil {
		all["ingest_queue"] = a.checkQueue()
	}
	return all
}

func (a *App) checkWarehouse(ctx context.Context) check {
	err := a.warehouse.Ping(ctx)
	if errors.Is(err, warehouse.ErrHeld) {
		return check{err, "unavailable: it could not be opened or migrated; the log has the reason, and data/queue keeps what is sent"}
	}
	if err != nil {
		return check{err, "unavailable: it does not answer"}
	}
	if a.pipeline != nil {
		if s := a.pipeline.Stats(); s.Failing != nil && time.Since(s.FailingSince) > limits.InsertsFail {
			return check{s.Failing, "inserts fail: the log has the reason, and the queue keeps what is sent"}
		}
	}
	return check{}
}

func (a *App) checkQueue() check {
	err := a.queue.Writable()
	if errors.Is(err, queue.ErrFull) {
		return check{err, "full: it has reached its bound, or the disk has no room for it; exporters must retry"}
	}
	return check{err, "unavailable: it cannot write; exporters must retry"}
}

// ready returns the combined result of all checks, for gRPC health.
func (a *App) ready(ctx context.Context) error {
	var errs []error
	for _, c := range a.checks(ctx) {
		errs = append(errs, c.err)
	}
	return errors.Join(errs...)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// This fails only when the client is gone.
	_ = json.NewEncoder(w).Encode(body)
}
