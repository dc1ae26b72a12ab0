SELECT MetricName, uniqCombined64(ServiceName) AS Services, uniqCombined64(SeriesHash) AS Series
FROM
(
    SELECT MetricName, ServiceName, SeriesHash
    FROM metrics_sum
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    UNION ALL
    SELECT MetricName, ServiceName, SeriesHash
    FROM metrics_gauge
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    UNION ALL
    SELECT MetricName, ServiceName, SeriesHash
    FROM metrics_histogram
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    UNION ALL
    SELECT MetricName, ServiceName, SeriesHash
    FROM metrics_exponential_histogram
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    UNION ALL
    SELECT MetricName, ServiceName, SeriesHash
    FROM metrics_summary
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
)
GROUP BY MetricName
HAVING Series > {series:UInt64}
ORDER BY Series DESC, MetricName
LIMIT 100
