WITH
    (Timestamp >= fromUnixTimestamp64Nano({now_start:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({now_end:Int64}, 'UTC')) AS IsNow,
    toUInt64(round(SampleRate * 16)) AS Weight
SELECT
    SpanName,
    countIf(IsNow) AS Now,
    countIf(NOT IsNow) AS Before,
    toFloat64(avgWeightedIf(DurationNano, SampleRate, IsNow)) / 1e6 AS NowMean,
    toFloat64(avgWeightedIf(DurationNano, SampleRate, NOT IsNow)) / 1e6 AS BeforeMean,
    toFloat64(quantileTDigestWeightedIf(0.95)(DurationNano, Weight, IsNow)) / 1e6 AS NowP95,
    toFloat64(quantileTDigestWeightedIf(0.95)(DurationNano, Weight, NOT IsNow)) / 1e6 AS BeforeP95,
    avgIf(log(DurationNano + 1), IsNow) AS NowLog,
    avgIf(log(DurationNano + 1), NOT IsNow) AS BeforeLog,
    varPopIf(log(DurationNano + 1), IsNow) AS NowVariance,
    varPopIf(log(DurationNano + 1), NOT IsNow) AS BeforeVariance
FROM spans
WHERE OrgId = {org:String}
    AND ((Timestamp >= fromUnixTimestamp64Nano({now_start:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({now_end:Int64}, 'UTC')) OR (Timestamp >= fromUnixTimestamp64Nano({before_start:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({before_end:Int64}, 'UTC')))
    AND ServiceName = {value_1:String}
GROUP BY SpanName
ORDER BY Now DESC, SpanName
LIMIT {limit:UInt32}
