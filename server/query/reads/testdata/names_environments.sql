SELECT DISTINCT Name
FROM
(
    SELECT DISTINCT toString(Environment) AS Name
    FROM service_hours
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_second:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT toString(Environment) AS Name
    FROM log_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start_hour:Int64}, 'UTC')
        AND Minute <= toDateTime({end_second:Int64}, 'UTC')
)
WHERE Name != ''
ORDER BY Name
LIMIT {limit:UInt32}
