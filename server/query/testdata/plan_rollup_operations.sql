SELECT
    [toString(Key1)] AS GroupKey,
    Value,
    sum(Value) OVER () AS Total,
    count() OVER () AS Groups
FROM
(
    SELECT
        SpanName AS Key1,
        sum(EstimatedDurationNano) / sum(EstimatedSpanCount) / 1e6 AS Value
    FROM (
        SELECT Hour AS Minute, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry, EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano
        FROM operation_hours
        WHERE OrgId = {org:String}
            AND Hour >= toDateTime({first_hour:Int64}, 'UTC')
            AND Hour < toDateTime({last_hour:Int64}, 'UTC')
            AND ServiceName = {value_1:String}
            AND HttpStatusCode != 0
            AND HttpStatusCode >= {number_2:Float64}
        UNION ALL
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry,
            SampleRate AS EstimatedSpanCount,
            if(HasError, SampleRate, 0) AS EstimatedErrorCount,
            SampleRate * DurationNano AS EstimatedDurationNano
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND (Timestamp < toDateTime({first_hour:Int64}, 'UTC') OR Timestamp >= toDateTime({last_hour:Int64}, 'UTC'))
            AND ServiceName = {value_1:String}
            AND HttpStatusCode != 0
            AND HttpStatusCode >= {number_2:Float64}
    )
    GROUP BY Key1
)
ORDER BY Value DESC, Key1 ASC
LIMIT {limit:UInt32}
