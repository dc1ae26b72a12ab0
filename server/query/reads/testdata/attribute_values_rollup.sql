SELECT toString(ServiceVersion) AS Value, sum(EstimatedSpanCount) AS Uses, toUInt64(0) AS Rows
FROM service_minutes
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start:Int64}, 'UTC')
    AND Minute <= toDateTime({end:Int64}, 'UTC')
    AND ServiceName = {service:String}
    AND ServiceVersion != ''
    AND position(lowerUTF8(ServiceVersion), lowerUTF8({search:String})) > 0
GROUP BY Value
ORDER BY Uses DESC, Value
LIMIT {max_distinct:UInt32}
