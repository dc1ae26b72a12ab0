SELECT
    toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
    CAST([], 'Array(String)') AS GroupKey,
    false AS Other,
    ifNull(sumOrNull(if(isFinite(toFloat64OrZero(SpanAttributes[{key_6:String}])), toFloat64OrNull(SpanAttributes[{key_6:String}]), NULL) * SampleRate) / sumIf(SampleRate, isNotNull(if(isFinite(toFloat64OrZero(SpanAttributes[{key_6:String}])), toFloat64OrNull(SpanAttributes[{key_6:String}]), NULL))), nan) AS Value
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND ((mapContains(SpanAttributes, {key_1:String}) AND SpanAttributes[{key_1:String}] = {value_2:String} AND has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64({key_1:String}, {value_2:String}))) OR (mapContains(ResourceAttributes, {key_3:String}) AND ResourceAttributes[{key_3:String}] IN ({value_4:String}, {value_5:String}) AND (ServiceName = {value_4:String} OR ServiceName = {value_5:String})))
GROUP BY Bucket
