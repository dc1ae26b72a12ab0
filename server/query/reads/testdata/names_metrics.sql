SELECT DISTINCT Name
FROM
(
    SELECT DISTINCT toString(MetricName) AS Name
    FROM metric_catalog
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_second:Int64}, 'UTC')
)
WHERE Name != ''
ORDER BY Name
LIMIT {limit:UInt32}
