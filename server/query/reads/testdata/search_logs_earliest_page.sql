SELECT
    Timestamp, ServiceName, TraceId, SpanId, SeverityText, SeverityNumber, Body, EventName, ScopeName, LogAttributes, ResourceAttributes, Record, Copy, Matching
FROM
(
    SELECT
        *,
        count() OVER () AS Matching,
        sum(byteSize(Body, LogAttributes, ResourceAttributes)) OVER (ORDER BY Timestamp, ServiceName, TraceId, SpanId, Record, Copy ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Bytes,
        row_number() OVER (ORDER BY Timestamp, ServiceName, TraceId, SpanId, Record, Copy) AS Place
    FROM
    (
        SELECT
            *,
            row_number() OVER (PARTITION BY Timestamp, ServiceName, TraceId, SpanId, Record) AS Copy
        FROM
        (
            SELECT
                Timestamp, ServiceName, TraceId, SpanId, SeverityText, SeverityNumber, Body, EventName, ScopeName, LogAttributes, ResourceAttributes,
                lower(hex(sipHash128(Timestamp, ObservedTimestamp, TraceId, SpanId, Flags, SeverityText, SeverityNumber, ServiceName,
            ServiceNamespace, ServiceVersion, Environment, EventName, Body, ScopeName, ScopeVersion,
            mapKeys(ScopeAttributes), mapValues(ScopeAttributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes),
            mapKeys(LogAttributes), mapValues(LogAttributes)))) AS Record
            FROM logs
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {value_1:String}
                AND Timestamp >= fromUnixTimestamp64Nano({before_time:Int64}, 'UTC')
                AND (Timestamp, ServiceName, TraceId, SpanId) >= (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_service:String}, {before_trace:String}, {before_span:String})
                AND ((Timestamp, ServiceName, TraceId, SpanId) = (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_service:String}, {before_trace:String}, {before_span:String}) OR (Timestamp, ServiceName, TraceId, SpanId) <= (
                    SELECT max(Key) FROM (
                        SELECT (Timestamp, ServiceName, TraceId, SpanId) AS Key FROM logs
                        WHERE OrgId = {org:String}
                          AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                          AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                          AND ServiceName = {value_1:String}
                          AND Timestamp >= fromUnixTimestamp64Nano({before_time:Int64}, 'UTC')
                          AND (Timestamp, ServiceName, TraceId, SpanId) > (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_service:String}, {before_trace:String}, {before_span:String})
                        ORDER BY Key
                        LIMIT {limit:UInt32})))
        )
    )
    WHERE (Timestamp, ServiceName, TraceId, SpanId, Record) > (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_service:String}, {before_trace:String}, {before_span:String}, {before_record:String})
        OR (Timestamp, ServiceName, TraceId, SpanId, Record) = (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_service:String}, {before_trace:String}, {before_span:String}, {before_record:String}) AND Copy > {before_copy:UInt64}
    ORDER BY Timestamp, ServiceName, TraceId, SpanId, Record, Copy
    LIMIT {limit:UInt32}
)
WHERE Bytes <= {bytes:UInt64} OR Place = 1
ORDER BY Timestamp, ServiceName, TraceId, SpanId, Record, Copy
