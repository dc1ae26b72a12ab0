package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
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
		for name, err := range a.checks(ctx) {
			checks[name] = "ok"
			if err != nil {
				// The reason goes to the log only, because this path asks for no credential.
				a.log.Warn("not ready", "check", name, "error", err)
				checks[name] = "unavailable"
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

func (a *App) checks(ctx context.Context) map[string]error {
	return map[string]error{"database": a.store.Ping(ctx), "warehouse": a.warehouse.Ping(ctx)}
}

// ready returns the combined result of all checks, for gRPC health.
func (a *App) ready(ctx context.Context) error {
	var errs []error
	for _, err := range a.checks(ctx) {
		errs = append(errs, err)
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
