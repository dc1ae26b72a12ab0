-- A row for each evaluation of a group of an alert rule. 0001_telemetry.sql explains the placeholders.

CREATE TABLE IF NOT EXISTS {{create "alert_checks"}}
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
ENGINE = {{engine "MergeTree"}}
PARTITION BY toYYYYMM(Timestamp)
ORDER BY (OrgId, RuleId, Timestamp, GroupKey)
TTL Timestamp + INTERVAL {{retention alert_checks 90}} DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "alert_checks" "cityHash64(OrgId, RuleId)"}}
;

{{deduplication "alert_checks"}}
;
