SELECT
    Name,
    Kind,
    count() AS Events,
    uniqExactIf(SessionId, SessionId != '') AS Sessions,
    uniqExactIf(Key, Key != '') AS Persons,
    uniqExactIf(KnownUser, KnownUser != '') AS Users,
    uniqExactIf(KnownVisitor, KnownVisitor != '') AS Visitors,
    min(Timestamp) AS FirstSeen,
    max(Timestamp) AS LastSeen
FROM
(
    SELECT
        known.*,
        multiIf(KnownUser != '', concat('u ', KnownUser), VisitorUser != '', concat('u ', VisitorUser), KnownVisitor != '', concat('v ', KnownVisitor),
            SessionId != '', concat('s ', SessionId), '') AS Key
    FROM (
        SELECT
            events.*,
            if(events.VisitorId != '', events.VisitorId, sessions.SessionVisitor) AS KnownVisitor,
            if(events.UserId != '', events.UserId, sessions.SessionUser) AS KnownUser,
            ReferrerHost, UtmSource, UtmMedium, UtmCampaign, Country, SessionHost
        FROM (
            SELECT Timestamp, SessionId, VisitorId, UserId, Name, Kind
            FROM product_events
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND Kind = {value_11:String}
                AND Host = {value_12:String}
                AND PagePath = {value_13:String}
                AND Name != ''
                AND position(lowerUTF8(Name), lowerUTF8({value_14:String})) > 0
        ) AS events
        INNER JOIN (
            SELECT SessionId, StartTime, VisitorId AS SessionVisitor, UserId AS SessionUser, ReferrerHost, UtmSource, UtmMedium, UtmCampaign, Country,
                Host AS SessionHost
            FROM
            (
                SELECT *
                FROM session_replays
                WHERE OrgId = {org:String}
                    AND StartTime >= fromUnixTimestamp64Nano({session_start:Int64}, 'UTC')
                    AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                ORDER BY SessionId, Version DESC
                LIMIT 1 BY SessionId
            )
            WHERE Host = {value_1:String}
                AND ReferrerHost = {value_2:String}
                AND Country = {value_3:String}
                AND DeviceType = {value_4:String}
                AND BrowserName = {value_5:String}
                AND OsName = {value_6:String}
                AND Language = {value_7:String}
                AND UtmSource = {value_8:String}
                AND UtmMedium = {value_9:String}
                AND UtmCampaign = {value_10:String}
                AND VisitorIsNew
                AND (EntryPath = {session_page_path:String} OR ExitPath = {session_page_path:String} OR SessionId IN (SELECT SessionId FROM product_events WHERE OrgId = {org:String}
                    AND Name IN ('$pageview', '$screen')
                    AND PagePath = {session_page_path:String}
                    AND SessionId != ''
                    AND Timestamp >= fromUnixTimestamp64Nano({pages_start:Int64}, 'UTC')
                    AND Timestamp <= fromUnixTimestamp64Nano({pages_end:Int64}, 'UTC')))
        ) AS sessions ON events.SessionId = sessions.SessionId
    ) AS known
    LEFT JOIN
    (
        SELECT VisitorId AS KnownVisitor, argMax(UserId, (At, UserId)) AS VisitorUser
        FROM
        (
            SELECT VisitorId, UserId, Timestamp AS At FROM product_events
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND VisitorId != ''
                AND UserId != ''
            UNION ALL
            SELECT VisitorId, UserId, StartTime AS At FROM session_replays
            WHERE OrgId = {org:String}
                AND StartTime >= fromUnixTimestamp64Nano({session_start:Int64}, 'UTC')
                AND StartTime <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND VisitorId != ''
                AND UserId != ''
        )
        GROUP BY VisitorId
    ) AS visitors USING (KnownVisitor)
)
GROUP BY Name, Kind
ORDER BY Events DESC, Name, Kind
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
