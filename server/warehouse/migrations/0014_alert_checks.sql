-- A row for each evaluation of a group of an alert rule, and their sums by hour, which are kept longer. 0001_telemetry.sql explains the
-- placeholders.

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

CREATE TABLE IF NOT EXISTS {{create "alert_check_hours"}}
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
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, RuleId, Hour, GroupKey)
TTL Hour + INTERVAL {{retention alert_check_hours 365}} DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "alert_check_hours" "cityHash64(OrgId, RuleId)"}}
;

{{deduplication "alert_check_hours"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "alert_check_hours_view"}} TO {{local "alert_check_hours"}} AS
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
FROM {{local "alert_checks"}}
GROUP BY OrgId, RuleId, Hour, GroupKey
;
