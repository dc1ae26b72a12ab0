SELECT DISTINCT Name
FROM
(
    SELECT DISTINCT toString(SpanName) AS Name
    FROM operation_hours
    WHERE OrgId = {org:String}
        AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
        AND Hour <= toDateTime({end_second:Int64}, 'UTC')
)
WHERE Name != ''
ORDER BY Name
LIMIT {limit:UInt32}
