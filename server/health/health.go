// Package health serves the paths of load balancers and monitors, without credentials: /healthz (the process answers), /readyz (the
// parts that a request needs answer too), /version and /metrics.
package health

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"time"
)

// timeout bounds the checks of one request.
const timeout = 2 * time.Second

// Check is the state of a part that requests need. Anybody may see the fault, so it is a constant text. The error goes to the log only.
type Check struct {
	Err   error
	Fault string
}

// Config configures a Health.
type Config struct {
	// Checks returns the state of each part by its name.
	Checks  func(ctx context.Context) map[string]Check
	Metrics http.Handler
	Logger  *slog.Logger
	Version string
	Region  string
}

// Health answers whether the server works.
type Health struct{ cfg Config }

// New returns a Health.
func New(cfg Config) *Health { return &Health{cfg} }

// Mount adds the paths to a mux.
func (h *Health) Mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", h.readyz)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"version": h.cfg.Version, "go": runtime.Version(), "region": h.cfg.Region})
	})
	mux.Handle("GET /metrics", h.cfg.Metrics)
}

func (h *Health) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	status, checks := http.StatusOK, map[string]string{}
	for name, c := range h.cfg.Checks(ctx) {
		checks[name] = "ok"
		if c.Err != nil {
			h.cfg.Logger.Warn("not ready", "check", name, "error", c.Err)
			checks[name] = c.Fault
			status = http.StatusServiceUnavailable
		}
	}
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]any{"status": http.StatusText(status), "checks": checks})
}

// Ready returns the errors of all checks, for gRPC health.
func (h *Health) Ready(ctx context.Context) error {
	var errs []error
	for _, c := range h.cfg.Checks(ctx) {
		errs = append(errs, c.Err)
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
