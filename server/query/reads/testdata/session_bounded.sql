SELECT
    SessionId, StartTime, EndTime, LastActivityAt, Duration, Status, UserId, UserName, UserEmail, GroupId, GroupName, VisitorId,
    UtmSource, EntryPath, UrlInitial, BrowserName, OsName, DeviceType, Country, ServiceName, PageViews, ClickCount, ErrorCount,
    length(TraceIds) AS TraceCount, Tags, toUInt64(0) AS MatchCount, fromUnixTimestamp64Nano(toInt64(0), 'UTC') AS FirstMatch, '' AS FirstMatchUrl,
    VisitorIsNew, UserTraits, Referrer, ReferrerHost, UtmMedium, UtmCampaign, UtmTerm, UtmContent, Host, ExitPath, Language, UserAgent,
    TraceIds, ResourceAttributes, toBool(notEmpty(EventTimes)) AS HasEvents, ActiveMs, IdleMs
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
            if(VisitorIsNew, ['new_visitor'], [])) AS Tags,
        arrayMap(at -> greatest((at - toUnixTimestamp64Nano(StartTime)) / 1e6, if(Duration >= 0, 0., -inf)), EventTimes) AS Offsets,
        arrayDifference(arraySort(if(Duration >= 0, arrayConcat(arrayMap(at -> least(at, Duration), Offsets), [0., Duration]), arrayConcat(Offsets, [0.])))) AS Gaps,
        round(arraySum(arrayFilter(gap -> gap <= 15000, Gaps)), 6) AS ActiveMs,
        abs(round(if(Duration >= 0, Duration - ActiveMs, arraySum(arrayFilter(gap -> gap > 15000, Gaps))), 6)) AS IdleMs
    FROM
    (
        SELECT *
        FROM session_replays
        WHERE OrgId = {org:String}
            AND SessionId = {session_id:String}
            AND StartTime >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
            AND StartTime <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
        ORDER BY Version DESC
        LIMIT 1
    ) AS latest
    LEFT JOIN
    (
        SELECT SessionId, groupArray(toUnixTimestamp64Nano(Timestamp)) AS EventTimes
        FROM session_events
        WHERE OrgId = {org:String}
            AND SessionId = {session_id:String}
        GROUP BY SessionId
    ) AS activity USING (SessionId)
)
