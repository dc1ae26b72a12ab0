WITH (ServiceVersion) GLOBAL IN (
    SELECT
        Top1
    FROM
    (
        SELECT
        ServiceVersion AS Top1,
        toDateTime(least(intDiv(toUnixTimestamp(Minute), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS TopBucket,
        toFloat64(quantilesTDigestWeightedMerge({level:Float64})(WeightedDurations)[1]) / 1e6 AS TopValue
        FROM (
        SELECT Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {value_1:String}
            AND NOT (Environment = {value_2:String})
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
            AND ServiceName = {value_1:String}
            AND NOT (Environment = {value_2:String})
        GROUP BY Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
    )
        GROUP BY Top1, TopBucket
    )
    GROUP BY Top1
    ORDER BY maxIf(TopValue, isFinite(TopValue)) DESC, Top1
    LIMIT {limit:UInt32}
) AS Ranked
SELECT
    Bucket,
    [toString(Key1)] AS GroupKey,
    Other,
    Value
FROM
(
    SELECT
        toDateTime(least(intDiv(toUnixTimestamp(Minute), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
        if(Ranked, ServiceVersion, '') AS Key1,
        NOT Ranked AS Other,
        toFloat64(quantilesTDigestWeightedMerge({level:Float64})(WeightedDurations)[1]) / 1e6 AS Value
    FROM (
        SELECT Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {value_1:String}
            AND NOT (Environment = {value_2:String})
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
            AND ServiceName = {value_1:String}
            AND NOT (Environment = {value_2:String})
        GROUP BY Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
    )
    GROUP BY Bucket, Key1, Other
)
