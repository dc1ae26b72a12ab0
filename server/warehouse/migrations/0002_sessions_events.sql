-- What users do: recorded sessions, their timelines and product events. 0001_telemetry.sql explains the placeholders; {{replacing}} is
-- the engine that keeps, of the rows with one sort key, the one with the highest version.

-- One row for each version of a session: 1 when it starts, 2 when it ends. Merges keep the highest, reads must too. EndTime is 1970
-- while it is not known. StartTime is the same in all versions, so they share a partition.
CREATE TABLE IF NOT EXISTS {{create "session_replays"}}
(
    OrgId LowCardinality(String),
    SessionId String CODEC(ZSTD(1)),
    Version UInt32 CODEC(ZSTD(1)),
    StartTime DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    EndTime DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    LastActivityAt DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    DurationMs UInt64 CODEC(ZSTD(1)),
    Status LowCardinality(String) CODEC(ZSTD(1)),
    VisitorId String CODEC(ZSTD(1)),
    VisitorIsNew Bool CODEC(ZSTD(1)),
    UserId String CODEC(ZSTD(1)),
    UserEmail String CODEC(ZSTD(1)),
    UserName String CODEC(ZSTD(1)),
    UserTraits Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    GroupId String CODEC(ZSTD(1)),
    GroupName String CODEC(ZSTD(1)),
    UrlInitial String CODEC(ZSTD(1)),
    Host LowCardinality(String) CODEC(ZSTD(1)),
    EntryPath String CODEC(ZSTD(1)),
    ExitPath String CODEC(ZSTD(1)),
    Referrer String CODEC(ZSTD(1)),
    ReferrerHost LowCardinality(String) CODEC(ZSTD(1)),
    UtmSource LowCardinality(String) CODEC(ZSTD(1)),
    UtmMedium LowCardinality(String) CODEC(ZSTD(1)),
    UtmCampaign LowCardinality(String) CODEC(ZSTD(1)),
    UtmTerm LowCardinality(String) CODEC(ZSTD(1)),
    UtmContent LowCardinality(String) CODEC(ZSTD(1)),
    UserAgent String CODEC(ZSTD(1)),
    BrowserName LowCardinality(String) CODEC(ZSTD(1)),
    OsName LowCardinality(String) CODEC(ZSTD(1)),
    DeviceType LowCardinality(String) CODEC(ZSTD(1)),
    Language LowCardinality(String) CODEC(ZSTD(1)),
    Country LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    PageViews UInt32 CODEC(ZSTD(1)),
    ClickCount UInt32 CODEC(ZSTD(1)),
    ErrorCount UInt32 CODEC(ZSTD(1)),
    TraceIds Array(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    INDEX idx_start_time StartTime TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing "Version"}}
PARTITION BY toDate(StartTime)
ORDER BY (OrgId, SessionId)
TTL toDateTime(StartTime) + INTERVAL {{retention session_replays 30}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "session_replays" "cityHash64(OrgId, SessionId)"}}
;

-- Chunks of recordings. Payload is the gzip file that the sender made of a JSON array of rrweb events, ByteSize its inflated length: a
-- reader passes it on or inflates it as a stream, whatever its size. A chunk that is sent again replaces itself.
CREATE TABLE IF NOT EXISTS {{create "session_replay_events"}}
(
    OrgId LowCardinality(String),
    SessionId String CODEC(ZSTD(1)),
    ChunkSeq UInt32 CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    DurationMs UInt32 CODEC(ZSTD(1)),
    EventCount UInt32 CODEC(ZSTD(1)),
    ByteSize UInt64 CODEC(ZSTD(1)),
    IsCheckpoint Bool CODEC(ZSTD(1)),
    Payload String CODEC(NONE),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4)
)
ENGINE = {{replacing "Timestamp"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, SessionId, ChunkSeq)
TTL toDateTime(Timestamp) + INTERVAL {{retention session_replay_events 30}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "session_replay_events" "cityHash64(OrgId, SessionId)"}}
;

-- The timeline of a session.
CREATE TABLE IF NOT EXISTS {{create "session_events"}}
(
    OrgId LowCardinality(String),
    SessionId String CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Seq UInt32 CODEC(ZSTD(1)),
    Type LowCardinality(String) CODEC(ZSTD(1)),
    Url String CODEC(ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    Level LowCardinality(String) CODEC(ZSTD(1)),
    Message String CODEC(ZSTD(1)),
    TargetSelector String CODEC(ZSTD(1)),
    TargetText String CODEC(ZSTD(1)),
    NetMethod LowCardinality(String) CODEC(ZSTD(1)),
    NetUrl String CODEC(ZSTD(1)),
    NetStatus UInt16 CODEC(ZSTD(1)),
    NetDurationMs UInt32 CODEC(ZSTD(1)),
    ErrorStack String CODEC(ZSTD(1)),
    VisitorId String CODEC(ZSTD(1)),
    UserId String CODEC(ZSTD(1)),
    GroupId String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, SessionId, Timestamp, Seq)
TTL toDateTime(Timestamp) + INTERVAL {{retention session_events 30}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "session_events" "cityHash64(OrgId, SessionId)"}}
;

-- Product events of servers, mobile applications and pages. Kind: custom, screen, navigation. Source: server, mobile, browser.
CREATE TABLE IF NOT EXISTS {{create "product_events"}}
(
    OrgId LowCardinality(String),
    Name LowCardinality(String) CODEC(ZSTD(1)),
    Timestamp DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    Kind LowCardinality(String) CODEC(ZSTD(1)),
    Source LowCardinality(String) CODEC(ZSTD(1)),
    VisitorId String CODEC(ZSTD(1)),
    UserId String CODEC(ZSTD(1)),
    GroupId String CODEC(ZSTD(1)),
    SessionId String CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Url String CODEC(ZSTD(1)),
    Host LowCardinality(String) CODEC(ZSTD(1)),
    PagePath String CODEC(ZSTD(1)),
    Attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(LZ4),
    INDEX idx_visitor_id VisitorId TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_user_id UserId TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {{engine "MergeTree"}}
PARTITION BY toDate(Timestamp)
ORDER BY (OrgId, Name, Timestamp)
TTL toDateTime(Timestamp) + INTERVAL {{retention product_events 30}} DAY
SETTINGS index_granularity = 8192, merge_selector_base = 10, ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1
;

{{distributed "product_events" "cityHash64(OrgId, Name, Timestamp)"}}
;

-- Pages send theirs as session events: a navigation is the event $pageview, a custom event carries its name as message. Names that
-- begin with $ are reserved.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "product_events_view"}} TO {{local "product_events"}} AS
SELECT
    OrgId,
    if(Type = 'navigation', '$pageview', Message) AS Name,
    Timestamp,
    Type AS Kind,
    'browser' AS Source,
    VisitorId,
    UserId,
    GroupId,
    SessionId,
    ResourceAttributes['service.name'] AS ServiceName,
    Url,
    lower(domain(Url)) AS Host,
    path(Url) AS PagePath,
    Attributes,
    ResourceAttributes
FROM {{local "session_events"}}
WHERE Type = 'navigation' OR (Type = 'custom' AND Message != '' AND NOT startsWith(Message, '$'))
;
