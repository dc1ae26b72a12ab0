package instrumentation

import (
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// TestPicturePause: the check of accounts tells that messages have no pictures, as long as that is so. It is no failure.
func TestPicturePause(t *testing.T) {
	now := time.Now()
	for since, told := range map[time.Duration]bool{time.Minute: true, limits.ChartPause + time.Second: false} {
		at := now.Add(-since)
		got := accountsAnswer(&evidence{now: now, accounts: []store.IntegrationConnection{
			{Name: "Acme", State: store.IntegrationConnected, PictureFailedAt: &at}, {Name: "Other", State: store.IntegrationConnected},
		}})
		if strings.Contains(got.detail, "Messages to Acme have no pictures until") != told || strings.Contains(got.detail, "Other") ||
			len(got.affected) != 0 {
			t.Errorf("a picture failed %s ago: %+v", since, got)
		}
	}
}
