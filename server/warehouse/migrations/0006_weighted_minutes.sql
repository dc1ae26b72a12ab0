-- Averages and quantiles of durations that count each span as often as its sampling says. 0001_telemetry.sql explains the placeholders.
-- Weights of a digest are whole numbers: sixteenths. Minutes that were stored before have neither: who reads them reads the spans
-- (query.Rollups).

ALTER TABLE {{alter "service_minutes"}} ADD COLUMN IF NOT EXISTS EstimatedDurationNano SimpleAggregateFunction(sum, Float64)
;

ALTER TABLE {{view "service_minutes"}} ADD COLUMN IF NOT EXISTS EstimatedDurationNano SimpleAggregateFunction(sum, Float64)
;

ALTER TABLE {{alter "service_minutes"}} ADD COLUMN IF NOT EXISTS WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
;

ALTER TABLE {{view "service_minutes"}} ADD COLUMN IF NOT EXISTS WeightedDurations AggregateFunction(quantilesTDigestWeighted(0.5, 0.95, 0.99), UInt64, UInt64)
;

ALTER TABLE {{view "service_minutes_view"}} MODIFY QUERY
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
FROM {{local "spans"}}
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;
