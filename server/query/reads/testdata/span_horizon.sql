SELECT min(Timestamp) AS Horizon, count() AS Roots
FROM
(
    SELECT Timestamp
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
        AND ServiceName = {value_1:String}
    ORDER BY toStartOfSecond(Timestamp) DESC, Timestamp DESC
    LIMIT {limit:UInt32}
)
