package warehouse

import "slices"

// SQLTable is a table that tenants may read with their own SQL.
type SQLTable struct {
	Name string
	// Source is the table that holds the rows. If it is empty, Name is that table.
	Source string
	// Description is the meaning of a row. Notes warn of likely mistakes. Example is a statement that runs as it is.
	Description string
	Notes       []string
	Example     string
}

func (o SQLTable) source() string {
	if o.Source == "" {
		return o.Name
	}
	return o.Source
}

const (
	noteWeight = "Spans may be sampled, and each endpoint may have its own rate: count with sum(SampleRate), take " +
		"avgWeighted(DurationNano, SampleRate) and quantileTDigestWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16))), " +
		"or quantileExactWeighted with the same arguments. avg and quantile have no weight; quantile also reads a sample of the rows."
	noteAttributes = "Attributes are maps of text: SpanAttributes['http.route'] is '' where the key is missing; mapContains tells a missing " +
		"key from an empty value."
	noteTime     = "Give a range of Timestamp, for example $__timeFilter(Timestamp): without one the query reads every stored day."
	noteWeighted = "WeightedDurations is the state of quantilesTDigestWeighted(0.5, 0.95, 0.99): read it with " +
		"quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(WeightedDurations)."
	noteReceived = "SpanCount, ErrorCount and DurationQuantiles are of the received spans, without weight. EstimatedSpanCount, " +
		"EstimatedErrorCount and WeightedDurations are corrected for sampling."
	noteRollup = "The engine adds up rows of one key in the background, later: always aggregate."
)

const spanExample = `SELECT ServiceName, SpanName, sum(SampleRate) AS calls,
    quantileTDigestWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16))) / 1e6 AS p95_ms
FROM spans WHERE $__timeFilter(Timestamp) AND IsEntry GROUP BY ServiceName, SpanName ORDER BY calls DESC LIMIT 20`

// SQLTables lists the tables for SQL. A table that a migration adds must be listed here or in internalTables; a test checks this.
func SQLTables() []SQLTable {
	point := []string{noteTime, "SeriesHash tells the series of one metric apart. AggregationTemporality is Delta or Cumulative."}
	return []SQLTable{
		{
			Name: "spans", Description: "One row for each span.",
			Notes:   []string{noteTime, noteWeight, noteAttributes, "IsEntry is true for spans that enter a service."},
			Example: spanExample,
		},
		{
			Name:        "traces",
			Source:      "spans",
			Description: "Another name of spans: one row for each span.",
			Notes:       []string{noteTime, noteWeight, noteAttributes},
			Example: "SELECT TraceId, count() AS spans, max(HasError) AS failed FROM traces WHERE $__timeFilter(Timestamp) GROUP BY TraceId " +
				"ORDER BY spans DESC LIMIT 20",
		},
		{
			Name:        "trace_roots",
			Description: "One row for each root span: the list of traces, in the order of time.",
			Notes:       []string{noteTime},
			Example: "SELECT Timestamp, TraceId, ServiceName, SpanName, DurationNano / 1e6 AS ms FROM trace_roots WHERE " +
				"$__timeFilter(Timestamp) ORDER BY Timestamp DESC LIMIT 20",
		},
		{
			Name:        "logs",
			Description: "One row for each log record.",
			Notes: []string{
				noteTime,
				"hasAllTokens(Body, ['timeout']) uses the index of words, which are in lower case; LIKE reads every body.",
			},
			Example: "SELECT $__timeGroup(Timestamp) AS bucket, SeverityText, count() FROM logs WHERE $__timeFilter(Timestamp) GROUP BY bucket, " +
				"SeverityText ORDER BY bucket",
		},
		{
			Name:        "metrics_gauge",
			Description: "One row for each data point of a gauge.",
			Notes:       []string{noteTime, "SeriesHash tells the series of one metric apart."},
			Example: "SELECT $__timeGroup(Timestamp) AS bucket, MetricName, avg(Value) FROM metrics_gauge WHERE $__timeFilter(Timestamp) " +
				"GROUP BY bucket, MetricName ORDER BY bucket LIMIT 100",
		},
		{
			Name:        "metrics_sum",
			Description: "One row for each data point of a counter or an up-down counter.",
			Notes:       point,
			Example: "SELECT MetricName, max(IsMonotonic) AS counter, count() AS points FROM metrics_sum WHERE $__timeFilter(Timestamp) GROUP " +
				"BY MetricName ORDER BY points DESC LIMIT 20",
		},
		{
			Name:        "metrics_histogram",
			Description: "One row for each data point of a histogram with explicit bounds.",
			Notes:       point,
			Example: "SELECT MetricName, sum(Count) AS observations, sum(Sum) / sum(Count) AS mean FROM metrics_histogram WHERE " +
				"$__timeFilter(Timestamp) AND AggregationTemporality = 'Delta' GROUP BY MetricName LIMIT 20",
		},
		{
			Name:        "metrics_exponential_histogram",
			Description: "One row for each data point of an exponential histogram.",
			Notes:       point,
			Example: "SELECT MetricName, count() AS points FROM metrics_exponential_histogram WHERE $__timeFilter(Timestamp) GROUP BY " +
				"MetricName LIMIT 20",
		},
		{
			Name: "metrics_summary", Description: "One row for each data point of a summary.", Notes: []string{noteTime},
			Example: "SELECT MetricName, count() AS points FROM metrics_summary WHERE $__timeFilter(Timestamp) GROUP BY MetricName LIMIT 20",
		},
		{
			Name:        "metric_catalog",
			Description: "Metrics that arrived in each hour, with their type and unit.",
			Notes:       []string{noteRollup},
			Example: "SELECT MetricName, MetricType, sum(DataPointCount) AS points FROM metric_catalog WHERE $__timeFilter(Hour) GROUP BY " +
				"MetricName, MetricType ORDER BY points DESC LIMIT 20",
		},
		{
			Name:        "attribute_keys",
			Description: "Attribute keys that arrived in each hour, with the type of their values.",
			Notes:       []string{noteRollup, "Signal is traces, logs, metrics or product_events."},
			Example: "SELECT Signal, Scope, Key, sum(UsageCount) AS uses FROM attribute_keys WHERE $__timeFilter(Hour) GROUP BY Signal, " +
				"Scope, Key ORDER BY uses DESC LIMIT 50",
		},
		{
			Name:        "service_minutes",
			Description: "Calls, errors and durations of each service by minute.",
			Notes:       []string{noteRollup, noteWeighted, noteReceived},
			Example: "SELECT ServiceName, sum(EstimatedSpanCount) AS calls, sum(EstimatedErrorCount) AS errors, " +
				"quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(WeightedDurations) AS nanos " +
				"FROM service_minutes WHERE $__timeFilter(Minute) AND IsEntry GROUP BY ServiceName ORDER BY calls DESC LIMIT 20",
		},
		{
			Name: "organization_minutes", Description: "Calls, errors and durations of all services together by minute.",
			Notes: []string{noteRollup, noteWeighted},
			Example: "SELECT Minute, sum(EstimatedSpanCount) AS calls, quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(WeightedDurations) AS nanos " +
				"FROM organization_minutes WHERE $__timeFilter(Minute) AND IsEntry GROUP BY Minute ORDER BY Minute",
		},
		{
			Name:        "service_hours",
			Description: "Calls, errors and durations of each service by hour.",
			Notes:       []string{noteRollup, noteWeighted},
			Example: "SELECT ServiceName, sum(EstimatedSpanCount) AS calls, quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(WeightedDurations) AS nanos " +
				"FROM service_hours WHERE $__timeFilter(Hour) AND IsEntry GROUP BY ServiceName ORDER BY calls DESC LIMIT 20",
		},
		{
			Name:        "operation_hours",
			Description: "Calls, errors and durations of each operation of a service by hour.",
			Notes:       []string{noteRollup},
			Example: "SELECT ServiceName, SpanName, sum(EstimatedSpanCount) AS calls, sum(EstimatedErrorCount) AS errors, " +
				"sum(EstimatedDurationNano) / calls AS nanos " +
				"FROM operation_hours WHERE $__timeFilter(Hour) GROUP BY ServiceName, SpanName ORDER BY calls DESC LIMIT 20",
		},
		{
			Name:        "log_minutes",
			Description: "Log records of each service and severity by minute.",
			Notes:       []string{noteRollup},
			Example: "SELECT ServiceName, SeverityText, sum(LogCount) AS records FROM log_minutes WHERE $__timeFilter(Minute) GROUP BY " +
				"ServiceName, SeverityText ORDER BY records DESC LIMIT 20",
		},
		{
			Name:        "service_peers",
			Description: "Calls of each service to databases, queues and other hosts by minute.",
			Notes:       []string{noteRollup},
			Example: "SELECT ServiceName, PeerKind, PeerName, sum(EstimatedCallCount) AS calls FROM service_peers WHERE $__timeFilter(Minute) " +
				"GROUP BY ServiceName, PeerKind, PeerName ORDER BY calls DESC LIMIT 20",
		},
		{
			Name:        "error_events",
			Description: "One row for each error: a failed span, or an exception of a log record.",
			Notes: []string{
				noteTime, "FingerprintHash groups errors of one cause; count with sum(SampleRate).",
				"Source is empty for a span and log for a log record.",
			},
			Example: "SELECT FingerprintHash, any(ErrorLabel) AS label, sum(SampleRate) AS errors FROM error_events WHERE " +
				"$__timeFilter(Timestamp) GROUP BY FingerprintHash ORDER BY errors DESC LIMIT 20",
		},
		{
			Name:        "session_replays",
			Description: "One row for each recorded browser session, in its latest version.",
			Notes:       []string{"EndTime is 1970 while a session goes on."},
			Example: "SELECT BrowserName, count() AS sessions, countIf(ErrorCount > 0) AS with_errors FROM session_replays WHERE " +
				"$__timeFilter(StartTime) GROUP BY BrowserName",
		},
		{
			Name:        "session_events",
			Description: "One row for each event on the timeline of a session: navigation, click, network request, error, …",
			Notes:       []string{noteTime},
			Example:     "SELECT Type, count() FROM session_events WHERE $__timeFilter(Timestamp) GROUP BY Type",
		},
		{
			Name:        "product_events",
			Description: "One row for each product event; page views have the name $pageview.",
			Notes:       []string{noteTime},
			Example: "SELECT Name, count() AS events, uniq(VisitorId) AS visitors FROM product_events WHERE $__timeFilter(Timestamp) GROUP BY " +
				"Name ORDER BY events DESC LIMIT 20",
		},
	}
}

// internalTables are the tables of the schema that no tenant reads with SQL, with the reason.
func internalTables() map[string]string {
	return map[string]string{
		"schema_migrations":         "the server's own record",
		"session_replay_events":     "compressed recordings, which only a player reads",
		"service_minutes_view":      "feeds service_minutes",
		"trace_roots_view":          "feeds trace_roots",
		"product_events_view":       "feeds product_events",
		"service_peers_view":        "feeds service_peers",
		"organization_minutes_view": "feeds organization_minutes",
		"service_hours_view":        "feeds service_hours",
		"service_series":            "service_minutes in another order",
		"service_series_view":       "feeds service_series",
		"product_event_keys_view":   "feeds attribute_keys",
		"operation_hours_view":      "feeds operation_hours",
		"log_minutes_view":          "feeds log_minutes",
		"error_events_view":         "feeds error_events",
		"error_events_spans_view":   "feeds error_events",
		"error_events_logs_view":    "feeds error_events",
		"alert_checks":              "the server's own record, which the list of a rule's checks reads",
		"alert_check_hours":         "the server's own record, which the summary of a rule's checks reads",
		"alert_check_hours_view":    "feeds alert_check_hours",
		"call_hours":                "the server's own record, which the service map reads",
		"scrape_checks":             "the server's own record, which the list of checks reads",
	}
}

// sqlTableNames are the names of the offered tables.
func sqlTableNames() []string {
	var names []string
	for _, o := range SQLTables() {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}
