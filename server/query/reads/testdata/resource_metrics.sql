SELECT
    MetricName,
    any(MetricType) AS Type,
    sum(DataPointCount) AS Points
FROM metric_catalog
WHERE OrgId = {org:String}
    AND Hour >= toDateTime({start:Int64}, 'UTC')
    AND Hour <= toDateTime({end:Int64}, 'UTC')
    AND multiSearchAny(lower(MetricName), {words:Array(String)})
GROUP BY MetricName
HAVING Type = 'gauge' OR Type = 'sum' AND max(IsMonotonic) = 0
ORDER BY Points, MetricName
LIMIT {limit:UInt32}
