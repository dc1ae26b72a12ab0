SELECT
    toDateTime(least(intDiv(toUnixTimestamp(Minute), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
    CAST([], 'Array(String)') AS GroupKey,
    false AS Other,
    toFloat64(quantilesTDigestWeightedMerge({level:Float64})(WeightedDurations)[1]) / 1e6 AS Value
FROM (
        SELECT Minute, Environment, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations
        FROM organization_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND Environment = {value_1:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, Environment, IsEntry,
            sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            sum(SampleRate * DurationNano) AS EstimatedDurationNano,
            quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND Environment = {value_1:String}
        GROUP BY Minute, Environment, IsEntry
    )
GROUP BY Bucket
