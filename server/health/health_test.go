package health_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/health"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse"
)

func TestPaths(t *testing.T) {
	checks := map[string]health.Check{"database": {}, "warehouse": {Fault: "unavailable: it does not answer"}}
	var log strings.Builder
	h := health.New(health.Config{
		Checks:  func(context.Context) map[string]health.Check { return checks },
		Metrics: http.NotFoundHandler(), Logger: slog.New(slog.NewTextHandler(&log, nil)), Version: "v1", Region: "eu",
	})
	mux := http.NewServeMux()
	h.Mount(mux)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	if w := get("/healthz"); w.Code != 200 || w.Body.String() != "{\"status\":\"ok\"}\n" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := get("/version"); w.Code != 200 || !strings.Contains(w.Body.String(), `"region":"eu","version":"v1"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := get("/readyz"); w.Code != 200 || w.Body.String() != `{"checks":{"database":"ok","warehouse":"ok"},"status":"OK"}`+"\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if err := h.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	down := errors.New("dial unix /secret/path: connection refused")
	checks["warehouse"] = health.Check{Err: down, Fault: "unavailable: it does not answer"}
	w := get("/readyz")
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" ||
		w.Body.String() != `{"checks":{"database":"ok","warehouse":"unavailable: it does not answer"},"status":"Service Unavailable"}`+"\n" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if !strings.Contains(log.String(), down.Error()) {
		t.Errorf("the log lacks the cause: %s", &log)
	}
	if err := h.Ready(t.Context()); !errors.Is(err, down) {
		t.Error(err)
	}
}

type pinger struct{ err error }

func (p pinger) Ping(context.Context) error { return p.err }

func TestWarehouse(t *testing.T) {
	failing := func(since time.Duration) func() pipeline.Stats {
		return func() pipeline.Stats {
			return pipeline.Stats{Failing: errors.New("no"), FailingSince: time.Now().Add(-since)}
		}
	}
	for name, tc := range map[string]struct {
		ping  error
		stats func() pipeline.Stats
		want  string
	}{
		"works":                   {nil, func() pipeline.Stats { return pipeline.Stats{} }, ""},
		"works, without a queue":  {nil, nil, ""},
		"does not answer":         {errors.New("refused"), nil, "unavailable: it does not answer"},
		"is held":                 {warehouse.ErrHeld, nil, "unavailable: it could not be opened"},
		"inserts failed just now": {nil, failing(0), ""},
		"inserts fail for long":   {nil, failing(limits.InsertsFail + time.Second), "inserts fail:"},
	} {
		c := health.Warehouse(t.Context(), pinger{tc.ping}, tc.stats)
		if (c.Err == nil) != (tc.want == "") || !strings.HasPrefix(c.Fault, tc.want) {
			t.Errorf("%s: %+v, want %q", name, c, tc.want)
		}
	}
}
