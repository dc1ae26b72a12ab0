SELECT
    toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
    roundDown(DurationNano, CAST([0, 1000, 1250, 1600, 2000, 2500, 3150, 4000, 5000, 6300, 8000, 10000, 12500, 16000, 20000, 25000, 31500, 40000, 50000, 63000, 80000, 100000, 125000, 160000, 200000, 250000, 315000, 400000, 500000, 630000, 800000, 1000000, 1250000, 1600000, 2000000, 2500000, 3150000, 4000000, 5000000, 6300000, 8000000, 10000000, 12500000, 16000000, 20000000, 25000000, 31500000, 40000000, 50000000, 63000000, 80000000, 100000000, 125000000, 160000000, 200000000, 250000000, 315000000, 400000000, 500000000, 630000000, 800000000, 1000000000, 1250000000, 1600000000, 2000000000, 2500000000, 3150000000, 4000000000, 5000000000, 6300000000, 8000000000, 10000000000, 12500000000, 16000000000, 20000000000, 25000000000, 31500000000, 40000000000, 50000000000, 63000000000, 80000000000, 100000000000, 125000000000, 160000000000, 200000000000, 250000000000, 315000000000, 400000000000, 500000000000, 630000000000, 800000000000, 1000000000000, 1250000000000, 1600000000000, 2000000000000, 2500000000000, 3150000000000, 4000000000000, 5000000000000, 6300000000000, 8000000000000, 10000000000000, 12500000000000, 16000000000000, 20000000000000, 25000000000000, 31500000000000, 40000000000000, 50000000000000, 63000000000000, 80000000000000, 100000000000000, 125000000000000, 160000000000000, 200000000000000, 250000000000000, 315000000000000, 400000000000000, 500000000000000, 630000000000000, 800000000000000, 1000000000000000], 'Array(UInt64)')) AS Shortest,
    count() AS Received,
    toFloat64(sum(SampleRate)) AS Estimated,
    toFloat64(sumIf(SampleRate, HasError)) AS EstimatedErrors
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ServiceName = {value_1:String}
    AND mapContains(SpanAttributes, {key_2:String})
    AND NOT (mapContains(SpanAttributes, {key_3:String}))
    AND mapContains(SpanAttributes, {key_4:String})
    AND SpanAttributes[{key_4:String}] = {value_5:String}
    AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({key_4:String}, {value_5:String}))
    AND NOT ((mapContains(SpanAttributes, {key_6:String}) AND SpanAttributes[{key_6:String}] = {value_7:String}))
    AND mapContains(SpanAttributes, {key_8:String})
    AND position(lowerUTF8(SpanAttributes[{key_8:String}]), lowerUTF8({value_9:String})) > 0
    AND NOT ((mapContains(SpanAttributes, {key_10:String}) AND position(lowerUTF8(SpanAttributes[{key_10:String}]), lowerUTF8({value_11:String})) > 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_12:String}]) > {number_13:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_14:String}]) > {number_15:Float64}, 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_16:String}]) >= {number_17:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_18:String}]) >= {number_19:Float64}, 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_20:String}]) < {number_21:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_22:String}]) < {number_23:Float64}, 0))
    AND ifNull(toFloat64OrNull(SpanAttributes[{key_24:String}]) <= {number_25:Float64}, 0)
    AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_26:String}]) <= {number_27:Float64}, 0))
GROUP BY Bucket, Shortest
ORDER BY Bucket, Shortest
