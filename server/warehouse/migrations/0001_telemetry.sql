-- Telemetry tables, rollups and the views that feed them. One statement ends at a line that holds only a semicolon.
-- {{engine "X"}} is the table engine: MergeTree family in one place, Replicated… on a cluster. OrgId is first in every sort key.

CREATE TABLE IF NOT EXISTS spans
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
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
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
ORDER BY (OrgId, ServiceName, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE TABLE IF NOT EXISTS logs
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
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    LogAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_body Body TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(Body)),
    INDEX idx_log_attribute arrayMap((k, v) -> cityHash64(k, v), mapKeys(LogAttributes), mapValues(LogAttributes)) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, ServiceName, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE TABLE IF NOT EXISTS metrics_gauge
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(ZSTD(1)),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
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
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE TABLE IF NOT EXISTS metrics_sum
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(ZSTD(1)),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
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
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE TABLE IF NOT EXISTS metrics_histogram
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(ZSTD(1)),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
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
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE TABLE IF NOT EXISTS metrics_exponential_histogram
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(ZSTD(1)),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
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
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE TABLE IF NOT EXISTS metrics_summary
(
    OrgId LowCardinality(String),
    MetricName LowCardinality(String) CODEC(ZSTD(1)),
    MetricDescription LowCardinality(String) CODEC(ZSTD(1)),
    MetricUnit LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SeriesHash UInt64 CODEC(ZSTD(1)),
    StartTimestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Flags UInt32 CODEC(ZSTD(1)),
    ScopeName LowCardinality(String) CODEC(ZSTD(1)),
    ScopeVersion LowCardinality(String) CODEC(ZSTD(1)),
    ScopeAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Count UInt64 CODEC(ZSTD(1)),
    Sum Float64 CODEC(ZSTD(1)),
    QuantilesQuantile Array(Float64) CODEC(ZSTD(1)),
    QuantilesValue Array(Float64) CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

-- One row for each metric, type and service in an hour, written by ingest with each block.
CREATE TABLE IF NOT EXISTS metric_catalog
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
TTL Hour + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

-- Which attribute keys were seen, with the type of their values, so that no read lists keys from raw rows.
-- Signal: traces, logs, metrics. Scope: resource, span, log, metric, event, link.
-- ValueType: string, int, double, bool, bytes, array, kvlist.
CREATE TABLE IF NOT EXISTS attribute_keys
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
TTL Hour + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

-- Services by minute. Entry spans (Server, Consumer or without a parent) are kept apart from all spans.
CREATE TABLE IF NOT EXISTS service_minutes
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
TTL Minute + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_minutes_view TO service_minutes AS
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
FROM spans
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

-- Root spans alone, in order of time: the trace list.
CREATE TABLE IF NOT EXISTS trace_roots
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
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000
;

CREATE MATERIALIZED VIEW IF NOT EXISTS trace_roots_view TO trace_roots AS
SELECT
    OrgId, Timestamp, TraceId, SpanId, SpanName, SpanKind, ServiceName, ServiceNamespace, Environment, DurationNano,
    StatusCode, HasError, HttpMethod, HttpRoute, HttpStatusCode
FROM spans
WHERE ParentSpanId = ''
;
