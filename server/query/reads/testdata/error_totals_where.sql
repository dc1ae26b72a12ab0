SELECT
    count() AS Occurrences,
    sum(SampleRate) AS Estimated,
    uniqExact(FingerprintHash) AS Groups,
    countIf(NOT HasException) AS NoException,
    uniqExact(ServiceName) AS Services,
    uniqCombined64(TraceId) AS Traces,
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
    AND (ServiceName = {value_1:String} OR DurationNano > {number_2:Float64})
