SELECT min(Timestamp) AS Horizon, count() AS Roots
FROM
(
    SELECT Timestamp
    FROM trace_roots
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({lo:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({hi:Int64}, 'UTC')
    ORDER BY OrgId DESC, Timestamp DESC
    LIMIT {limit:UInt32}
)
