SELECT DISTINCT Name
FROM
(
    SELECT DISTINCT toString(ServiceName) AS Name
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start_hour:Int64}, 'UTC')
        AND Minute <= toDateTime({end_second:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT toString(ServiceName) AS Name
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= toDateTime({start_hour:Int64}, 'UTC')
        AND Timestamp <= toDateTime({end_second:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT toString(ServiceName) AS Name
    FROM metric_catalog
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_second:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT toString(ServiceName) AS Name
    FROM product_events
    WHERE OrgId = {org:String}
        AND Timestamp >= toDateTime({start_hour:Int64}, 'UTC')
        AND Timestamp <= toDateTime({end_second:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT toString(ServiceName) AS Name
    FROM session_replays
    WHERE OrgId = {org:String}
        AND StartTime >= toDateTime({start_hour:Int64}, 'UTC')
        AND StartTime <= toDateTime({end_second:Int64}, 'UTC')
)
WHERE Name != ''
ORDER BY Name
LIMIT {limit:UInt32}
