-- A row for each scrape of a target, for the list of its checks. 0001_telemetry.sql explains the placeholders.

CREATE TABLE IF NOT EXISTS {{create "scrape_checks"}}
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
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, TargetId, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention scrape_checks 1}} DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "scrape_checks" "cityHash64(OrgId, TargetId)"}}
;

{{deduplication "scrape_checks"}}
;
