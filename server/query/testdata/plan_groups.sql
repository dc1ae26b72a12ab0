WITH (SpanName, if(mapContains(SpanAttributes, {key_2:String}), SpanAttributes[{key_2:String}], SpanAttributes[{key_3:String}])) GLOBAL IN (
    SELECT
        SpanName AS Top1,
        if(mapContains(SpanAttributes, {key_2:String}), SpanAttributes[{key_2:String}], SpanAttributes[{key_3:String}]) AS Top2
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND ServiceName = {value_1:String}
    GROUP BY Top1, Top2
    ORDER BY toFloat64(sum(SampleRate)) DESC, Top1, Top2
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
        if(Ranked, SpanName, '') AS Key1,
        if(Ranked, if(mapContains(SpanAttributes, {key_2:String}), SpanAttributes[{key_2:String}], SpanAttributes[{key_3:String}]), '') AS Key2,
        NOT Ranked AS Other,
        toFloat64(sum(SampleRate)) AS Value
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND ServiceName = {value_1:String}
    GROUP BY Bucket, Key1, Key2, Other
)
