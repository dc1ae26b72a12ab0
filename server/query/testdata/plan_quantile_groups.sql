WITH (SpanName) GLOBAL IN (
    SELECT
        Top1
    FROM
    (
        SELECT
        SpanName AS Top1,
        toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS TopBucket,
        ifNull(toFloat64(quantileTDigestWeighted({level:Float64})(DurationNano / 1e6, toUInt64(round(SampleRate * 16)))), nan) AS TopValue
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND HasError
            AND DurationNano > {number_1:Float64}
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
        toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
        if(Ranked, SpanName, '') AS Key1,
        NOT Ranked AS Other,
        ifNull(toFloat64(quantileTDigestWeighted({level:Float64})(DurationNano / 1e6, toUInt64(round(SampleRate * 16)))), nan) AS Value
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND HasError
        AND DurationNano > {number_1:Float64}
    GROUP BY Bucket, Key1, Other
)
