SELECT
    SessionId, StartTime, EndTime, LastActivityAt, Duration, Status, UserId, UserName, UserEmail, GroupId, GroupName, VisitorId,
    UtmSource, EntryPath, UrlInitial, BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount,
    length(TraceIds) AS TraceCount, Tags, toUInt64(0) AS MatchCount, fromUnixTimestamp64Nano(toInt64(0), 'UTC') AS FirstMatch, '' AS FirstMatchUrl
FROM
(
    SELECT
        *,
        multiIf(DurationMs > 0, toFloat64(DurationMs), EndTime >= StartTime,
            (toUnixTimestamp64Nano(EndTime) - toUnixTimestamp64Nano(StartTime)) / 1e6, -1.) AS Duration,
        multiIf(Duration >= 0, Duration, LastActivityAt >= StartTime,
            (toUnixTimestamp64Nano(LastActivityAt) - toUnixTimestamp64Nano(StartTime)) / 1e6, -1.) AS Seen,
        arrayConcat(
            [multiIf(
                match(UserAgent, '(?i)(^|[^u])bot|crawl|spider|slurp|headless|lighthouse|phantomjs|pingdom'), 'bot',
                Seen >= 0 AND Seen < 5000 AND ClickCount = 0, 'bounce',
                PageViews <= 1 AND ClickCount = 0 AND Seen >= 30000, 'idle',
                PageViews <= 1 AND ClickCount <= 2 AND ErrorCount = 0 AND Seen >= 0 AND Seen < 30000, 'glance',
                'engaged')],
            if(UserId != '', ['signed_in'], []),
            if(VisitorIsNew, ['new_visitor'], [])) AS Tags
    FROM
    (
        SELECT *
        FROM session_replays
        WHERE OrgId = {org:String}
            AND StartTime >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
        ORDER BY SessionId, Version DESC
        LIMIT 1 BY SessionId
    ) AS latest
)
WHERE StartTime < fromUnixTimestamp64Nano({before_start:Int64}, 'UTC') OR StartTime = fromUnixTimestamp64Nano({before_start:Int64}, 'UTC') AND SessionId > {before_session:String}
ORDER BY StartTime DESC, SessionId
LIMIT {limit:UInt32}
