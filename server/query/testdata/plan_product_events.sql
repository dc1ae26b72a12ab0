SELECT
    [toString(Key1)] AS GroupKey,
    Value,
    sum(Value) OVER () AS Total,
    count() OVER () AS Groups
FROM
(
    SELECT
        Attributes[{key_3:String}] AS Key1,
        toFloat64(uniqExactIf(Key, Key != '')) AS Value
    FROM (
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
            SELECT *
            FROM product_events
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND Name IN ({value_1:String}, {value_2:String})
        ) AS events
        LEFT JOIN (
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
    GROUP BY Key1
)
ORDER BY Key1 ASC
LIMIT {limit:UInt32}
