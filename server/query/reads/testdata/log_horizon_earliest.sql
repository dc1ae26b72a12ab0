SELECT max(Timestamp) AS Horizon, count() AS Records
FROM
(
    SELECT Timestamp
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND Timestamp > fromUnixTimestamp64Nano({before_time:Int64}, 'UTC')
        AND ServiceName = {value_1:String}
    ORDER BY toStartOfSecond(Timestamp), Timestamp
    LIMIT {limit:UInt32}
)
