SELECT MetricName, ServiceName, max(SeriesStarts) AS Starts
FROM
(
    SELECT MetricName, ServiceName, SeriesHash, uniqCombined64(StartTimestamp) AS SeriesStarts
    FROM metrics_sum
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND AggregationTemporality = 'Cumulative'
        AND IsMonotonic
        AND StartTimestamp > toDateTime64(0, 9, 'UTC')
    GROUP BY MetricName, ServiceName, SeriesHash
    HAVING SeriesStarts > {starts:UInt64}
)
GROUP BY MetricName, ServiceName
ORDER BY Starts DESC, MetricName, ServiceName
LIMIT 100
