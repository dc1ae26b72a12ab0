-- Rollups for reads over much: of a whole organization by minute, of services and operations by hour, of log records by minute.
-- 0001_telemetry.sql explains the placeholders. Minutes and hours before this was applied are not here: who reads these tables reads
-- finer ones for them (query.Rollups).

-- The minutes of all services together. It is fed by what each insert adds to service_minutes, so it costs the insert a few rows.
CREATE TABLE IF NOT EXISTS {{create "organization_minutes"}}
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
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, Environment, IsEntry)
TTL Minute + INTERVAL {{retention organization_minutes 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "organization_minutes" "cityHash64(OrgId, Minute)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "organization_minutes_view"}} TO {{local "organization_minutes"}} AS
SELECT
    OrgId,
    Minute,
    Environment,
    IsEntry,
    sum(EstimatedSpanCount) AS EstimatedSpanCount,
    sum(EstimatedErrorCount) AS EstimatedErrorCount,
    sum(EstimatedDurationNano) AS EstimatedDurationNano,
    quantilesTDigestWeightedMergeState(0.5, 0.95, 0.99)(WeightedDurations) AS WeightedDurations
FROM {{local "service_minutes"}}
GROUP BY OrgId, Minute, Environment, IsEntry
;

-- The hours of each service: service_minutes for long windows.
CREATE TABLE IF NOT EXISTS {{create "service_hours"}}
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
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry)
TTL Hour + INTERVAL {{retention service_hours 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "service_hours" "cityHash64(OrgId, ServiceName)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "service_hours_view"}} TO {{local "service_hours"}} AS
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
FROM {{local "service_minutes"}}
GROUP BY OrgId, Hour, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

-- Spans by what people filter them by, counted by hour: facets, and the busiest operations of a long window.
CREATE TABLE IF NOT EXISTS {{create "operation_hours"}}
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
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Hour)
ORDER BY (OrgId, Hour, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry)
TTL Hour + INTERVAL {{retention operation_hours 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "operation_hours" "cityHash64(OrgId, ServiceName)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "operation_hours_view"}} TO {{local "operation_hours"}} AS
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
FROM {{local "spans"}}
GROUP BY OrgId, Hour, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry
;

-- Log records by service and severity.
CREATE TABLE IF NOT EXISTS {{create "log_minutes"}}
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
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber)
TTL Minute + INTERVAL {{retention log_minutes 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "log_minutes" "cityHash64(OrgId, ServiceName)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "log_minutes_view"}} TO {{local "log_minutes"}} AS
SELECT
    OrgId,
    toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute,
    ServiceName,
    ServiceNamespace,
    Environment,
    SeverityText,
    SeverityNumber,
    count() AS LogCount
FROM {{local "logs"}}
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber
;
