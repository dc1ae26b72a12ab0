SELECT Pair.1 AS Facet, Pair.2 AS Name, count() AS Sessions
FROM
(
    SELECT arrayJoin(arrayConcat(
        [('service', toString(ServiceName)), ('browser', toString(BrowserName)), ('country', toString(Country)), ('device', toString(DeviceType)), ('all', '')],
        if(ErrorCount > 0, [('error', '')], []))) AS Pair
    FROM (
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
                AND StartTime >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            ORDER BY SessionId, Version DESC
            LIMIT 1 BY SessionId
        ) AS latest
        LEFT JOIN
        (
            SELECT SessionId, groupArray(toUnixTimestamp64Nano(Timestamp)) AS EventTimes
            FROM session_events
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({events_start_1:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({events_end_2:Int64}, 'UTC')
            GROUP BY SessionId
        ) AS activity USING (SessionId)
        INNER JOIN
        (
            SELECT SessionId, count() AS MatchCount, min(Timestamp) AS FirstMatch, argMin(Url, (Timestamp, Seq)) AS FirstMatchUrl
            FROM session_events
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({events_start_3:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({events_end_4:Int64}, 'UTC')
                AND Type = {event_type:String}
                AND Level = {event_level:String}
                AND TraceId = {event_trace_id:String}
                AND NetStatus >= {event_min_status:Int32}
                AND (position(lowerUTF8(Url), lowerUTF8({event_url:String})) > 0 OR position(lowerUTF8(NetUrl), lowerUTF8({event_url:String})) > 0)
                AND position(lowerUTF8(Message), lowerUTF8({event_message:String})) > 0
            GROUP BY SessionId
        ) AS matches USING (SessionId)
        WHERE ServiceName = {service_name:String}
            AND BrowserName = {browser_name:String}
            AND Country = {country:String}
            AND DeviceType = {device_type:String}
            AND UserId = {user_id:String}
            AND GroupName = {group_name:String}
            AND VisitorId = {visitor_id:String}
            AND (position(lowerUTF8(UserId), lowerUTF8({user_search:String})) > 0 OR position(lowerUTF8(UserName), lowerUTF8({user_search:String})) > 0 OR position(lowerUTF8(UserEmail), lowerUTF8({user_search:String})) > 0)
            AND position(lowerUTF8(UrlInitial), lowerUTF8({url_search:String})) > 0
            AND (ErrorCount > 0) = {has_errors:Bool}
            AND hasAll(Tags, {tags:Array(String)})
            AND (EntryPath = {page_path:String} OR ExitPath = {page_path:String} OR SessionId IN (SELECT SessionId FROM product_events WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({events_start_5:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({events_end_6:Int64}, 'UTC')
                AND Name IN ('$pageview', '$screen')
                AND PagePath = {page_path:String}
                AND SessionId != ''))
            AND Duration >= 0 AND Duration >= {min_duration:Float64}
            AND Duration >= 0 AND Duration <= {max_duration:Float64}
            AND notEmpty(EventTimes)
            AND ActiveMs >= 0 AND ActiveMs >= {min_active:Float64}
            AND ActiveMs >= 0 AND ActiveMs <= {max_active:Float64}
    )
)
GROUP BY Facet, Name
ORDER BY Facet, Sessions DESC, Name
LIMIT 50 BY Facet
