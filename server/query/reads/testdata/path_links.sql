SELECT toUInt8(Link.1) AS Hop, Link.2 AS FromNode, Link.3 AS ToNode, count() AS Actors
FROM
(
    SELECT
        arrayMap((node, place) -> if(place = 1 OR has({kept:Array(String)}, concat(toString(place - 1), ' ', node)), node, '$other'), Nodes, arrayEnumerate(Nodes)) AS Folded,
        arrayJoin(arrayMap(hop -> (hop, Folded[hop], if(hop < length(Folded), Folded[hop + 1], '')), range(1, least(3, length(Folded)) + 1))) AS Link
    FROM (
        SELECT arraySlice(arrayCompact(arrayConcat([Walk[AnchorPlace].2], arrayMap(event -> event.2,
            arrayFilter(event -> event.4 AND event.1 - Walk[AnchorPlace].1 <= {within:Int64}, arraySlice(Walk, AnchorPlace + 1))))), 1, 4) AS Nodes
        FROM
        (
            SELECT Walk, arrayFirstIndex(event -> event.3, Walk) AS AnchorPlace
            FROM
            (
                SELECT arraySort(event -> (event.1, NOT event.3, event.2, event.4), groupArrayArray(Part)) AS Walk
                FROM (
                    SELECT *, KnownVisitor AS Key
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
                                SELECT if(VisitorId != '', '', SessionId) AS OfSession, VisitorId AS OfVisitor, '' AS OfUser, groupArray((toUnixTimestamp64Nano(Timestamp), Node, IsAnchor, IsNode)) AS Part
                                FROM (
                                    SELECT Timestamp, SessionId, VisitorId, UserId, if(Kind != 'custom' AND PagePath != '', PagePath, toString(Name)) AS Node, toBool(Name IN ('$pageview', '$screen') AND PagePath = {step_path_1:String} AND Host = {value_2:String}) AS IsAnchor, toBool(1) AS IsNode
                                    FROM product_events
                                    WHERE OrgId = {org:String}
                                        AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                                        AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                                        AND (IsAnchor OR IsNode)
                                )
                                GROUP BY OfSession, OfVisitor, OfUser
                            )
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
                    )
                )
                WHERE Key != ''
                GROUP BY Key
            )
            WHERE AnchorPlace > 0
        )
    )
)
GROUP BY Hop, FromNode, ToNode
ORDER BY Hop, Actors DESC, FromNode, ToNode
