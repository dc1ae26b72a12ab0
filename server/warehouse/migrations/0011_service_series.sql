-- The minutes of each service, stored together, for series of one service. In service_minutes the services of a minute are stored together: a
-- series of one service reads all others as well and takes their digests apart. 0001_telemetry.sql explains the placeholders.
-- This table has no minutes from before this migration. Reads of such minutes use service_minutes (query.Rollups).
-- No file ever had the number 0010. It stays unused: a file with a lower number than those applied would run after them.

CREATE TABLE IF NOT EXISTS {{create "service_series"}}
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
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, ServiceName, Minute, ServiceNamespace, Environment, ServiceVersion, IsEntry)
TTL Minute + INTERVAL {{retention service_series 90}} DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "service_series" "cityHash64(OrgId, ServiceName)"}}
;

-- It is fed by what each insert adds to service_minutes, so it costs the insert a few rows.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "service_series_view"}} TO {{local "service_series"}} AS
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
FROM {{local "service_minutes"}}
GROUP BY OrgId, ServiceName, Minute, ServiceNamespace, Environment, ServiceVersion, IsEntry
;
