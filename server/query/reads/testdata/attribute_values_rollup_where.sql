SELECT toString(ServiceVersion) AS Value, sum(EstimatedSpanCount) AS Uses, toUInt64(0) AS Rows
FROM service_minutes
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start:Int64}, 'UTC')
    AND Minute <= toDateTime({end:Int64}, 'UTC')
    AND NOT ((Environment = {value_1:String} OR (ServiceName != '' AND position(lowerUTF8(ServiceName), lowerUTF8({value_2:String})) > 0)))
    AND ServiceVersion != ''
GROUP BY Value
ORDER BY Uses DESC, Value
LIMIT {max_distinct:UInt32}
