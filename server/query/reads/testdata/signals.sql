SELECT
    Signal,
    Whole,
    ServiceName,
    Items,
    First,
    Last,
    uniqExactIf(ServiceName, ServiceName != '') OVER () AS Services
FROM
(
    SELECT 'traces' AS Signal, ServiceName, grouping(ServiceName) AS Whole, sum(SpanCount) AS Items, toDateTime64(min(Minute), 9, 'UTC') AS First, toDateTime64(max(Minute), 9, 'UTC') AS Last
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
        AND Minute <= toDateTime({end_second:Int64}, 'UTC')
    GROUP BY GROUPING SETS ((), (ServiceName))
    UNION ALL
    SELECT 'logs' AS Signal, ServiceName, grouping(ServiceName) AS Whole, count() AS Items, toDateTime64(min(Timestamp), 9, 'UTC') AS First, toDateTime64(max(Timestamp), 9, 'UTC') AS Last
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    GROUP BY GROUPING SETS ((), (ServiceName))
    UNION ALL
    SELECT 'metrics' AS Signal, ServiceName, grouping(ServiceName) AS Whole, sum(DataPointCount) AS Items, toDateTime64(min(FirstSeen), 9, 'UTC') AS First, toDateTime64(max(LastSeen), 9, 'UTC') AS Last
    FROM metric_catalog
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_second:Int64}, 'UTC')
    GROUP BY GROUPING SETS ((), (ServiceName))
    UNION ALL
    SELECT 'sessions' AS Signal, ServiceName, grouping(ServiceName) AS Whole, uniqExact(SessionId) AS Items, toDateTime64(min(StartTime), 9, 'UTC') AS First, toDateTime64(max(StartTime), 9, 'UTC') AS Last
    FROM session_replays
    WHERE OrgId = {org:String}
        AND StartTime >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    GROUP BY GROUPING SETS ((), (ServiceName))
    UNION ALL
    SELECT 'product_events' AS Signal, ServiceName, grouping(ServiceName) AS Whole, count() AS Items, toDateTime64(min(Timestamp), 9, 'UTC') AS First, toDateTime64(max(Timestamp), 9, 'UTC') AS Last
    FROM product_events
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    GROUP BY GROUPING SETS ((), (ServiceName))
)
WHERE Whole = 1 OR ServiceName != ''
ORDER BY Whole DESC, sum(Items) OVER (PARTITION BY Whole, ServiceName) DESC, ServiceName, Signal
LIMIT {rows:UInt32}
