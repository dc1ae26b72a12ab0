SELECT
    toDateTime(intDiv(toUnixTimestamp(toDateTime(Timestamp, 'UTC')), {bucket:Int64}) * {bucket:Int64}, 'UTC') AS Bucket,
    sum(SampleRate) AS Total,
    sumIf(SampleRate, NOT HasError AND DurationNano < {threshold:UInt64}) AS Satisfied,
    sumIf(SampleRate, NOT HasError AND DurationNano >= {threshold:UInt64} AND DurationNano < 4 * {threshold:UInt64}) AS Tolerated
FROM spans
WHERE OrgId = {org:String}
    AND ServiceName = {service_name:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND (IsEntry OR NOT (
        SELECT sum(SpanCount) > 0
        FROM (
        SELECT Minute, IsEntry, SpanCount
        FROM service_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {service_name:String}
            AND IsEntry
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, IsEntry,
            toUInt64(1) AS SpanCount
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {service_name:String}
            AND IsEntry
    )))
GROUP BY Bucket
ORDER BY Bucket
