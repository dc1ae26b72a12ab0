WITH (SeverityText) GLOBAL IN (
    SELECT
        Top1
    FROM
    (
        SELECT
        SeverityText AS Top1,
        toDateTime(least(intDiv(toUnixTimestamp(Minute), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS TopBucket,
        sumIf(LogCount, (SeverityNumber >= 17 OR SeverityNumber = 0 AND SeverityText IN ('ERROR', 'FATAL', 'CRITICAL', 'ALERT', 'EMERGENCY'))) / sum(LogCount) AS TopValue
        FROM (
        SELECT Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber, LogCount
        FROM log_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {value_1:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber,
            toUInt64(1) AS LogCount
        FROM logs
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {value_1:String}
    )
        GROUP BY Top1, TopBucket
    )
    GROUP BY Top1
    ORDER BY maxIf(TopValue, isFinite(TopValue)) DESC, Top1
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
        toDateTime(least(intDiv(toUnixTimestamp(Minute), {bucket:UInt32}) * {bucket:UInt32}, {last_bucket:UInt32}), 'UTC') AS Bucket,
        if(Ranked, SeverityText, '') AS Key1,
        NOT Ranked AS Other,
        sumIf(LogCount, (SeverityNumber >= 17 OR SeverityNumber = 0 AND SeverityText IN ('ERROR', 'FATAL', 'CRITICAL', 'ALERT', 'EMERGENCY'))) / sum(LogCount) AS Value
    FROM (
        SELECT Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber, LogCount
        FROM log_minutes
        WHERE OrgId = {org:String}
            AND Minute >= toDateTime({first_minute:Int64}, 'UTC')
            AND Minute < toDateTime({last_minute:Int64}, 'UTC')
            AND ServiceName = {value_1:String}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber,
            toUInt64(1) AS LogCount
        FROM logs
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_minute:Int64}, 'UTC') OR Timestamp >= toDateTime({last_minute:Int64}, 'UTC'))
            AND ServiceName = {value_1:String}
    )
    GROUP BY Bucket, Key1, Other
)
