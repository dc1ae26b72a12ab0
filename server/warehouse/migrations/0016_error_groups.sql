-- Spans and log records name the group of their error. Ingest makes the fingerprint: reading a stack there costs a tenth of the regular
-- expressions of error_events_view. 0001_telemetry.sql explains the placeholders.
-- A fingerprint of 0 says that the row has no error, or that an older version stored it.

ALTER TABLE {{alter "spans"}} ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE {{view "spans"}} ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE {{alter "spans"}} ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE {{view "spans"}} ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE {{alter "spans"}} ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE {{view "spans"}} ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE {{alter "spans"}} ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE {{view "spans"}} ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE {{alter "logs"}} ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE {{view "logs"}} ADD COLUMN IF NOT EXISTS ErrorFingerprint UInt64 CODEC(ZSTD(1))
;

ALTER TABLE {{alter "logs"}} ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE {{view "logs"}} ADD COLUMN IF NOT EXISTS ErrorFrame String CODEC(ZSTD(1))
;

ALTER TABLE {{alter "logs"}} ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE {{view "logs"}} ADD COLUMN IF NOT EXISTS ErrorLabel String CODEC(ZSTD(1))
;

ALTER TABLE {{alter "logs"}} ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE {{view "logs"}} ADD COLUMN IF NOT EXISTS ErrorVariant LowCardinality(String) CODEC(ZSTD(1))
;

-- Source is empty for an error of a span, and log for an exception of a log record.
ALTER TABLE {{alter "error_events"}} ADD COLUMN IF NOT EXISTS Source LowCardinality(String) CODEC(ZSTD(1))
;

ALTER TABLE {{view "error_events"}} ADD COLUMN IF NOT EXISTS Source LowCardinality(String) CODEC(ZSTD(1))
;

-- Spans of nodes with an older version, as before: during an upgrade no error counts twice.
ALTER TABLE {{view "error_events_view"}} MODIFY QUERY
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
        WHERE StatusCode = 'Error' AND ErrorFingerprint = 0
    )
)
;

-- Failed spans with a fingerprint. A span that has an exception and did not fail names its group, and is no error.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "error_events_spans_view"}} TO {{local "error_events"}} AS
SELECT
    OrgId,
    ErrorFingerprint AS FingerprintHash,
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
    ErrorLabel,
    ExceptionType,
    substringUTF8(ExceptionMessage, 1, 2000) AS ExceptionMessage,
    ErrorFrame AS TopFrame,
    DurationNano,
    SampleRate
FROM
(
    SELECT
        OrgId, Timestamp, TraceId, SpanId, SpanName, ServiceName, ServiceNamespace, ServiceVersion, Environment, DurationNano, SampleRate,
        ErrorFingerprint, ErrorFrame, ErrorLabel,
        ParentSpanId = '' AS IsRoot,
        indexOf(EventsName, 'exception') AS At,
        At > 0 AS HasException,
        if(HasException, EventsTimestamp[At], addNanoseconds(Timestamp, DurationNano)) AS OccurredAt,
        EventsAttributes[At]['exception.type'] AS ExceptionType,
        if(EventsAttributes[At]['exception.message'] != '', EventsAttributes[At]['exception.message'], StatusMessage) AS ExceptionMessage
    FROM {{local "spans"}}
    WHERE StatusCode = 'Error' AND ErrorFingerprint != 0
)
;

-- Log records with an exception. They have no duration and no weight.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "error_events_logs_view"}} TO {{local "error_events"}} AS
SELECT
    OrgId,
    ErrorFingerprint AS FingerprintHash,
    Timestamp,
    Timestamp AS OccurredAt,
    TraceId,
    SpanId,
    EventName AS SpanName,
    ServiceName,
    ServiceNamespace,
    ServiceVersion,
    Environment,
    false AS IsRoot,
    true AS HasException,
    ErrorLabel,
    LogAttributes['exception.type'] AS ExceptionType,
    substringUTF8(LogAttributes['exception.message'], 1, 2000) AS ExceptionMessage,
    ErrorFrame AS TopFrame,
    0 AS DurationNano,
    1 AS SampleRate,
    'log' AS Source
FROM {{local "logs"}}
WHERE ErrorFingerprint != 0
;
