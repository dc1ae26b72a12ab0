package alerting

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Heartbeat requests the URL of a monitor outside while alert rules are evaluated in time. The monitor raises an alarm when the requests
// stop: that is also when this installation cannot.
type Heartbeat struct {
	// Store finds the organizations whose rules are late.
	Store interface {
		LateAlerts(ctx context.Context, before time.Time) (store.Overdue, error)
	}
	// URL may lead anywhere, because the operator chose it. Its path can hold a secret: no error shows it.
	URL    string
	Logger *slog.Logger
}

// Beat requests the URL, unless rules are late.
func (h Heartbeat) Beat(ctx context.Context, now time.Time) error {
	late, err := h.Store.LateAlerts(ctx, now.Add(-limits.SetupAlertDelay))
	if err != nil {
		return err
	}
	if late.Count > 0 {
		h.Logger.Error("alert rules are not evaluated in time, so the heartbeat is left out", "organizations", late.Count, "through", late.Oldest)
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL, http.NoBody)
	if err != nil {
		return fmt.Errorf("heartbeat: the URL cannot be requested")
	}
	client := &http.Client{
		Timeout:       limits.HeartbeatTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("heartbeat: %s does not answer", req.URL.Host)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("heartbeat: %s answers %d", req.URL.Host, res.StatusCode)
	}
	return nil
}
