package alerting

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

type lateRules struct {
	late   store.Overdue
	before time.Time
}

func (l *lateRules) LateAlerts(_ context.Context, before time.Time) (store.Overdue, error) {
	l.before = before
	return l.late, nil
}

// TestBeat: a monitor that answers is fine. Errors name its host, and never its path, which is a secret. While rules are late, the monitor
// gets no request.
func TestBeat(t *testing.T) {
	status, requests := http.StatusOK, 0
	monitor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; r.URL.Path != "/beat/s3cret" {
			t.Errorf("the path is %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	rules, now := &lateRules{}, time.Now()
	h := Heartbeat{Store: rules, URL: monitor.URL + "/beat/s3cret", Logger: slog.New(slog.DiscardHandler)}
	if err := h.Beat(t.Context(), now); err != nil || requests != 1 || now.Sub(rules.before) != limits.SetupAlertDelay {
		t.Errorf("%v after %d requests, for rules before %s", err, requests, rules.before)
	}
	rules.late.Count = 1
	if err := h.Beat(t.Context(), now); err != nil || requests != 1 {
		t.Errorf("while rules are late: %v after %d requests", err, requests)
	}
	rules.late.Count = 0
	status = http.StatusNotFound
	refused := h.Beat(t.Context(), now)
	monitor.Close()
	silent := h.Beat(t.Context(), now)
	for name, err := range map[string]error{"refused": refused, "silent": silent} {
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
