SELECT
    Timestamp, ServiceName, TraceId, SpanId, SeverityText, SeverityNumber, Body, EventName, ScopeName, LogAttributes, ResourceAttributes,
    lower(hex(sipHash128(Timestamp, ObservedTimestamp, TraceId, SpanId, Flags, SeverityText, SeverityNumber, ServiceName,
            ServiceNamespace, ServiceVersion, Environment, EventName, Body, ScopeName, ScopeVersion,
            mapKeys(ScopeAttributes), mapValues(ScopeAttributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes),
            mapKeys(LogAttributes), mapValues(LogAttributes)))) AS Record,
    toUInt64(1) AS Copy,
    toUInt64(1) AS Matching
FROM logs
WHERE OrgId = {org:String}
    AND Timestamp = fromUnixTimestamp64Nano({at:Int64}, 'UTC')
    AND Record = {record:String}
LIMIT 1
