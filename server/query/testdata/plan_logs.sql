WITH (SeverityText, LogAttributes[{key_4:String}]) GLOBAL IN (
    SELECT
        SeverityText AS Top1,
        LogAttributes[{key_4:String}] AS Top2
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND hasAllTokens(Body, {tokens_1:Array(String)})
        AND Body != ''
        AND position(lowerUTF8(Body), lowerUTF8({value_2:String})) > 0
        AND SeverityText = {value_3:String}
    GROUP BY Top1, Top2
    ORDER BY toFloat64(count()) DESC, Top1, Top2
    LIMIT {limit:UInt32}
) AS Ranked
SELECT
    Bucket,
    [toString(Key1), toString(Key2)] AS GroupKey,
    Other,
    Value
FROM
(
    SELECT
        toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
        if(Ranked, SeverityText, '') AS Key1,
        if(Ranked, LogAttributes[{key_4:String}], '') AS Key2,
        NOT Ranked AS Other,
        toFloat64(count()) AS Value
    FROM logs
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND hasAllTokens(Body, {tokens_1:Array(String)})
        AND Body != ''
        AND position(lowerUTF8(Body), lowerUTF8({value_2:String})) > 0
        AND SeverityText = {value_3:String}
    GROUP BY Bucket, Key1, Key2, Other
)
