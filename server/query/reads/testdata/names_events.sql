SELECT DISTINCT Name
FROM
(
    SELECT DISTINCT toString(Name) AS Name
    FROM product_events
    WHERE OrgId = {org:String}
        AND Timestamp >= toDateTime({start_hour:Int64}, 'UTC')
        AND Timestamp <= toDateTime({end_second:Int64}, 'UTC')
)
WHERE Name != ''
ORDER BY Name
LIMIT {limit:UInt32}
