SELECT uniq(SeriesHash) AS Series, argMax(Value, Timestamp) AS Latest
FROM metrics_gauge
WHERE OrgId = {org:String}
    AND MetricName = {metric_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    AND bitAnd(Flags, 1) = 0
    AND ServiceName = {service_name:String}
