SELECT Value, Uses, Rows
FROM
(
    SELECT arrayJoin(Value) AS Value, sum(Weight) AS Uses, any(Read) AS Rows
    FROM
    (
        SELECT Value, Weight, count() OVER () AS Read
        FROM
        (
            SELECT mapKeys(ResourceAttributes) AS Value, toFloat64(1) AS Weight
            FROM logs
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
            LIMIT {max_rows:UInt32}
        )
    )
    GROUP BY Value
)
WHERE Value != '' AND NOT startsWith(Value, 'svc_')
ORDER BY Uses DESC, Value
LIMIT {max_distinct:UInt32}
