SELECT
    MetricType,
    argMax(ServiceDescription, ServiceLast) AS Description,
    argMax(ServiceUnit, ServiceLast) AS Unit,
    sum(ServicePoints) AS DataPoints,
    min(ServiceFirst) AS First,
    max(ServiceLast) AS Last,
    arraySort(groupArray(toString(ServiceName))) AS Services,
    arraySort(groupArrayIf(toString(ServiceName), NOT ServiceMonotonic)) AS Falling
FROM
(
    SELECT
        MetricType,
        ServiceName,
        argMax(MetricDescription, Hour) AS ServiceDescription,
        argMax(MetricUnit, Hour) AS ServiceUnit,
        max(IsMonotonic) > 0 AS ServiceMonotonic,
        sum(DataPointCount) AS ServicePoints,
        min(FirstSeen) AS ServiceFirst,
        max(LastSeen) AS ServiceLast
    FROM metric_catalog
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_hour:Int64}, 'UTC')
        AND MetricName = {metric_name:String}
    GROUP BY MetricType, ServiceName
)
GROUP BY MetricType
HAVING Last >= fromUnixTimestamp64Nano({start:Int64}, 'UTC') AND First <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
ORDER BY DataPoints DESC, MetricType
