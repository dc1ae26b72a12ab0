SELECT toUInt8(Pair.1) AS Hop, Pair.2 AS Node, count() AS Actors
FROM
(
    SELECT arrayJoin(arrayMap((node, place) -> (place - 1, node), Nodes, arrayEnumerate(Nodes))) AS Pair
    FROM (
        SELECT arraySlice(arrayCompact(arrayConcat([Walk[AnchorPlace].2], arrayMap(event -> event.2,
            arrayFilter(event -> event.4 AND event.1 - Walk[AnchorPlace].1 <= {within:Int64}, arraySlice(Walk, AnchorPlace + 1))))), 1, 6) AS Nodes
        FROM
        (
            SELECT Walk, arrayFirstIndex(event -> event.3, Walk) AS AnchorPlace
            FROM
            (
                SELECT arraySort(event -> (event.1, NOT event.3, event.2, event.4), groupArrayArray(Part)) AS Walk
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
                            SELECT OfSession AS SessionId, OfVisitor AS VisitorId, OfUser AS UserId, Part
                            FROM
                            (
                                SELECT SessionId AS OfSession, VisitorId AS OfVisitor, UserId AS OfUser, groupArray((-toUnixTimestamp64Nano(Timestamp), Node, IsAnchor, IsNode)) AS Part
                                FROM (
                                    SELECT Timestamp, SessionId, VisitorId, UserId, if(Kind != 'custom' AND PagePath != '', PagePath, toString(Name)) AS Node, toBool(Name = {step_name_11:String} AND mapContains(Attributes, {key_12:String}) AND Attributes[{key_12:String}] = {value_13:String}) AS IsAnchor, toBool(Kind != 'custom' AND Node NOT IN {exclude:Array(String)}) AS IsNode
                                    FROM product_events
                                    WHERE OrgId = {org:String}
                                        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                                        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                                        AND (IsAnchor OR IsNode)
                                )
                                GROUP BY OfSession, OfVisitor, OfUser
                            )
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
                WHERE Key != ''
                GROUP BY Key
            )
            WHERE AnchorPlace > 0
        )
    )
)
WHERE Hop > 0
GROUP BY Hop, Node
ORDER BY Hop, Actors DESC, Node
LIMIT {branches:UInt32} BY Hop
