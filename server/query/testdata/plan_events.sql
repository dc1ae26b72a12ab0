WITH (arrayMap(event -> event[{key_3:String}], arrayFilter(event -> mapContains(event, {key_3:String}), EventsAttributes))[1]) GLOBAL IN (
    SELECT
        arrayMap(event -> event[{key_3:String}], arrayFilter(event -> mapContains(event, {key_3:String}), EventsAttributes))[1] AS Top1
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND arrayExists(event -> (mapContains(event, {key_1:String}) AND position(lowerUTF8(event[{key_1:String}]), lowerUTF8({value_2:String})) > 0), EventsAttributes)
        AND NOT (arrayExists(item -> item != '', EventsName))
    GROUP BY Top1
    ORDER BY toFloat64(sum(SampleRate)) DESC, Top1
    LIMIT {limit:UInt32}
) AS Ranked
SELECT
    Bucket,
    [toString(Key1)] AS GroupKey,
    Other,
    Value
FROM
(
    SELECT
        toDateTime(least(intDiv(toUnixTimestamp(Timestamp), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
        if(Ranked, arrayMap(event -> event[{key_3:String}], arrayFilter(event -> mapContains(event, {key_3:String}), EventsAttributes))[1], '') AS Key1,
        NOT Ranked AS Other,
        toFloat64(sum(SampleRate)) AS Value
    FROM spans
    WHERE OrgId = {org:String}
        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        AND arrayExists(event -> (mapContains(event, {key_1:String}) AND position(lowerUTF8(event[{key_1:String}]), lowerUTF8({value_2:String})) > 0), EventsAttributes)
        AND NOT (arrayExists(item -> item != '', EventsName))
    GROUP BY Bucket, Key1, Other
)
