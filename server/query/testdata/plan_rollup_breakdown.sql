SELECT
    [toString(Key1)] AS GroupKey,
    Value,
    sum(Value) OVER () AS Total,
    count() OVER () AS Groups
FROM
(
    SELECT
        ServiceName AS Key1,
        sum(EstimatedErrorCount) / sum(EstimatedSpanCount) AS Value
    FROM (
        SELECT Hour AS Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations
        FROM service_hours
        WHERE OrgId = {org:String}
            AND Hour >= toDateTime({first_hour:Int64}, 'UTC')
            AND Hour < toDateTime({last_hour:Int64}, 'UTC')
        UNION ALL
        SELECT Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND (Minute < toDateTime({first_hour:Int64}, 'UTC') OR Minute >= toDateTime({last_hour:Int64}, 'UTC'))
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry,
            sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            sum(SampleRate * DurationNano) AS EstimatedDurationNano,
            quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
        GROUP BY Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
    )
    GROUP BY Key1
)
ORDER BY Value DESC, Key1 ASC
LIMIT {limit:UInt32}
