SELECT
    MetricName,
    MetricType,
    ServiceName,
    argMax(HourDescription, Hour) AS Description,
    argMax(HourUnit, Hour) AS Unit,
    max(HourMonotonic) > 0 AS Monotonic,
    sum(HourPoints) AS DataPoints,
    min(HourFirst) AS First,
    max(HourLast) AS Last
FROM
(
    SELECT
        MetricName,
        MetricType,
        ServiceName,
        Hour,
        anyLast(MetricDescription) AS HourDescription,
        anyLast(MetricUnit) AS HourUnit,
        max(IsMonotonic) AS HourMonotonic,
        sum(DataPointCount) AS HourPoints,
        min(FirstSeen) AS HourFirst,
        max(LastSeen) AS HourLast
    FROM metric_catalog
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_hour:Int64}, 'UTC')
        AND ServiceName = {service_name:String}
        AND MetricType = {metric_type:String}
        AND position(lowerUTF8(MetricName), lowerUTF8({search:String})) > 0
    GROUP BY MetricName, MetricType, ServiceName, Hour
    HAVING HourLast >= fromUnixTimestamp64Nano({start:Int64}, 'UTC') AND HourFirst <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
)
GROUP BY MetricName, MetricType, ServiceName
ORDER BY MetricName, MetricType, ServiceName
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
