SELECT MetricType, uniqExact(MetricName) AS Metrics, sum(HourPoints) AS DataPoints
FROM
(
    SELECT MetricName, MetricType, ServiceName, Hour, sum(DataPointCount) AS HourPoints, min(FirstSeen) AS HourFirst, max(LastSeen) AS HourLast
    FROM metric_catalog
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_hour:Int64}, 'UTC')
        AND ServiceName = {service_name:String}
    GROUP BY MetricName, MetricType, ServiceName, Hour
    HAVING HourLast >= fromUnixTimestamp64Nano({start:Int64}, 'UTC') AND HourFirst <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
)
GROUP BY MetricType
ORDER BY MetricType
