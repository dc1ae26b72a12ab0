SELECT count() AS Points, countIf(isNull(Max)) AS Unsent
FROM metrics_histogram
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND Count > 0
