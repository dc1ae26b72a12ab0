SELECT ServiceName, SeverityText, argMax(Head, (Timestamp, Head)) AS Latest, count() AS Records,
    min(Timestamp) AS First, max(Timestamp) AS Last
FROM
(
    SELECT Timestamp, ServiceName, SeverityText, substringUTF8(Body, 1, {body_bytes:UInt32}) AS Head
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND hasAllTokens(Body, {tokens_1:Array(String)})
        AND Body != ''
        AND position(lowerUTF8(Body), lowerUTF8({value_2:String})) > 0
)
GROUP BY ServiceName, SeverityText, sipHash128(replaceRegexpAll(replaceRegexpAll(Head, {ids:String}, '#'), {digits:String}, '0'))
ORDER BY Last DESC, ServiceName, SeverityText, Latest
LIMIT 100
SETTINGS max_rows_to_group_by = 100, group_by_overflow_mode = 'any'
