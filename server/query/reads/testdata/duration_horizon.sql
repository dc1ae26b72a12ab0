SELECT min(DurationNano) AS Shortest, count() AS Spans
FROM
(
    SELECT DurationNano
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
        AND DurationNano <= {longest:UInt64}
        AND ServiceName = {value_1:String}
    ORDER BY DurationNano DESC
    LIMIT {limit:UInt32}
)
