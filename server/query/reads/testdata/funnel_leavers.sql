SELECT toUInt64(Level) AS StepLevel, arrayFirst(event -> event.1 > LastAt, Walk).2 AS Next, count() AS Actors
FROM (
    SELECT Key, Level, arrayMap(place -> Times[place], arraySlice([Place1, Place2, Place3], 1, Level)) AS Best, Best[-1] AS LastAt, '' AS FirstGroup
    FROM (
        SELECT *, multiIf(Level = 1, arrayFirstIndex(start -> start != 0, Reached1), Still2 > 0, Place2, arrayLastIndex(start -> start != 0, arraySlice(Reached1, 1, toInt64(Place2) - 1))) AS Place1
        FROM (
            SELECT *, multiIf(Level > 2 AND Still3 > 0, Still3 - 1,  Place2 = 0, 0, toInt64(bitAnd(bitShiftRight(Masks[Place2], 16), 15))) AS Still2
            FROM (
                SELECT *, multiIf(Level = 2, arrayFirstIndex(start -> start != 0, Reached2), Still3 > 0, Place3, arrayLastIndex(start -> start != 0, arraySlice(Reached2, 1, toInt64(Place3) - 1))) AS Place2
                FROM (
                    SELECT *, multiIf( Place3 = 0, 0, toInt64(bitAnd(bitShiftRight(Masks[Place3], 20), 15))) AS Still3
                    FROM (
                        SELECT *, arrayFirstIndex(start -> start != 0, Reached3) AS Place3
                        FROM (
                            SELECT *, toUInt64(arrayExists(start -> start != 0, Reached1) + arrayExists(start -> start != 0, Reached2) + arrayExists(start -> start != 0, Reached3)) AS Level
                            FROM (
                                SELECT *, arrayMap((at, mask, last2, last1) -> if(bitTest(mask, 2) AND (multiIf(bitAnd(bitShiftRight(mask, 20), 15) = 0, last2, bitAnd(bitShiftRight(mask, 20), 15) = 1, last1, at) AS begun) != 0 AND at - begun <= {within:Int64}, begun, 0),
                                        Times, Masks, Last2, Last1) AS Reached3
                                FROM (
                                    SELECT *, arrayPopBack(arrayPushFront(arrayFill(start -> start != 0, Reached2), 0)) AS Last2
                                    FROM (
                                        SELECT *, arrayMap((at, mask, last1) -> if(bitTest(mask, 1) AND (if(bitAnd(bitShiftRight(mask, 16), 15) = 0, last1, at) AS begun) != 0 AND at - begun <= {within:Int64}, begun, 0),
                                                Times, Masks, Last1) AS Reached2
                                        FROM (
                                            SELECT *, arrayPopBack(arrayPushFront(arrayFill(start -> start != 0, Reached1), 0)) AS Last1
                                            FROM (
                                                SELECT *, arrayMap((at, mask) -> if(bitTest(mask, 0), at, 0), Times, Masks) AS Reached1
                                                FROM (
                                                    SELECT *, if(length(Times) = length(EventTimes), arrayMap(mask -> toUInt64(mask), EventMasks), arrayMap(masks -> arraySum(arrayMap(steps -> transform(steps, [1, 3, 2, 7, 6, 4], [toUInt64(1), toUInt64(65536), toUInt64(2), toUInt64(1048576), toUInt64(1048576), toUInt64(4)], toUInt64(0)),
                                                        arrayFold((sets, mask) -> arrayDistinct(arrayFlatten(arrayMap(set -> arrayMap(bit -> bitOr(set, bitAnd(mask, bit)), [toUInt16(1), toUInt16(2), toUInt16(4)]), sets))),
                                                            arrayFilter((mask, earlier) -> mask != earlier, masks, arraySlice(arrayConcat(arrayWithConstant(3, toUInt16(0)), masks), 1, length(masks))),
                                                            [toUInt16(0)]))),
                                                        arraySplit((mask, first) -> first, EventMasks, arrayMap((at, before) -> at != before, EventTimes, arrayPopBack(arrayPushFront(EventTimes, 0)))))) AS Masks
                                                    FROM (
                                                        SELECT *, arrayCompact(EventTimes) AS Times
                                                        FROM (
                                                            SELECT *, arrayMap(event -> toInt64(bitShiftRight(event, 32)), Events) AS EventTimes,
                                                                arrayMap(event -> toUInt16(bitAnd(event, 65535)), Events) AS EventMasks
                                                            FROM (
                                                                SELECT Key, arraySort(groupArrayArray(Part)) AS Events
                                                                FROM
                                                                (
                                                                    SELECT Key, Part
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
                                                                                    SELECT if(VisitorId != '' AND UserId != '', '', SessionId) AS OfSession, VisitorId AS OfVisitor, UserId AS OfUser, groupArray(bitShiftLeft(toUInt128(toUnixTimestamp64Nano(Timestamp)), 32) + bitShiftLeft(toUInt128(bitAnd(Mask, 65536 - Mask)), 16) + Mask) AS Part
                                                                                    FROM (
                                                                                        SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(toUInt16(Name = {step_name_1:String} AND mapContains(Attributes, {key_2:String}) AND Attributes[{key_2:String}] = {value_3:String}) * 1 + toUInt16(Name IN ('$pageview', '$screen') AND PagePath = {step_path_4:String} AND Host = {value_5:String}) * 2 + toUInt16(Name = {step_name_6:String}) * 4) AS Mask, toString('') AS EventGroup
                                                                                        FROM product_events
                                                                                        WHERE OrgId = {org:String}
                                                                                            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                                                                                            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                                                                                            AND Name IN {step_names:Array(String)}
                                                                                            AND Mask != 0
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
                                                            )
                                                        )
                                                    )
                                                )
                                            )
                                        )
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    WHERE Level > 0
) AS attempts
LEFT JOIN
(
    SELECT Key, arraySort(groupArrayArray(Part)) AS Walk
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
                    SELECT if(VisitorId != '' AND UserId != '', '', SessionId) AS OfSession, VisitorId AS OfVisitor, UserId AS OfUser, groupArray((toUnixTimestamp64Nano(Timestamp), Node)) AS Part
                    FROM (
                        SELECT Timestamp, SessionId, VisitorId, UserId, if(Kind != 'custom' AND PagePath != '', PagePath, toString(Name)) AS Node
                        FROM product_events
                        WHERE OrgId = {org:String}
                            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
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
