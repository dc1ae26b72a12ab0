package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/work"
)

// heartbeat requests the URL of a monitor outside each minute while alert rules are evaluated in time. The monitor raises an alarm when the
// requests stop: that is also when this installation cannot.
func (a *App) heartbeat(ctx context.Context, shard *work.Shard) {
	// The operator chose the URL, so it may lead anywhere. Its path can hold a secret: no error shows it.
	client := &http.Client{
		Timeout:       limits.HeartbeatTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	work.Tick(ctx, shard, limits.HeartbeatEvery, 0, func(ctx context.Context, now time.Time) error {
		late, err := a.store.LateAlerts(ctx, now.Add(-limits.SetupAlertDelay))
		if err != nil {
			return err
		}
		if late.Count > 0 {
			a.log.Error("alert rules are not evaluated in time, so the heartbeat is left out", "organizations", late.Count, "through", late.Oldest)
			return nil
		}
		return beat(ctx, client, a.cfg.HeartbeatURL.Reveal())
	})
}

func beat(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("heartbeat: the URL cannot be requested")
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
