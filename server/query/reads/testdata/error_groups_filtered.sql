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
    AND FingerprintHash IN {fingerprints:Array(UInt64)}
    AND ServiceName = {service_name:String}
    AND Environment = {deployment_environment:String}
    AND ServiceNamespace = {service_namespace:String}
    AND ExceptionType = {exception_type:String}
    AND (position(lowerUTF8(ErrorLabel), lowerUTF8({search:String})) > 0 OR position(lowerUTF8(ExceptionMessage), lowerUTF8({search:String})) > 0)
    AND IsRoot
GROUP BY FingerprintHash
ORDER BY Occurrences DESC, FingerprintHash
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
