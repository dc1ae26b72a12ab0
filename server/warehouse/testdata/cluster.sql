CREATE TABLE IF NOT EXISTS spans_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, ServiceName, toStartOfSecond(Timestamp))
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 2048, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS spans ON CLUSTER 'main'
AS spans_local
ENGINE = Distributed('main', 'svc', 'spans_local', cityHash64(OrgId, TraceId))
;

CREATE TABLE IF NOT EXISTS logs_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, ServiceName, toStartOfSecond(Timestamp))
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 2048, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS logs ON CLUSTER 'main'
AS logs_local
ENGINE = Distributed('main', 'svc', 'logs_local', cityHash64(OrgId, ServiceName, Timestamp))
;

CREATE TABLE IF NOT EXISTS metrics_gauge_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS metrics_gauge ON CLUSTER 'main'
AS metrics_gauge_local
ENGINE = Distributed('main', 'svc', 'metrics_gauge_local', cityHash64(OrgId, SeriesHash))
;

CREATE TABLE IF NOT EXISTS metrics_sum_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS metrics_sum ON CLUSTER 'main'
AS metrics_sum_local
ENGINE = Distributed('main', 'svc', 'metrics_sum_local', cityHash64(OrgId, SeriesHash))
;

CREATE TABLE IF NOT EXISTS metrics_histogram_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS metrics_histogram ON CLUSTER 'main'
AS metrics_histogram_local
ENGINE = Distributed('main', 'svc', 'metrics_histogram_local', cityHash64(OrgId, SeriesHash))
;

CREATE TABLE IF NOT EXISTS metrics_exponential_histogram_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS metrics_exponential_histogram ON CLUSTER 'main'
AS metrics_exponential_histogram_local
ENGINE = Distributed('main', 'svc', 'metrics_exponential_histogram_local', cityHash64(OrgId, SeriesHash))
;

CREATE TABLE IF NOT EXISTS metrics_summary_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, MetricName, ServiceName, SeriesHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS metrics_summary ON CLUSTER 'main'
AS metrics_summary_local
ENGINE = Distributed('main', 'svc', 'metrics_summary_local', cityHash64(OrgId, SeriesHash))
;

CREATE TABLE IF NOT EXISTS metric_catalog_local ON CLUSTER 'main'
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
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, MetricName, MetricType, ServiceName)
TTL Hour + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS metric_catalog ON CLUSTER 'main'
AS metric_catalog_local
ENGINE = Distributed('main', 'svc', 'metric_catalog_local', cityHash64(OrgId, MetricName))
;

CREATE TABLE IF NOT EXISTS attribute_keys_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Hour DateTime('UTC'),
    Signal LowCardinality(String),
    Scope LowCardinality(String),
    Key LowCardinality(String),
    ValueType LowCardinality(String),
    UsageCount SimpleAggregateFunction(sum, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, Signal, Scope, Key, ValueType)
TTL Hour + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS attribute_keys ON CLUSTER 'main'
AS attribute_keys_local
ENGINE = Distributed('main', 'svc', 'attribute_keys_local', cityHash64(OrgId, Key))
;

CREATE TABLE IF NOT EXISTS service_minutes_local ON CLUSTER 'main'
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
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry)
TTL Minute + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS service_minutes ON CLUSTER 'main'
AS service_minutes_local
ENGINE = Distributed('main', 'svc', 'service_minutes_local', cityHash64(OrgId, ServiceName))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_minutes_view ON CLUSTER 'main' TO service_minutes_local AS
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
FROM spans_local
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

CREATE TABLE IF NOT EXISTS trace_roots_local ON CLUSTER 'main'
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
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, Timestamp, TraceId)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS trace_roots ON CLUSTER 'main'
AS trace_roots_local
ENGINE = Distributed('main', 'svc', 'trace_roots_local', cityHash64(OrgId, TraceId))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS trace_roots_view ON CLUSTER 'main' TO trace_roots_local AS
SELECT
    OrgId, Timestamp, TraceId, SpanId, SpanName, SpanKind, ServiceName, ServiceNamespace, Environment, DurationNano,
    StatusCode, HasError, HttpMethod, HttpRoute, HttpStatusCode
FROM spans_local
WHERE ParentSpanId = ''
;

CREATE TABLE IF NOT EXISTS session_replays_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    SessionId String CODEC(ZSTD(1)),
    Version UInt32 CODEC(ZSTD(1)),
    StartTime DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    EndTime DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    LastActivityAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    DurationMs UInt64 CODEC(ZSTD(1)),
    Status LowCardinality(String) CODEC(ZSTD(1)),
    VisitorId String CODEC(ZSTD(1)),
    VisitorIsNew Bool CODEC(ZSTD(1)),
    UserId String CODEC(ZSTD(1)),
    UserEmail String CODEC(ZSTD(1)),
    UserName String CODEC(ZSTD(1)),
    UserTraits Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    GroupId String CODEC(ZSTD(1)),
    GroupName String CODEC(ZSTD(1)),
    UrlInitial String CODEC(ZSTD(1)),
    Host LowCardinality(String) CODEC(ZSTD(1)),
    EntryPath String CODEC(ZSTD(1)),
    ExitPath String CODEC(ZSTD(1)),
    Referrer String CODEC(ZSTD(1)),
    ReferrerHost LowCardinality(String) CODEC(ZSTD(1)),
    UtmSource LowCardinality(String) CODEC(ZSTD(1)),
    UtmMedium LowCardinality(String) CODEC(ZSTD(1)),
    UtmCampaign LowCardinality(String) CODEC(ZSTD(1)),
    UtmTerm LowCardinality(String) CODEC(ZSTD(1)),
    UtmContent LowCardinality(String) CODEC(ZSTD(1)),
    UserAgent String CODEC(ZSTD(1)),
    BrowserName LowCardinality(String) CODEC(ZSTD(1)),
    OsName LowCardinality(String) CODEC(ZSTD(1)),
    DeviceType LowCardinality(String) CODEC(ZSTD(1)),
    Language LowCardinality(String) CODEC(ZSTD(1)),
    Country LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    PageViews UInt32 CODEC(ZSTD(1)),
    ClickCount UInt32 CODEC(ZSTD(1)),
    ErrorCount UInt32 CODEC(ZSTD(1)),
    TraceIds Array(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    INDEX idx_start_time StartTime TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', Version)
PARTITION BY toDate(StartTime)
ORDER BY (OrgId, SessionId)
TTL toDateTime(StartTime) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS session_replays ON CLUSTER 'main'
AS session_replays_local
ENGINE = Distributed('main', 'svc', 'session_replays_local', cityHash64(OrgId, SessionId))
;

CREATE TABLE IF NOT EXISTS session_replay_events_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    SessionId String CODEC(ZSTD(1)),
    ChunkSeq UInt32 CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    DurationMs UInt32 CODEC(ZSTD(1)),
    EventCount UInt32 CODEC(ZSTD(1)),
    ByteSize UInt64 CODEC(ZSTD(1)),
    IsCheckpoint Bool CODEC(ZSTD(1)),
    Payload String CODEC(NONE),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', Timestamp)
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, SessionId, ChunkSeq)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS session_replay_events ON CLUSTER 'main'
AS session_replay_events_local
ENGINE = Distributed('main', 'svc', 'session_replay_events_local', cityHash64(OrgId, SessionId))
;

CREATE TABLE IF NOT EXISTS session_events_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    SessionId String CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Seq UInt32 CODEC(ZSTD(1)),
    Type LowCardinality(String) CODEC(ZSTD(1)),
    Url String CODEC(ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    Level LowCardinality(String) CODEC(ZSTD(1)),
    Message String CODEC(ZSTD(1)),
    TargetSelector String CODEC(ZSTD(1)),
    TargetText String CODEC(ZSTD(1)),
    NetMethod LowCardinality(String) CODEC(ZSTD(1)),
    NetUrl String CODEC(ZSTD(1)),
    NetStatus UInt16 CODEC(ZSTD(1)),
    NetDurationMs UInt32 CODEC(ZSTD(1)),
    ErrorStack String CODEC(ZSTD(1)),
    VisitorId String CODEC(ZSTD(1)),
    UserId String CODEC(ZSTD(1)),
    GroupId String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, SessionId, Timestamp, Seq)
TTL toDateTime(Timestamp) + INTERVAL 30 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS session_events ON CLUSTER 'main'
AS session_events_local
ENGINE = Distributed('main', 'svc', 'session_events_local', cityHash64(OrgId, SessionId))
;

CREATE TABLE IF NOT EXISTS product_events_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Name LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Source LowCardinality(String) CODEC(ZSTD(1)),
    VisitorId String CODEC(ZSTD(1)),
    UserId String CODEC(ZSTD(1)),
    GroupId String CODEC(ZSTD(1)),
    SessionId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Url String CODEC(ZSTD(1)),
    Host LowCardinality(String) CODEC(ZSTD(1)),
    PagePath String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    INDEX idx_visitor_id VisitorId TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_user_id UserId TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, Name, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 365 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS product_events ON CLUSTER 'main'
AS product_events_local
ENGINE = Distributed('main', 'svc', 'product_events_local', cityHash64(OrgId, Name, Timestamp))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS product_events_view ON CLUSTER 'main' TO product_events_local AS
SELECT
    OrgId,
    if(Type = 'navigation', '$pageview', Message) AS Name,
    Timestamp,
    Type AS Kind,
    'browser' AS Source,
    VisitorId,
    UserId,
    GroupId,
    SessionId,
    ResourceAttributes['service.name'] AS ServiceName,
    Url,
    lower(domain(Url)) AS Host,
    path(Url) AS PagePath,
    Attributes,
    ResourceAttributes
FROM session_events_local
WHERE Type = 'navigation' OR (Type = 'custom' AND Message != '' AND NOT startsWith(Message, '$'))
;

ALTER TABLE logs_local ON CLUSTER 'main' MODIFY SETTING text_index_posting_list_codec = 'bitpacking'
;

ALTER TABLE product_events_view ON CLUSTER 'main' MODIFY QUERY
SELECT
    OrgId,
    if(Type = 'navigation', '$pageview', Message) AS Name,
    Timestamp,
    Type AS Kind,
    'browser' AS Source,
    VisitorId,
    UserId,
    GroupId,
    SessionId,
    ResourceAttributes['service.name'] AS ServiceName,
    Url,
    lower(domain(Url)) AS Host,
    path(Url) AS PagePath,
    Attributes,
    ResourceAttributes
FROM session_events_local
WHERE Type = 'navigation' OR (Type = 'custom' AND Message != '' AND length(Message) <= 128 AND NOT startsWith(Message, '$'))
;

ALTER TABLE service_minutes_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS EstimatedErrorCount SimpleAggregateFunction(sum, Float64)
    DEFAULT ErrorCount * EstimatedSpanCount / SpanCount
;

ALTER TABLE service_minutes ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS EstimatedErrorCount SimpleAggregateFunction(sum, Float64)
;

ALTER TABLE service_minutes_view ON CLUSTER 'main' MODIFY QUERY
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
    sumIf(SampleRate, HasError) AS EstimatedErrorCount,
    quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles
FROM spans_local
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

CREATE TABLE IF NOT EXISTS service_peers_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Minute DateTime('UTC'),
    ServiceName LowCardinality(String),
    Environment LowCardinality(String),
    Direction LowCardinality(String),
    PeerKind LowCardinality(String),
    PeerSystem LowCardinality(String),
    PeerName String,
    CallCount SimpleAggregateFunction(sum, UInt64),
    EstimatedCallCount SimpleAggregateFunction(sum, Float64),
    ErrorCount SimpleAggregateFunction(sum, UInt64),
    EstimatedErrorCount SimpleAggregateFunction(sum, Float64),
    EstimatedDurationNano SimpleAggregateFunction(sum, Float64),
    MaxDurationNano SimpleAggregateFunction(max, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, ServiceName, Environment, Direction, PeerKind, PeerSystem, PeerName)
TTL Minute + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS service_peers ON CLUSTER 'main'
AS service_peers_local
ENGINE = Distributed('main', 'svc', 'service_peers_local', cityHash64(OrgId, ServiceName))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_peers_view ON CLUSTER 'main' TO service_peers_local AS
SELECT
    OrgId,
    Minute,
    ServiceName,
    Environment,
    if(SpanKind = 'Consumer', 'inbound', 'outbound') AS Direction,
    multiIf(SpanKind = 'Consumer', 'queue', Database != '', 'database', Queue != '', 'queue', 'external') AS PeerKind,
    multiIf(PeerKind = 'database', Database, PeerKind = 'queue', Queue, Rpc != '', Rpc, 'http') AS PeerSystem,
    multiIf(
        PeerKind = 'database', if(Attributes['db.namespace'] != '', Attributes['db.namespace'], Attributes['db.name']),
        PeerKind = 'queue', if(Attributes['messaging.destination.name'] != '', Attributes['messaging.destination.name'], Attributes['messaging.destination']),
        Named != '', Named,
        Rpc != '' AND Attributes['rpc.service'] != '', Attributes['rpc.service'],
        Attributes['server.address'] != '', Attributes['server.address'],
        Attributes['http.host'] != '', Attributes['http.host'],
        Attributes['url.authority'] != '', Attributes['url.authority'],
        Attributes['net.peer.name'] != '', Attributes['net.peer.name'],
        domain(if(Attributes['url.full'] != '', Attributes['url.full'], Attributes['http.url']))) AS PeerName,
    count() AS CallCount,
    sum(SampleRate) AS EstimatedCallCount,
    countIf(HasError) AS ErrorCount,
    sumIf(SampleRate, HasError) AS EstimatedErrorCount,
    sum(SampleRate * DurationNano) AS EstimatedDurationNano,
    max(DurationNano) AS MaxDurationNano
FROM
(
    SELECT
        OrgId,
        toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute,
        ServiceName,
        Environment,
        SpanKind,
        SpanAttributes AS Attributes,
        if(Attributes['db.system.name'] != '', Attributes['db.system.name'], Attributes['db.system']) AS Database,
        Attributes['messaging.system'] AS Queue,
        Attributes['rpc.system'] AS Rpc,
        Attributes['peer.service'] AS Named,
        SampleRate,
        HasError,
        DurationNano
    FROM spans_local
    WHERE SpanKind IN ('Client', 'Producer') OR SpanKind = 'Consumer' AND SpanAttributes['messaging.system'] != ''
)
WHERE PeerKind != 'external' OR PeerName != ''
GROUP BY OrgId, Minute, ServiceName, Environment, Direction, PeerKind, PeerSystem, PeerName
;

CREATE TABLE IF NOT EXISTS error_events_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    FingerprintHash UInt64 CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    OccurredAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    ServiceVersion LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    IsRoot Bool CODEC(ZSTD(1)),
    HasException Bool CODEC(ZSTD(1)),
    ErrorLabel LowCardinality(String) CODEC(ZSTD(1)),
    ExceptionType LowCardinality(String) CODEC(ZSTD(1)),
    ExceptionMessage String CODEC(ZSTD(1)),
    TopFrame String CODEC(ZSTD(1)),
    DurationNano UInt64 CODEC(ZSTD(1)),
    SampleRate Float64 CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, FingerprintHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 90 DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS error_events ON CLUSTER 'main'
AS error_events_local
ENGINE = Distributed('main', 'svc', 'error_events_local', cityHash64(OrgId, FingerprintHash))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS error_events_view ON CLUSTER 'main' TO error_events_local AS
SELECT
    OrgId,
    cityHash64(OrgId, ServiceName, ExceptionType, arrayStringConcat(Frames, '\n'), Fallback) AS FingerprintHash,
    Timestamp,
    OccurredAt,
    TraceId,
    SpanId,
    SpanName,
    ServiceName,
    ServiceNamespace,
    ServiceVersion,
    Environment,
    IsRoot,
    HasException,
    multiIf(
        ExceptionType != '', substringUTF8(ExceptionType, 1, 150),
        trimBoth(ExceptionMessage) = '', 'Unknown Error',
        match(ExceptionMessage, '(?i)^(schema)?\\s*(parse|decode) ?error\\b') AND position(ExceptionMessage, '\n') > 0, 'Schema parse error',
        IsObject, if(Named != '', substringUTF8(Named, 1, 150), 'JSON error'),
        substringUTF8(if(Head != '', Head, ExceptionMessage), 1, 150)) AS ErrorLabel,
    ExceptionType,
    substringUTF8(ExceptionMessage, 1, 2000) AS ExceptionMessage,
    if(empty(Frames), '', Frames[1]) AS TopFrame,
    DurationNano,
    SampleRate
FROM
(
    SELECT
        *,
        arraySlice(arrayMap(
            line -> substringUTF8(replaceRegexpAll(trimBoth(line), '0x[0-9a-fA-F]+|\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#'), 1, 300),
            arrayFilter(
                line -> match(line, ':\\d+|line \\d+') AND (FirstLine = '' OR position(line, FirstLine) = 0),
                arraySlice(splitByChar('\n', substring(Stack, 1, 16384)), 1, 200))), 1, 3) AS Frames,
        startsWith(trimLeft(ExceptionMessage), '{') AND isValidJSON(ExceptionMessage) AS IsObject,
        multiIf(
            notEmpty(Frames), '',
            IsObject, arrayStringConcat(arraySort(arrayMap(
                pair -> concat(pair.1, '=', replaceRegexpAll(pair.2, '\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#')),
                JSONExtractKeysAndValuesRaw(ExceptionMessage))), '|'),
            replaceRegexpAll(substringUTF8(ExceptionMessage, 1, 200), '\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#')) AS Fallback,
        if(IsObject, coalesce(
            nullIf(JSONExtractString(ExceptionMessage, 'title'), ''), nullIf(JSONExtractString(ExceptionMessage, 'message'), ''),
            nullIf(JSONExtractString(ExceptionMessage, 'error'), ''), nullIf(JSONExtractString(ExceptionMessage, '_tag'), ''),
            nullIf(JSONExtractString(ExceptionMessage, 'reason'), ''), nullIf(JSONExtractString(ExceptionMessage, 'name'), ''),
            nullIf(arrayElement(splitByRegexp('[/.:#]', JSONExtractString(ExceptionMessage, 'type')), -1), ''), ''), '') AS Named,
        extract(ExceptionMessage, '(?s)^(.{3}.*?)(?:: |, | ?\\(|\\n|$)') AS Head
    FROM
    (
        SELECT
            OrgId, Timestamp, TraceId, SpanId, SpanName, ServiceName, ServiceNamespace, ServiceVersion, Environment, DurationNano, SampleRate,
            ParentSpanId = '' AS IsRoot,
            indexOf(EventsName, 'exception') AS At,
            At > 0 AS HasException,
            if(HasException, EventsTimestamp[At], addNanoseconds(Timestamp, DurationNano)) AS OccurredAt,
            EventsAttributes[At]['exception.type'] AS ExceptionType,
            EventsAttributes[At]['exception.stacktrace'] AS Stack,
            if(EventsAttributes[At]['exception.message'] != '', EventsAttributes[At]['exception.message'], StatusMessage) AS ExceptionMessage,
            substringUTF8(extract(ExceptionMessage, '^[^\\n]*'), 1, 200) AS FirstLine
        FROM spans_local
        WHERE StatusCode = 'Error'
    )
)
;

ALTER TABLE service_minutes_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS EstimatedDurationNano SimpleAggregateFunction(sum, Float64)
;

ALTER TABLE service_minutes ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS EstimatedDurationNano SimpleAggregateFunction(sum, Float64)
;

ALTER TABLE service_minutes_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
;

ALTER TABLE service_minutes ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
;

ALTER TABLE service_minutes_view ON CLUSTER 'main' MODIFY QUERY
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
    sumIf(SampleRate, HasError) AS EstimatedErrorCount,
    sum(SampleRate * DurationNano) AS EstimatedDurationNano,
    quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles,
    quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations
FROM spans_local
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

CREATE TABLE IF NOT EXISTS organization_minutes_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Minute DateTime('UTC'),
    Environment LowCardinality(String),
    IsEntry Bool,
    EstimatedSpanCount SimpleAggregateFunction(sum, Float64),
    EstimatedErrorCount SimpleAggregateFunction(sum, Float64),
    EstimatedDurationNano SimpleAggregateFunction(sum, Float64),
    WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, Environment, IsEntry)
TTL Minute + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS organization_minutes ON CLUSTER 'main'
AS organization_minutes_local
ENGINE = Distributed('main', 'svc', 'organization_minutes_local', cityHash64(OrgId, Minute))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS organization_minutes_view ON CLUSTER 'main' TO organization_minutes_local AS
SELECT
    OrgId,
    Minute,
    Environment,
    IsEntry,
    sum(EstimatedSpanCount) AS EstimatedSpanCount,
    sum(EstimatedErrorCount) AS EstimatedErrorCount,
    sum(EstimatedDurationNano) AS EstimatedDurationNano,
    quantilesTDigestWeightedMergeState(0.5, 0.95, 0.99)(WeightedDurations) AS WeightedDurations
FROM service_minutes_local
GROUP BY OrgId, Minute, Environment, IsEntry
;

CREATE TABLE IF NOT EXISTS service_hours_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Hour DateTime('UTC'),
    ServiceName LowCardinality(String),
    ServiceNamespace LowCardinality(String),
    Environment LowCardinality(String),
    ServiceVersion LowCardinality(String),
    IsEntry Bool,
    SpanCount SimpleAggregateFunction(sum, UInt64),
    EstimatedSpanCount SimpleAggregateFunction(sum, Float64),
    ErrorCount SimpleAggregateFunction(sum, UInt64),
    EstimatedErrorCount SimpleAggregateFunction(sum, Float64),
    EstimatedDurationNano SimpleAggregateFunction(sum, Float64),
    WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry)
TTL Hour + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS service_hours ON CLUSTER 'main'
AS service_hours_local
ENGINE = Distributed('main', 'svc', 'service_hours_local', cityHash64(OrgId, ServiceName))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_hours_view ON CLUSTER 'main' TO service_hours_local AS
SELECT
    OrgId,
    toStartOfHour(Minute) AS Hour,
    ServiceName,
    ServiceNamespace,
    Environment,
    ServiceVersion,
    IsEntry,
    sum(SpanCount) AS SpanCount,
    sum(EstimatedSpanCount) AS EstimatedSpanCount,
    sum(ErrorCount) AS ErrorCount,
    sum(EstimatedErrorCount) AS EstimatedErrorCount,
    sum(EstimatedDurationNano) AS EstimatedDurationNano,
    quantilesTDigestWeightedMergeState(0.5, 0.95, 0.99)(WeightedDurations) AS WeightedDurations
FROM service_minutes_local
GROUP BY OrgId, Hour, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

CREATE TABLE IF NOT EXISTS operation_hours_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Hour DateTime('UTC'),
    ServiceName LowCardinality(String),
    ServiceNamespace LowCardinality(String),
    Environment LowCardinality(String),
    SpanName LowCardinality(String),
    SpanKind LowCardinality(String),
    HttpMethod LowCardinality(String),
    HttpStatusCode UInt16,
    IsEntry Bool,
    EstimatedSpanCount SimpleAggregateFunction(sum, Float64),
    EstimatedErrorCount SimpleAggregateFunction(sum, Float64),
    EstimatedDurationNano SimpleAggregateFunction(sum, Float64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry)
TTL Hour + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS operation_hours ON CLUSTER 'main'
AS operation_hours_local
ENGINE = Distributed('main', 'svc', 'operation_hours_local', cityHash64(OrgId, ServiceName))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS operation_hours_view ON CLUSTER 'main' TO operation_hours_local AS
SELECT
    OrgId,
    toStartOfHour(toDateTime(Timestamp, 'UTC')) AS Hour,
    ServiceName,
    ServiceNamespace,
    Environment,
    SpanName,
    SpanKind,
    HttpMethod,
    HttpStatusCode,
    IsEntry,
    sum(SampleRate) AS EstimatedSpanCount,
    sumIf(SampleRate, HasError) AS EstimatedErrorCount,
    sum(SampleRate * DurationNano) AS EstimatedDurationNano
FROM spans_local
GROUP BY OrgId, Hour, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry
;

CREATE TABLE IF NOT EXISTS log_minutes_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Minute DateTime('UTC'),
    ServiceName LowCardinality(String),
    ServiceNamespace LowCardinality(String),
    Environment LowCardinality(String),
    SeverityText LowCardinality(String),
    SeverityNumber UInt8,
    LogCount SimpleAggregateFunction(sum, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber)
TTL Minute + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS log_minutes ON CLUSTER 'main'
AS log_minutes_local
ENGINE = Distributed('main', 'svc', 'log_minutes_local', cityHash64(OrgId, ServiceName))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_minutes_view ON CLUSTER 'main' TO log_minutes_local AS
SELECT
    OrgId,
    toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute,
    ServiceName,
    ServiceNamespace,
    Environment,
    SeverityText,
    SeverityNumber,
    count() AS LogCount
FROM logs_local
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber
;

ALTER TABLE product_events_local ON CLUSTER 'main' MODIFY TTL toDateTime(Timestamp) + INTERVAL 365 DAY
;

ALTER TABLE product_events_view ON CLUSTER 'main' MODIFY QUERY
SELECT
    OrgId,
    if(Type = 'navigation', '$pageview', Message) AS Name,
    Timestamp,
    Type AS Kind,
    'browser' AS Source,
    VisitorId,
    UserId,
    GroupId,
    SessionId,
    ResourceAttributes['service.name'] AS ServiceName,
    Url,
    lower(if(domain(Url) != '', domain(Url), trim(BOTH '[]' FROM extract(Url, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([[][0-9a-fA-F:.]+[]]|[^/?#:@]+)')))) AS Host,
    path(Url) AS PagePath,
    Attributes,
    ResourceAttributes
FROM session_events_local
WHERE Type = 'navigation' OR (Type = 'custom' AND Message != '' AND length(Message) <= 128 AND NOT startsWith(Message, '$'))
;

CREATE TABLE IF NOT EXISTS service_series_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    ServiceName LowCardinality(String),
    Minute DateTime('UTC'),
    ServiceNamespace LowCardinality(String),
    Environment LowCardinality(String),
    ServiceVersion LowCardinality(String),
    IsEntry Bool,
    SpanCount SimpleAggregateFunction(sum, UInt64),
    EstimatedSpanCount SimpleAggregateFunction(sum, Float64),
    EstimatedErrorCount SimpleAggregateFunction(sum, Float64),
    EstimatedDurationNano SimpleAggregateFunction(sum, Float64),
    WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, ServiceName, Minute, ServiceNamespace, Environment, ServiceVersion, IsEntry)
TTL Minute + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS service_series ON CLUSTER 'main'
AS service_series_local
ENGINE = Distributed('main', 'svc', 'service_series_local', cityHash64(OrgId, ServiceName))
;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_series_view ON CLUSTER 'main' TO service_series_local AS
SELECT
    OrgId,
    ServiceName,
    Minute,
    ServiceNamespace,
    Environment,
    ServiceVersion,
    IsEntry,
    sum(SpanCount) AS SpanCount,
    sum(EstimatedSpanCount) AS EstimatedSpanCount,
    sum(EstimatedErrorCount) AS EstimatedErrorCount,
    sum(EstimatedDurationNano) AS EstimatedDurationNano,
    quantilesTDigestWeightedMergeState(0.5, 0.95, 0.99)(WeightedDurations) AS WeightedDurations
FROM service_minutes_local
GROUP BY OrgId, ServiceName, Minute, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

CREATE MATERIALIZED VIEW IF NOT EXISTS product_event_keys_view ON CLUSTER 'main' TO attribute_keys_local AS
SELECT
    OrgId,
    toStartOfHour(toDateTime(Timestamp, 'UTC')) AS Hour,
    'product_events' AS Signal,
    tupleElement(Sent, 1) AS Scope,
    tupleElement(Sent, 2) AS Key,
    'string' AS ValueType,
    count() AS UsageCount
FROM
(
    SELECT
        OrgId,
        Timestamp,
        arrayJoin(arrayConcat(
            arrayMap(key -> ('event', toString(key)), mapKeys(Attributes)),
            arrayMap(key -> ('resource', toString(key)), mapKeys(ResourceAttributes)))) AS Sent
    FROM product_events_local
)
GROUP BY OrgId, Hour, Scope, Key
;

ALTER TABLE spans_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE spans_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE spans ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE logs_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE logs_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE logs ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE metrics_gauge_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE metrics_gauge_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE metrics_gauge ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE metrics_sum_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE metrics_sum_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE metrics_sum ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE metrics_histogram_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE metrics_histogram_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE metrics_histogram ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE metrics_exponential_histogram_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE metrics_exponential_histogram_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE metrics_exponential_histogram ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE metrics_summary_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE metrics_summary_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE metrics_summary ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE session_events_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE session_events_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE session_events ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE product_events_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token')) CODEC(ZSTD(1))
;

ALTER TABLE product_events_local ON CLUSTER 'main' ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64
;

ALTER TABLE product_events ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED cityHash64(getSetting('insert_deduplication_token'))
;

ALTER TABLE spans_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE logs_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE metrics_gauge_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE metrics_sum_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE metrics_histogram_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE metrics_exponential_histogram_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE metrics_summary_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE metric_catalog_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE attribute_keys_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE service_minutes_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE trace_roots_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE session_replays_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE session_replay_events_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE session_events_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE product_events_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE service_peers_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE error_events_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE organization_minutes_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE service_hours_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE operation_hours_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE log_minutes_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE service_series_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

CREATE TABLE IF NOT EXISTS alert_checks_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    RuleId String CODEC(ZSTD(1)),
    GroupKey String CODEC(ZSTD(1)),
    Timestamp DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    Status LowCardinality(String) CODEC(ZSTD(1)),
    SkipReason LowCardinality(String) CODEC(ZSTD(1)),
    SignalType LowCardinality(String) CODEC(ZSTD(1)),
    Comparator LowCardinality(String) CODEC(ZSTD(1)),
    Threshold Float64 CODEC(ZSTD(1)),
    ThresholdUpper Nullable(Float64) CODEC(ZSTD(1)),
    ObservedValue Nullable(Float64) CODEC(ZSTD(1)),
    SampleCount Float64 CODEC(ZSTD(1)),
    WindowMinutes UInt32 CODEC(ZSTD(1)),
    ConsecutiveBreaches UInt32 CODEC(ZSTD(1)),
    ConsecutiveHealthy UInt32 CODEC(ZSTD(1)),
    IncidentId String CODEC(ZSTD(1)),
    IncidentTransition LowCardinality(String) CODEC(ZSTD(1)),
    EvaluationDurationMs UInt32 CODEC(ZSTD(1)),
    ErrorMessage String CODEC(ZSTD(1)),
    ErrorCategory LowCardinality(String) CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (OrgId, RuleId, Timestamp, GroupKey)
TTL Timestamp + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS alert_checks ON CLUSTER 'main'
AS alert_checks_local
ENGINE = Distributed('main', 'svc', 'alert_checks_local', cityHash64(OrgId, RuleId))
;

ALTER TABLE alert_checks_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

CREATE TABLE IF NOT EXISTS alert_check_hours_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    RuleId String CODEC(ZSTD(1)),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    GroupKey String CODEC(ZSTD(1)),
    CheckCount SimpleAggregateFunction(sum, UInt64),
    BreachedCount SimpleAggregateFunction(sum, UInt64),
    HealthyCount SimpleAggregateFunction(sum, UInt64),
    SkippedCount SimpleAggregateFunction(sum, UInt64),
    ErrorCount SimpleAggregateFunction(sum, UInt64),
    TransitionCount SimpleAggregateFunction(sum, UInt64),
    LowestValue SimpleAggregateFunction(min, Nullable(Float64)),
    HighestValue SimpleAggregateFunction(max, Nullable(Float64)),
    LastThreshold AggregateFunction(argMax, Float64, DateTime('UTC'))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, RuleId, Hour, GroupKey)
TTL Hour + INTERVAL 365 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS alert_check_hours ON CLUSTER 'main'
AS alert_check_hours_local
ENGINE = Distributed('main', 'svc', 'alert_check_hours_local', cityHash64(OrgId, RuleId))
;

ALTER TABLE alert_check_hours_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

CREATE MATERIALIZED VIEW IF NOT EXISTS alert_check_hours_view ON CLUSTER 'main' TO alert_check_hours_local AS
SELECT
    OrgId,
    RuleId,
    toStartOfHour(Timestamp) AS Hour,
    GroupKey,
    count() AS CheckCount,
    countIf(Status = 'breached') AS BreachedCount,
    countIf(Status = 'healthy') AS HealthyCount,
    countIf(Status = 'skipped') AS SkippedCount,
    countIf(Status = 'error') AS ErrorCount,
    countIf(IncidentTransition IN ('opened', 'resolved')) AS TransitionCount,
    min(ObservedValue) AS LowestValue,
    max(ObservedValue) AS HighestValue,
    argMaxState(Threshold, Timestamp) AS LastThreshold
FROM alert_checks_local
GROUP BY OrgId, RuleId, Hour, GroupKey
;

CREATE TABLE IF NOT EXISTS scrape_checks_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    TargetId String CODEC(ZSTD(1)),
    SubTargetKey LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Success Bool CODEC(ZSTD(1)),
    DurationSeconds Nullable(Float64) CODEC(ZSTD(1)),
    SamplesScraped Nullable(UInt32) CODEC(ZSTD(1)),
    SamplesPostMetricRelabeling Nullable(UInt32) CODEC(ZSTD(1)),
    Message String CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, TargetId, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL 1 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS scrape_checks ON CLUSTER 'main'
AS scrape_checks_local
ENGINE = Distributed('main', 'svc', 'scrape_checks_local', cityHash64(OrgId, TargetId))
;

ALTER TABLE scrape_checks_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;

ALTER TABLE spans_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE spans ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE spans_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE spans ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE spans_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE spans ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE spans_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE spans ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE logs_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE logs ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE logs_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE logs ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE logs_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE logs ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE logs_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE logs ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE error_events_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS Source LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE error_events ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS Source LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE error_events_view ON CLUSTER 'main' MODIFY QUERY
SELECT
    OrgId,
    cityHash64(OrgId, ServiceName, ExceptionType, arrayStringConcat(Frames, '\n'), Fallback) AS FingerprintHash,
    Timestamp,
    OccurredAt,
    TraceId,
    SpanId,
    SpanName,
    ServiceName,
    ServiceNamespace,
    ServiceVersion,
    Environment,
    IsRoot,
    HasException,
    multiIf(
        ExceptionType != '', substringUTF8(ExceptionType, 1, 150),
        trimBoth(ExceptionMessage) = '', 'Unknown Error',
        match(ExceptionMessage, '(?i)^(schema)?\\s*(parse|decode) ?error\\b') AND position(ExceptionMessage, '\n') > 0, 'Schema parse error',
        IsObject, if(Named != '', substringUTF8(Named, 1, 150), 'JSON error'),
        substringUTF8(if(Head != '', Head, ExceptionMessage), 1, 150)) AS ErrorLabel,
    ExceptionType,
    substringUTF8(ExceptionMessage, 1, 2000) AS ExceptionMessage,
    if(empty(Frames), '', Frames[1]) AS TopFrame,
    DurationNano,
    SampleRate
FROM
(
    SELECT
        *,
        arraySlice(arrayMap(
            line -> substringUTF8(replaceRegexpAll(trimBoth(line), '0x[0-9a-fA-F]+|\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#'), 1, 300),
            arrayFilter(
                line -> match(line, ':\\d+|line \\d+') AND (FirstLine = '' OR position(line, FirstLine) = 0),
                arraySlice(splitByChar('\n', substring(Stack, 1, 16384)), 1, 200))), 1, 3) AS Frames,
        startsWith(trimLeft(ExceptionMessage), '{') AND isValidJSON(ExceptionMessage) AS IsObject,
        multiIf(
            notEmpty(Frames), '',
            IsObject, arrayStringConcat(arraySort(arrayMap(
                pair -> concat(pair.1, '=', replaceRegexpAll(pair.2, '\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#')),
                JSONExtractKeysAndValuesRaw(ExceptionMessage))), '|'),
            replaceRegexpAll(substringUTF8(ExceptionMessage, 1, 200), '\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#')) AS Fallback,
        if(IsObject, coalesce(
            nullIf(JSONExtractString(ExceptionMessage, 'title'), ''), nullIf(JSONExtractString(ExceptionMessage, 'message'), ''),
            nullIf(JSONExtractString(ExceptionMessage, 'error'), ''), nullIf(JSONExtractString(ExceptionMessage, '_tag'), ''),
            nullIf(JSONExtractString(ExceptionMessage, 'reason'), ''), nullIf(JSONExtractString(ExceptionMessage, 'name'), ''),
            nullIf(arrayElement(splitByRegexp('[/.:#]', JSONExtractString(ExceptionMessage, 'type')), -1), ''), ''), '') AS Named,
        extract(ExceptionMessage, '(?s)^(.{3}.*?)(?:: |, | ?\\(|\\n|$)') AS Head
    FROM
    (
        SELECT
            OrgId, Timestamp, TraceId, SpanId, SpanName, ServiceName, ServiceNamespace, ServiceVersion, Environment, DurationNano, SampleRate,
            ParentSpanId = '' AS IsRoot,
            indexOf(EventsName, 'exception') AS At,
            At > 0 AS HasException,
            if(HasException, EventsTimestamp[At], addNanoseconds(Timestamp, DurationNano)) AS OccurredAt,
            EventsAttributes[At]['exception.type'] AS ExceptionType,
            EventsAttributes[At]['exception.stacktrace'] AS Stack,
            if(EventsAttributes[At]['exception.message'] != '', EventsAttributes[At]['exception.message'], StatusMessage) AS ExceptionMessage,
            substringUTF8(extract(ExceptionMessage, '^[^\\n]*'), 1, 200) AS FirstLine
        FROM spans_local
        WHERE StatusCode = 'Error' AND ErrorFingerprint = 0
    )
)
;

CREATE MATERIALIZED VIEW IF NOT EXISTS error_events_spans_view ON CLUSTER 'main' TO error_events_local AS
SELECT
    OrgId,
    ErrorFingerprint AS FingerprintHash,
    Timestamp,
    OccurredAt,
    TraceId,
    SpanId,
    SpanName,
    ServiceName,
    ServiceNamespace,
    ServiceVersion,
    Environment,
    IsRoot,
    HasException,
    ErrorLabel,
    ExceptionType,
    substringUTF8(ExceptionMessage, 1, 2000) AS ExceptionMessage,
    ErrorFrame AS TopFrame,
    DurationNano,
    SampleRate
FROM
(
    SELECT
        OrgId, Timestamp, TraceId, SpanId, SpanName, ServiceName, ServiceNamespace, ServiceVersion, Environment, DurationNano, SampleRate,
        ErrorFingerprint, ErrorFrame, ErrorLabel,
        ParentSpanId = '' AS IsRoot,
        indexOf(EventsName, 'exception') AS At,
        At > 0 AS HasException,
        if(HasException, EventsTimestamp[At], addNanoseconds(Timestamp, DurationNano)) AS OccurredAt,
        EventsAttributes[At]['exception.type'] AS ExceptionType,
        if(EventsAttributes[At]['exception.message'] != '', EventsAttributes[At]['exception.message'], StatusMessage) AS ExceptionMessage
    FROM spans_local
    WHERE StatusCode = 'Error' AND ErrorFingerprint != 0
)
;

CREATE MATERIALIZED VIEW IF NOT EXISTS error_events_logs_view ON CLUSTER 'main' TO error_events_local AS
SELECT
    OrgId,
    ErrorFingerprint AS FingerprintHash,
    Timestamp,
    Timestamp AS OccurredAt,
    TraceId,
    SpanId,
    EventName AS SpanName,
    ServiceName,
    ServiceNamespace,
    ServiceVersion,
    Environment,
    false AS IsRoot,
    true AS HasException,
    ErrorLabel,
    LogAttributes['exception.type'] AS ExceptionType,
    substringUTF8(LogAttributes['exception.message'], 1, 2000) AS ExceptionMessage,
    ErrorFrame AS TopFrame,
    0 AS DurationNano,
    1 AS SampleRate,
    'log' AS Source
FROM logs_local
WHERE ErrorFingerprint != 0
;

CREATE TABLE IF NOT EXISTS call_hours_local ON CLUSTER 'main'
(
    OrgId LowCardinality(String),
    Hour DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    CountedAt DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    SourceService LowCardinality(String) CODEC(ZSTD(1)),
    TargetService LowCardinality(String) CODEC(ZSTD(1)),
    SeenSpanCount UInt64 CODEC(ZSTD(1)),
    CallCount UInt64 CODEC(ZSTD(1)),
    EstimatedCallCount Float64 CODEC(ZSTD(1)),
    ErrorCount UInt64 CODEC(ZSTD(1)),
    EstimatedErrorCount Float64 CODEC(ZSTD(1)),
    EstimatedDurationNano Float64 CODEC(ZSTD(1)),
    MaxDurationNano UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, SourceService, Hour, CountedAt)
TTL Hour + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

CREATE TABLE IF NOT EXISTS call_hours ON CLUSTER 'main'
AS call_hours_local
ENGINE = Distributed('main', 'svc', 'call_hours_local', cityHash64(OrgId))
;

ALTER TABLE call_hours_local ON CLUSTER 'main' MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800
;
