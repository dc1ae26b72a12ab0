SELECT
    MetricName,
    MetricType,
    ServiceName,
    anyLast(MetricDescription) AS Description,
    anyLast(MetricUnit) AS Unit,
    max(IsMonotonic) > 0 AS Monotonic,
    sum(DataPointCount) AS DataPoints,
    min(FirstSeen) AS First,
    max(LastSeen) AS Last
FROM metric_catalog
WHERE OrgId = {org:String}
    AND Hour >= toDateTime({start:Int64}, 'UTC')
    AND Hour <= toDateTime({end:Int64}, 'UTC')
GROUP BY MetricName, MetricType, ServiceName
ORDER BY MetricName, MetricType, ServiceName
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
