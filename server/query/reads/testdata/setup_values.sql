SELECT Key, Sort, count() AS Spans, any(Rows) AS Of
FROM
(
    SELECT Pair.1 AS Key, Rows, multiIf(
            match(Pair.2, '^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+[.][A-Za-z0-9.-]*[A-Za-z]{2,}$'), 'email',
            match(Pair.2, '^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|3[47][0-9]{13})$'), 'card',
            match(Pair.2, '^(?:Bearer |eyJ[A-Za-z0-9_-]{10,}[.]|sk_live_|ghp_|AKIA[0-9A-Z]{16})'), 'token',
            '') AS Sort
    FROM
    (
        SELECT SpanAttributes, count() OVER () AS Rows
        FROM
        (
            SELECT SpanAttributes
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            LIMIT {rows:UInt32}
        )
    )
    ARRAY JOIN arrayMap((k, v) -> (k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)) AS Pair
)
WHERE Sort != ''
GROUP BY Key, Sort
ORDER BY Spans DESC, Key, Sort
LIMIT 100
