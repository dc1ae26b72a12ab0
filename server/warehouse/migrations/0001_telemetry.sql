-- Telemetry tables, rollups and the views that feed them. One statement ends at a line that holds only a semicolon.
-- In one place the placeholders give plain tables; on a cluster {{create}} and {{local}} name the shard's own table t_local, {{engine}} is
-- Replicated…, and {{distributed}} adds the table t over all shards. Its key decides a row's shard and must depend on the row alone:
-- a repeated insert has to send the same rows to the same shard for its token to be recognised.
-- Merges are most of what a row costs here: merge_selector_base = 10 makes each of them take in about ten parts instead of five, which
-- saves a fifth of the engine's work for some more parts to read (docs/performance.md).
-- LZ4 stands where rows repeat the rows before them (resources, the attributes of a series): ZSTD finds no more there and costs more.
-- Granules of spans and log records are small, since most reads want few of their rows and all columns: a trace, a page, one attribute's
-- value (docs/performance.md). Their keys end in the second: rows of one request then stay together when parts merge, which costs less work
-- and disk (docs/adr/0016). {{fresh released new}} is for tables that are created from now on; those that exist keep what they have.
-- {{retention spans 30}} is the number of days of server/limits for the table; 30 was the number when the statement was released.
-- OrgId is first in every sort key. Statements are idempotent: two processes may run them at once.

CREATE TABLE IF NOT EXISTS {{create "spans"}}
(
    OrgId LowCardinality(String),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    ServiceVersion LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    DurationNano UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    HasError Bool CODEC(ZSTD(1)),
    IsEntry Bool CODEC(ZSTD(1)),
    HttpMethod LowCardinality(String) CODEC(ZSTD(1)),
    HttpRoute LowCardinality(String) CODEC(ZSTD(1)),
    HttpStatusCode UInt16 CODEC(ZSTD(1)),
    SampleRate Float64 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    EventsTimestamp Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    EventsName Array(LowCardinality(String)) CODEC(ZSTD(1)),
    EventsAttributes Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    LinksTraceId Array(String) CODEC(ZSTD(1)),
    LinksSpanId Array(String) CODEC(ZSTD(1)),
    LinksTraceState Array(String) CODEC(ZSTD(1)),
    LinksAttributes Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_span_attribute arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, ServiceName, {{fresh Timestamp toStartOfSecond(Timestamp)}})
TTL toDateTime(Timestamp) + INTERVAL {{retention spans 30}} DAY
SETTINGS index_granularity = {{fresh 8192 2048}}, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "spans" "cityHash64(OrgId, TraceId)"}}
;

CREATE TABLE IF NOT EXISTS {{create "logs"}}
(
    OrgId LowCardinality(String),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    ObservedTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    SeverityText LowCardinality(String) CODEC(ZSTD(1)),
    SeverityNumber UInt8 CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    ServiceVersion LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    EventName LowCardinality(String) CODEC(ZSTD(1)),
    Body String CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_body Body TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(Body)),
    INDEX idx_log_attribute arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, ServiceName, {{fresh Timestamp toStartOfSecond(Timestamp)}})
TTL toDateTime(Timestamp) + INTERVAL {{retention logs 30}} DAY
SETTINGS index_granularity = {{fresh 8192 2048}}, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "logs" "cityHash64(OrgId, ServiceName, Timestamp)"}}
;

CREATE TABLE IF NOT EXISTS {{create "metrics_gauge"}}
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(LZ4),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    Attributes Map(LowCardinality(String), String) CODEC(LZ4),
    ExemplarsTimestamp Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    ExemplarsValue Array(Float64) CODEC(ZSTD(1)),
    ExemplarsTraceId Array(String) CODEC(ZSTD(1)),
    ExemplarsSpanId Array(String) CODEC(ZSTD(1)),
    ExemplarsAttributes Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    Value Float64 CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention metrics_gauge 90}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "metrics_gauge" "cityHash64(OrgId, SeriesHash)"}}
;

CREATE TABLE IF NOT EXISTS {{create "metrics_sum"}}
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(LZ4),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    Attributes Map(LowCardinality(String), String) CODEC(LZ4),
    ExemplarsTimestamp Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    ExemplarsValue Array(Float64) CODEC(ZSTD(1)),
    ExemplarsTraceId Array(String) CODEC(ZSTD(1)),
    ExemplarsSpanId Array(String) CODEC(ZSTD(1)),
    ExemplarsAttributes Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    Value Float64 CODEC(ZSTD(1)),
    AggregationTemporality LowCardinality(String) CODEC(ZSTD(1)),
    IsMonotonic Bool CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention metrics_sum 90}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "metrics_sum" "cityHash64(OrgId, SeriesHash)"}}
;

CREATE TABLE IF NOT EXISTS {{create "metrics_histogram"}}
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(LZ4),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    Attributes Map(LowCardinality(String), String) CODEC(LZ4),
    ExemplarsTimestamp Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    ExemplarsValue Array(Float64) CODEC(ZSTD(1)),
    ExemplarsTraceId Array(String) CODEC(ZSTD(1)),
    ExemplarsSpanId Array(String) CODEC(ZSTD(1)),
    ExemplarsAttributes Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Nullable(Float64) CODEC(ZSTD(1)),
    Min Nullable(Float64) CODEC(ZSTD(1)),
    Max Nullable(Float64) CODEC(ZSTD(1)),
    BucketCounts Array(UInt64) CODEC(ZSTD(1)),
    ExplicitBounds Array(Float64) CODEC(ZSTD(1)),
    AggregationTemporality LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention metrics_histogram 90}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "metrics_histogram" "cityHash64(OrgId, SeriesHash)"}}
;

CREATE TABLE IF NOT EXISTS {{create "metrics_exponential_histogram"}}
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(LZ4),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    Attributes Map(LowCardinality(String), String) CODEC(LZ4),
    ExemplarsTimestamp Array(DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    ExemplarsValue Array(Float64) CODEC(ZSTD(1)),
    ExemplarsTraceId Array(String) CODEC(ZSTD(1)),
    ExemplarsSpanId Array(String) CODEC(ZSTD(1)),
    ExemplarsAttributes Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Nullable(Float64) CODEC(ZSTD(1)),
    Min Nullable(Float64) CODEC(ZSTD(1)),
    Max Nullable(Float64) CODEC(ZSTD(1)),
    Scale Int32 CODEC(ZSTD(1)),
    ZeroCount UInt64 CODEC(ZSTD(1)),
    ZeroThreshold Float64 CODEC(ZSTD(1)),
    PositiveOffset Int32 CODEC(ZSTD(1)),
    PositiveBucketCounts Array(UInt64) CODEC(ZSTD(1)),
    NegativeOffset Int32 CODEC(ZSTD(1)),
    NegativeBucketCounts Array(UInt64) CODEC(ZSTD(1)),
    AggregationTemporality LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention metrics_exponential_histogram 90}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "metrics_exponential_histogram" "cityHash64(OrgId, SeriesHash)"}}
;

CREATE TABLE IF NOT EXISTS {{create "metrics_summary"}}
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(LZ4),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    Attributes Map(LowCardinality(String), String) CODEC(LZ4),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Float64 CODEC(ZSTD(1)),
    QuantilesQuantile Array(Float64) CODEC(ZSTD(1)),
    QuantilesValue Array(Float64) CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention metrics_summary 90}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "metrics_summary" "cityHash64(OrgId, SeriesHash)"}}
;

-- One row for each metric, type and service in an hour, written by ingest with each block.
CREATE TABLE IF NOT EXISTS {{create "metric_catalog"}}
(
    OrgId LowCardinality(String),
    Hour DateTime('UTC'),
    MetricName LowCardinality(String),
    MetricType LowCardinality(String),
    ServiceName LowCardinality(String),
    MetricDescription SimpleAggregateFunction(anyLast, String),
    MetricUnit SimpleAggregateFunction(anyLast, String),
    IsMonotonic SimpleAggregateFunction(max, UInt8),
    DataPointCount SimpleAggregateFunction(sum, UInt64),
    FirstSeen SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    LastSeen SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
)
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, MetricName, MetricType, ServiceName)
TTL Hour + INTERVAL {{retention metric_catalog 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "metric_catalog" "cityHash64(OrgId, MetricName)"}}
;

-- Which attribute keys were seen, with the type of their values, so that no read lists keys from raw rows.
-- Signal: traces, logs, metrics. Scope: resource, span, log, metric, event, link.
-- ValueType: string, int, double, bool, bytes, array, kvlist.
CREATE TABLE IF NOT EXISTS {{create "attribute_keys"}}
(
    OrgId LowCardinality(String),
    Hour DateTime('UTC'),
    Signal LowCardinality(String),
    Scope LowCardinality(String),
    Key LowCardinality(String),
    ValueType LowCardinality(String),
    UsageCount SimpleAggregateFunction(sum, UInt64)
)
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, Signal, Scope, Key, ValueType)
TTL Hour + INTERVAL {{retention attribute_keys 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "attribute_keys" "cityHash64(OrgId, Key)"}}
;

-- Services by minute. Entry spans (Server, Consumer or without a parent) are kept apart from all spans.
CREATE TABLE IF NOT EXISTS {{create "service_minutes"}}
(
    OrgId LowCardinality(String),
    Minute DateTime('UTC'),
    ServiceName LowCardinality(String),
    ServiceNamespace LowCardinality(String),
    Environment LowCardinality(String),
    ServiceVersion LowCardinality(String),
    IsEntry Bool,
    SpanCount SimpleAggregateFunction(sum, UInt64),
    EstimatedSpanCount SimpleAggregateFunction(sum, Float64),
    ErrorCount SimpleAggregateFunction(sum, UInt64),
    DurationQuantiles AggregateFunction(quantilesTDigest(0.5, 0.95, 0.99), UInt64)
)
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry)
TTL Minute + INTERVAL {{retention service_minutes 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "service_minutes" "cityHash64(OrgId, ServiceName)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "service_minutes_view"}} TO {{local "service_minutes"}} AS
SELECT
    OrgId,
    toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute,
    ServiceName,
    ServiceNamespace,
    Environment,
    ServiceVersion,
    IsEntry,
    count() AS SpanCount,
    sum(SampleRate) AS EstimatedSpanCount,
    countIf(HasError) AS ErrorCount,
    quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles
FROM {{local "spans"}}
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

-- Root spans alone, in order of time: the trace list.
CREATE TABLE IF NOT EXISTS {{create "trace_roots"}}
(
    OrgId LowCardinality(String),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    DurationNano UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    HasError Bool CODEC(ZSTD(1)),
    HttpMethod LowCardinality(String) CODEC(ZSTD(1)),
    HttpRoute LowCardinality(String) CODEC(ZSTD(1)),
    HttpStatusCode UInt16 CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, Timestamp, TraceId)
TTL toDateTime(Timestamp) + INTERVAL {{retention trace_roots 30}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "trace_roots" "cityHash64(OrgId, TraceId)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "trace_roots_view"}} TO {{local "trace_roots"}} AS
SELECT
    OrgId, Timestamp, TraceId, SpanId, SpanName, SpanKind, ServiceName, ServiceNamespace, Environment, DurationNano,
    StatusCode, HasError, HttpMethod, HttpRoute, HttpStatusCode
FROM {{local "spans"}}
WHERE ParentSpanId = ''
;
