package ingest

import (
	"strings"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Signals returns the names under which svc_ingest_items_total counts items.
func Signals() []string {
	return []string{
		otlp.Traces.String(), otlp.Logs.String(), otlp.Metrics.String(), activity.SessionReplays.String(), activity.ProductEvents.String(),
	}
}

// ItemTable returns the signal of a warehouse table that holds one item in each row. It returns "" for tables of rollups.
func ItemTable(table string) string {
	switch {
	case table == "spans":
		return otlp.Traces.String()
	case table == "logs":
		return otlp.Logs.String()
	case strings.HasPrefix(table, "metrics_"):
		return otlp.Metrics.String()
	case table == "session_replays", table == "session_replay_events", table == "session_events":
		return activity.SessionReplays.String()
	case table == "product_events":
		return activity.ProductEvents.String()
	default:
		return ""
	}
}
