SELECT
    ServiceName,
    count() AS Records,
    countIf(TraceId = '') AS NoTrace,
    countIf(SeverityNumber = 0) AS NoSeverity,
    countIf(ObservedTimestamp > toDateTime64(0, 9, 'UTC') AND abs(dateDiff('second', Timestamp, ObservedTimestamp)) > 300) AS Skewed,
    countIf(empty(LogAttributes) AND NOT startsWith(Body, '{')) AS Plain
FROM logs
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
GROUP BY ServiceName
ORDER BY Records DESC, ServiceName
LIMIT 500
