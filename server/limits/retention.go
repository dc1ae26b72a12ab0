package limits

import (
	"fmt"
	"time"
)

// Retention of telemetry.
const (
	TraceRetention        = 30 * Day
	LogRetention          = 30 * Day
	MetricRetention       = 90 * Day
	SessionRetention      = 30 * Day
	ProductEventRetention = 365 * Day
	ErrorRetention        = 90 * Day
	// RollupRetention is the retention of the counts by minute and hour, which serve reads of services, the service map and charts.
	// It also holds for the catalogs of metrics and attribute keys.
	RollupRetention = 90 * Day
	// ClockAhead is how far in the future of the server's clock telemetry may be dated.
	ClockAhead = 24 * time.Hour
	// OutcomeRetention is how long the answers to an ingest key are remembered.
	OutcomeRetention = 30 * Day
	// IdempotencyRetention is how long the answer to a request with an Idempotency-Key is remembered.
	IdempotencyRetention = 24 * time.Hour
	// IdempotencyLease bounds the time for which a key is in use. It frees the key of a request whose process died. It is longer than any
	// request.
	IdempotencyLease = 2 * time.Minute
)

// Retention returns how long a table of the warehouse keeps its rows.
func Retention(table string) (time.Duration, error) {
	switch table {
	case "spans", "trace_roots":
		return TraceRetention, nil
	case "logs":
		return LogRetention, nil
	case "metrics_gauge", "metrics_sum", "metrics_histogram", "metrics_exponential_histogram", "metrics_summary":
		return MetricRetention, nil
	case "session_replays", "session_replay_events", "session_events":
		return SessionRetention, nil
	case "product_events":
		return ProductEventRetention, nil
	case "error_events":
		return ErrorRetention, nil
	case "metric_catalog", "attribute_keys", "service_minutes", "service_hours", "service_series", "service_peers", "operation_hours",
		"organization_minutes", "log_minutes", "call_hours":
		return RollupRetention, nil
	case "alert_checks":
		return AlertCheckRetention, nil
	case "alert_check_hours":
		return AlertCheckHourRetention, nil
	case "scrape_checks":
		return ScrapeCheckRetention, nil
	}
	return 0, fmt.Errorf("no retention is known for the table %q", table)
}

func retention() []Limit {
	return []Limit{
		lasts("TraceRetention", TraceRetention, "Spans and traces are kept for %s."),
		lasts("LogRetention", LogRetention, "Log records are kept for %s."),
		lasts("MetricRetention", MetricRetention, "Data points of metrics are kept for %s."),
		lasts("SessionRetention", SessionRetention, "Recorded sessions and their events are kept for %s."),
		lasts("ProductEventRetention", ProductEventRetention, "Product events are kept for %s."),
		lasts("ErrorRetention", ErrorRetention, "Errors are kept for %s."),
		lasts("RollupRetention", RollupRetention,
			"Counts by minute and hour of services, operations and log records, and the lists of metrics and attribute keys, are kept for %s."),
		lasts(
			"ClockAhead",
			ClockAhead,
			"Telemetry that is dated more than %s ahead of the server's clock, or further back than its retention, is rejected.",
		),
		lasts("OutcomeRetention", OutcomeRetention, "The last answers to each ingest key are remembered for %s."),
		lasts("IdempotencyRetention", IdempotencyRetention, "The answer to a request with an `Idempotency-Key` is remembered for %s."),
		lasts("IdempotencyLease", IdempotencyLease,
			"After a crash in the middle of a request, its `Idempotency-Key` can be used again after %s."),
	}
}
