-- What reads of services, their peers and their errors need besides the spans. 0001_telemetry.sql explains the placeholders.

-- Errors weigh what their spans stand for, else a rate is wrong where failed spans are sampled otherwise than the rest. Minutes that
-- were stored before assume that they were not.
ALTER TABLE {{alter "service_minutes"}} ADD COLUMN IF NOT EXISTS EstimatedErrorCount SimpleAggregateFunction(sum, Float64)
    DEFAULT ErrorCount * EstimatedSpanCount / SpanCount
;

ALTER TABLE {{view "service_minutes"}} ADD COLUMN IF NOT EXISTS EstimatedErrorCount SimpleAggregateFunction(sum, Float64)
;

ALTER TABLE {{view "service_minutes_view"}} MODIFY QUERY
SELECT
    OrgId,
    toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute,
    ServiceName,
    ServiceNamespace,
    Environment,
    ServiceVersion,
    IsEntry,
    count() AS SpanCount,
    sum(SampleRate) AS EstimatedSpanCount,
    countIf(HasError) AS ErrorCount,
    sumIf(SampleRate, HasError) AS EstimatedErrorCount,
    quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano) AS DurationQuantiles
FROM {{local "spans"}}
GROUP BY OrgId, Minute, ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry
;

-- Calls of a service to what is no service, by minute. Direction: outbound, or inbound for messages that a Consumer span took.
-- PeerKind: database, queue, external. PeerName: database or namespace, destination, RPC service or host; may be empty.
CREATE TABLE IF NOT EXISTS {{create "service_peers"}}
(
    OrgId LowCardinality(String),
    Minute DateTime('UTC'),
    ServiceName LowCardinality(String),
    Environment LowCardinality(String),
    Direction LowCardinality(String),
    PeerKind LowCardinality(String),
    PeerSystem LowCardinality(String),
    PeerName String,
    CallCount SimpleAggregateFunction(sum, UInt64),
    EstimatedCallCount SimpleAggregateFunction(sum, Float64),
    ErrorCount SimpleAggregateFunction(sum, UInt64),
    EstimatedErrorCount SimpleAggregateFunction(sum, Float64),
    EstimatedDurationNano SimpleAggregateFunction(sum, Float64),
    MaxDurationNano SimpleAggregateFunction(max, UInt64)
)
ENGINE = {{engine "AggregatingMergeTree"}}
PARTITION BY toYYYYMM(Minute)
ORDER BY (OrgId, Minute, ServiceName, Environment, Direction, PeerKind, PeerSystem, PeerName)
TTL Minute + INTERVAL {{retention service_peers 90}} DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "service_peers" "cityHash64(OrgId, ServiceName)"}}
;

CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "service_peers_view"}} TO {{local "service_peers"}} AS
SELECT
    OrgId,
    Minute,
    ServiceName,
    Environment,
    if(SpanKind = 'Consumer', 'inbound', 'outbound') AS Direction,
    multiIf(SpanKind = 'Consumer', 'queue', Database != '', 'database', Queue != '', 'queue', 'external') AS PeerKind,
    multiIf(PeerKind = 'database', Database, PeerKind = 'queue', Queue, Rpc != '', Rpc, 'http') AS PeerSystem,
    multiIf(
        PeerKind = 'database', if(Attributes['db.namespace'] != '', Attributes['db.namespace'], Attributes['db.name']),
        PeerKind = 'queue', if(Attributes['messaging.destination.name'] != '', Attributes['messaging.destination.name'], Attributes['messaging.destination']),
        Named != '', Named,
        Rpc != '' AND Attributes['rpc.service'] != '', Attributes['rpc.service'],
        Attributes['server.address'] != '', Attributes['server.address'],
        Attributes['http.host'] != '', Attributes['http.host'],
        Attributes['url.authority'] != '', Attributes['url.authority'],
        Attributes['net.peer.name'] != '', Attributes['net.peer.name'],
        domain(if(Attributes['url.full'] != '', Attributes['url.full'], Attributes['http.url']))) AS PeerName,
    count() AS CallCount,
    sum(SampleRate) AS EstimatedCallCount,
    countIf(HasError) AS ErrorCount,
    sumIf(SampleRate, HasError) AS EstimatedErrorCount,
    sum(SampleRate * DurationNano) AS EstimatedDurationNano,
    max(DurationNano) AS MaxDurationNano
FROM
(
    SELECT
        OrgId,
        toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute,
        ServiceName,
        Environment,
        SpanKind,
        SpanAttributes AS Attributes,
        if(Attributes['db.system.name'] != '', Attributes['db.system.name'], Attributes['db.system']) AS Database,
        Attributes['messaging.system'] AS Queue,
        Attributes['rpc.system'] AS Rpc,
        Attributes['peer.service'] AS Named,
        SampleRate,
        HasError,
        DurationNano
    FROM {{local "spans"}}
    WHERE SpanKind IN ('Client', 'Producer') OR SpanKind = 'Consumer' AND SpanAttributes['messaging.system'] != ''
)
WHERE PeerKind != 'external' OR PeerName != ''
GROUP BY OrgId, Minute, ServiceName, Environment, Direction, PeerKind, PeerSystem, PeerName
;

-- Spans with status Error, in the order of what went wrong. Stack traces stay with the spans.
CREATE TABLE IF NOT EXISTS {{create "error_events"}}
(
    OrgId LowCardinality(String),
    FingerprintHash UInt64 CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    OccurredAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ServiceNamespace LowCardinality(String) CODEC(ZSTD(1)),
    ServiceVersion LowCardinality(String) CODEC(ZSTD(1)),
    Environment LowCardinality(String) CODEC(ZSTD(1)),
    IsRoot Bool CODEC(ZSTD(1)),
    HasException Bool CODEC(ZSTD(1)),
    ErrorLabel LowCardinality(String) CODEC(ZSTD(1)),
    ExceptionType LowCardinality(String) CODEC(ZSTD(1)),
    ExceptionMessage String CODEC(ZSTD(1)),
    TopFrame String CODEC(ZSTD(1)),
    DurationNano UInt64 CODEC(ZSTD(1)),
    SampleRate Float64 CODEC(ZSTD(1))
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, FingerprintHash, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention error_events 90}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "error_events" "cityHash64(OrgId, FingerprintHash)"}}
;

-- A frame is a line of the stack with a line number that does not repeat the message. Fingerprints are kept by callers: what they are
-- made of must never change.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "error_events_view"}} TO {{local "error_events"}} AS
SELECT
    OrgId,
    cityHash64(OrgId, ServiceName, ExceptionType, arrayStringConcat(Frames, '\n'), Fallback) AS FingerprintHash,
    Timestamp,
    OccurredAt,
    TraceId,
    SpanId,
    SpanName,
    ServiceName,
    ServiceNamespace,
    ServiceVersion,
    Environment,
    IsRoot,
    HasException,
    multiIf(
        ExceptionType != '', substringUTF8(ExceptionType, 1, 150),
        trimBoth(ExceptionMessage) = '', 'Unknown Error',
        match(ExceptionMessage, '(?i)^(schema)?\\s*(parse|decode) ?error\\b') AND position(ExceptionMessage, '\n') > 0, 'Schema parse error',
        IsObject, if(Named != '', substringUTF8(Named, 1, 150), 'JSON error'),
        substringUTF8(if(Head != '', Head, ExceptionMessage), 1, 150)) AS ErrorLabel,
    ExceptionType,
    substringUTF8(ExceptionMessage, 1, 2000) AS ExceptionMessage,
    if(empty(Frames), '', Frames[1]) AS TopFrame,
    DurationNano,
    SampleRate
FROM
(
    SELECT
        *,
        arraySlice(arrayMap(
            line -> substringUTF8(replaceRegexpAll(trimBoth(line), '0x[0-9a-fA-F]+|\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#'), 1, 300),
            arrayFilter(
                line -> match(line, ':\\d+|line \\d+') AND (FirstLine = '' OR position(line, FirstLine) = 0),
                arraySlice(splitByChar('\n', substring(Stack, 1, 16384)), 1, 200))), 1, 3) AS Frames,
        startsWith(trimLeft(ExceptionMessage), '{') AND isValidJSON(ExceptionMessage) AS IsObject,
        multiIf(
            notEmpty(Frames), '',
            IsObject, arrayStringConcat(arraySort(arrayMap(
                pair -> concat(pair.1, '=', replaceRegexpAll(pair.2, '\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#')),
                JSONExtractKeysAndValuesRaw(ExceptionMessage))), '|'),
            replaceRegexpAll(substringUTF8(ExceptionMessage, 1, 200), '\\b[0-9a-fA-F]{8,}\\b|[0-9]+', '#')) AS Fallback,
        if(IsObject, coalesce(
            nullIf(JSONExtractString(ExceptionMessage, 'title'), ''), nullIf(JSONExtractString(ExceptionMessage, 'message'), ''),
            nullIf(JSONExtractString(ExceptionMessage, 'error'), ''), nullIf(JSONExtractString(ExceptionMessage, '_tag'), ''),
            nullIf(JSONExtractString(ExceptionMessage, 'reason'), ''), nullIf(JSONExtractString(ExceptionMessage, 'name'), ''),
            nullIf(arrayElement(splitByRegexp('[/.:#]', JSONExtractString(ExceptionMessage, 'type')), -1), ''), ''), '') AS Named,
        extract(ExceptionMessage, '(?s)^(.{3}.*?)(?:: |, | ?\\(|\\n|$)') AS Head
    FROM
    (
        SELECT
            OrgId, Timestamp, TraceId, SpanId, SpanName, ServiceName, ServiceNamespace, ServiceVersion, Environment, DurationNano, SampleRate,
            ParentSpanId = '' AS IsRoot,
            indexOf(EventsName, 'exception') AS At,
            At > 0 AS HasException,
            if(HasException, EventsTimestamp[At], addNanoseconds(Timestamp, DurationNano)) AS OccurredAt,
            EventsAttributes[At]['exception.type'] AS ExceptionType,
            EventsAttributes[At]['exception.stacktrace'] AS Stack,
            if(EventsAttributes[At]['exception.message'] != '', EventsAttributes[At]['exception.message'], StatusMessage) AS ExceptionMessage,
            substringUTF8(extract(ExceptionMessage, '^[^\\n]*'), 1, 200) AS FirstLine
        FROM {{local "spans"}}
        WHERE StatusCode = 'Error'
    )
)
;
