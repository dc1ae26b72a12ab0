SELECT toUInt64(Level) AS StepLevel, arrayFirst(event -> event.1 > LastAt, Walk).2 AS Next, count() AS Actors
FROM (
    SELECT
        Key,
        arraySort(event -> (event.1, bitAnd(event.2, 65536 - event.2), event.2, event.3), groupArray((At, Mask, GroupName))) AS Events,
        arrayFold(
            (state, event, place) -> (
                if(bitTest(event.2, 0), [toInt64(place), event.1], state.1),
                if(bitTest(event.2, 1) AND notEmpty(state.1) AND event.1 - state.1[2] <= {within:Int64}, arrayPushBack(state.1, event.1), state.2),
                if(bitTest(event.2, 2) AND notEmpty(state.2) AND event.1 - state.2[2] <= {within:Int64}, arrayPushBack(state.2, event.1), state.3),
                multiIf(
                    length(state.4) = 0 AND bitTest(event.2, 0), [toInt64(place), event.1],
                    length(state.4) = 2 AND bitTest(event.2, 1) AND notEmpty(state.1) AND event.1 - state.1[2] <= {within:Int64}, arrayPushBack(state.1, event.1),
                    length(state.4) = 3 AND bitTest(event.2, 2) AND notEmpty(state.2) AND event.1 - state.2[2] <= {within:Int64}, arrayPushBack(state.2, event.1),
                    state.4)),
            Events, arrayEnumerate(Events), (CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'))).4 AS Best,
        length(Best) - 1 AS Level,
        Best[-1] AS LastAt,
        Events[Best[1]].3 AS FirstGroup
    FROM
    (
        SELECT Key, toUnixTimestamp64Nano(Timestamp) AS At, Mask, toString(EventGroup) AS GroupName
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
                    SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(toUInt16(Name = {step_name_1:String} AND mapContains(Attributes, {attribute_key_2:String}) AND Attributes[{attribute_key_2:String}] = {attribute_value_3:String}) * 1 + toUInt16(Name IN ('$pageview', '$screen') AND PagePath = {step_path_4:String} AND Host = {step_host_5:String}) * 2 + toUInt16(Name = {step_name_6:String}) * 4) AS Mask, toString('') AS EventGroup
                    FROM product_events
                    WHERE OrgId = {org:String}
                        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                        AND Name IN {step_names:Array(String)}
                        AND Mask != 0
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
        WHERE Key != ''
    )
    GROUP BY Key
    HAVING notEmpty(Best)
) AS attempts
LEFT JOIN
(
    SELECT Key, arraySort(groupArray((toUnixTimestamp64Nano(Timestamp), Node))) AS Walk
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
                SELECT Timestamp, SessionId, VisitorId, UserId, if(Kind != 'custom' AND PagePath != '', PagePath, toString(Name)) AS Node
                FROM product_events
                WHERE OrgId = {org:String}
                    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
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
    GROUP BY Key
) AS walks USING (Key)
WHERE Level < 3
GROUP BY StepLevel, Next
ORDER BY StepLevel, Actors DESC, Next
LIMIT 5 BY StepLevel
