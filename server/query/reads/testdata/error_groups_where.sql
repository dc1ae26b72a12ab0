SELECT
    FingerprintHash,
    argMax(ErrorLabel, Timestamp) AS Label,
    argMax(ExceptionType, Timestamp) AS Type,
    argMax(ExceptionMessage, Timestamp) AS Message,
    argMax(TopFrame, Timestamp) AS Frame,
    count() AS Occurrences,
    sum(SampleRate) AS Estimated,
    arraySort(groupUniqArray(20)(ServiceName)) AS Services,
    uniqExact(ServiceName) AS ServiceCount,
    uniqCombined64(TraceId) AS Traces,
    arraySort(groupUniqArrayIf(20)(Environment, Environment != '')) AS Environments,
    min(Timestamp) AS First,
    max(Timestamp) AS Last,
    countIf(NOT HasException) AS NoException,
    sumIf(SampleRate, NOT HasException) AS EstimatedNoException,
    (arraySlice(arrayReverseSort(e -> (e.3, e.1), arrayZip(
        (sumMap([toString(Environment)], [toUInt64(1)], [SampleRate]) AS sums).1, sums.2, sums.3)), 1, 20) AS split).1 AS SplitNames,
    split.2 AS SplitCounts,
    split.3 AS SplitEstimated
FROM error_events
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND Source = ''
    AND ServiceName = {service_name:String}
    AND (TraceId, SpanId) GLOBAL IN (
        SELECT TraceId, SpanId FROM spans
        WHERE OrgId = {org:String}
          AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
          AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
          AND StatusCode = 'Error'
          AND ServiceName = {service_name:String}
          AND mapContains(SpanAttributes, {key_1:String})
          AND NOT (mapContains(SpanAttributes, {key_2:String}))
          AND mapContains(SpanAttributes, {key_3:String})
          AND SpanAttributes[{key_3:String}] = {value_4:String}
          AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({key_3:String}, {value_4:String}))
          AND NOT ((mapContains(SpanAttributes, {key_5:String}) AND SpanAttributes[{key_5:String}] = {value_6:String}))
          AND mapContains(SpanAttributes, {key_7:String})
          AND position(lowerUTF8(SpanAttributes[{key_7:String}]), lowerUTF8({value_8:String})) > 0
          AND NOT ((mapContains(SpanAttributes, {key_9:String}) AND position(lowerUTF8(SpanAttributes[{key_9:String}]), lowerUTF8({value_10:String})) > 0))
          AND ifNull(toFloat64OrNull(SpanAttributes[{key_11:String}]) > {number_12:Float64}, 0)
          AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_13:String}]) > {number_14:Float64}, 0))
          AND ifNull(toFloat64OrNull(SpanAttributes[{key_15:String}]) >= {number_16:Float64}, 0)
          AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_17:String}]) >= {number_18:Float64}, 0))
          AND ifNull(toFloat64OrNull(SpanAttributes[{key_19:String}]) < {number_20:Float64}, 0)
          AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_21:String}]) < {number_22:Float64}, 0))
          AND ifNull(toFloat64OrNull(SpanAttributes[{key_23:String}]) <= {number_24:Float64}, 0)
          AND NOT (ifNull(toFloat64OrNull(SpanAttributes[{key_25:String}]) <= {number_26:Float64}, 0)))
GROUP BY FingerprintHash
ORDER BY Occurrences DESC, FingerprintHash
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
