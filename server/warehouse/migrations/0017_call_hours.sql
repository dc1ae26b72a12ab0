-- The calls between services by hour. A worker counts them when the hour is over, because a call is found by a join of spans. An hour can be
-- counted again after late spans: its rows with the latest CountedAt hold. 0001_telemetry.sql explains the placeholders.

CREATE TABLE IF NOT EXISTS {{create "call_hours"}}
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
ENGINE = {{engine "MergeTree"}}
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, SourceService, Hour, CountedAt)
TTL Hour + INTERVAL {{retention call_hours 90}} DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "call_hours" "cityHash64(OrgId)"}}
;

{{deduplication "call_hours"}}
;
