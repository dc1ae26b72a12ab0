SELECT Timestamp, ServiceName, SeverityText, Head
FROM
(
    SELECT Timestamp, ServiceName, SeverityText, substringUTF8(Body, 1, {body_bytes:UInt32}) AS Head
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND (Timestamp >= fromUnixTimestamp64Nano({from_1:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({to_2:Int64}, 'UTC')
        OR Timestamp >= fromUnixTimestamp64Nano({from_3:Int64}, 'UTC') AND Timestamp <= fromUnixTimestamp64Nano({to_4:Int64}, 'UTC'))
        AND hasAllTokens(Body, {tokens_5:Array(String)})
        AND Body != ''
        AND position(lowerUTF8(Body), lowerUTF8({value_6:String})) > 0
        AND rand() < {drawn:UInt32}
    ORDER BY rand()
    LIMIT {limit:UInt32}
)
ORDER BY Timestamp DESC
