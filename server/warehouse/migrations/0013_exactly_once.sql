-- Exactly once on replicated tables; nothing here concerns a single server. The embedded engine keeps the last 1,000 tokens of a table for
-- as long as they last, and its only sender repeats a range before it sends the next.
--
-- A Replicated table forgets a token after an hour by default. A week is longer than an ingest node can hold its queue. It also forgets all
-- but the last 10,000 tokens, which many nodes fill in minutes. So a late repeat leaves out the rows that an earlier attempt has stored:
-- IngestRange is the hash of the token with which a row was inserted. The server of the shard computes it, so ingest sends no such column.
-- Tables whose engine adds up or replaces rows have no such column: a merge would lose it.
{{ingest_range "spans"}}
;
{{ingest_range_index "spans"}}
;
{{ingest_range_everywhere "spans"}}
;
{{ingest_range "logs"}}
;
{{ingest_range_index "logs"}}
;
{{ingest_range_everywhere "logs"}}
;
{{ingest_range "metrics_gauge"}}
;
{{ingest_range_index "metrics_gauge"}}
;
{{ingest_range_everywhere "metrics_gauge"}}
;
{{ingest_range "metrics_sum"}}
;
{{ingest_range_index "metrics_sum"}}
;
{{ingest_range_everywhere "metrics_sum"}}
;
{{ingest_range "metrics_histogram"}}
;
{{ingest_range_index "metrics_histogram"}}
;
{{ingest_range_everywhere "metrics_histogram"}}
;
{{ingest_range "metrics_exponential_histogram"}}
;
{{ingest_range_index "metrics_exponential_histogram"}}
;
{{ingest_range_everywhere "metrics_exponential_histogram"}}
;
{{ingest_range "metrics_summary"}}
;
{{ingest_range_index "metrics_summary"}}
;
{{ingest_range_everywhere "metrics_summary"}}
;
{{ingest_range "session_events"}}
;
{{ingest_range_index "session_events"}}
;
{{ingest_range_everywhere "session_events"}}
;
{{ingest_range "product_events"}}
;
{{ingest_range_index "product_events"}}
;
{{ingest_range_everywhere "product_events"}}
;
{{deduplication "spans"}}
;
{{deduplication "logs"}}
;
{{deduplication "metrics_gauge"}}
;
{{deduplication "metrics_sum"}}
;
{{deduplication "metrics_histogram"}}
;
{{deduplication "metrics_exponential_histogram"}}
;
{{deduplication "metrics_summary"}}
;
{{deduplication "metric_catalog"}}
;
{{deduplication "attribute_keys"}}
;
{{deduplication "service_minutes"}}
;
{{deduplication "trace_roots"}}
;
{{deduplication "session_replays"}}
;
{{deduplication "session_replay_events"}}
;
{{deduplication "session_events"}}
;
{{deduplication "product_events"}}
;
{{deduplication "service_peers"}}
;
{{deduplication "error_events"}}
;
{{deduplication "organization_minutes"}}
;
{{deduplication "service_hours"}}
;
{{deduplication "operation_hours"}}
;
{{deduplication "log_minutes"}}
;
{{deduplication "service_series"}}
;
