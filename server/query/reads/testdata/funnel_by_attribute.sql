SELECT
    Pair.1 AS Class,
    Pair.2 AS GroupName,
    sumForEach(arrayMap(step -> toUInt64(Level >= step), range(1, 2))) AS Counts,
    quantilesExactInclusiveForEach(0.5, 0.9)(arrayPopFront(arrayDifference(Best))) AS Quantiles
FROM
(
    SELECT *, arrayJoin([(toUInt8(0), ''), if(Place <= {groups:UInt32}, (toUInt8(1), FirstGroup), (toUInt8(2), ''))]) AS Pair
    FROM (
        SELECT *, dense_rank() OVER (ORDER BY Size DESC, FirstGroup) AS Place
        FROM
        (
            SELECT *, count() OVER (PARTITION BY FirstGroup) AS Size
            FROM (
                SELECT Key, Level, arrayMap(place -> Times[place], arraySlice([Place1], 1, Level)) AS Best, Best[-1] AS LastAt, arrayFirst(event -> bitAnd(event.1, 1) = 1 AND toInt64(bitShiftRight(event.1, 32)) = Best[1], Events).2 AS FirstGroup
                FROM (
                    SELECT *, arrayFirstIndex(start -> start != 0, Reached1) AS Place1
                    FROM (
                        SELECT *, toUInt64(arrayExists(start -> start != 0, Reached1)) AS Level
                        FROM (
                            SELECT *, arrayMap((at, mask) -> if(bitTest(mask, 0), at, 0), Times, Masks) AS Reached1
                            FROM (
                                SELECT *, if(length(Times) = length(EventTimes), arrayMap(mask -> toUInt64(mask), EventMasks), arrayMap(masks -> arraySum(arrayMap(steps -> transform(steps, [1], [toUInt64(1)], toUInt64(0)),
                                    arrayFold((sets, mask) -> arrayDistinct(arrayFlatten(arrayMap(set -> arrayMap(bit -> bitOr(set, bitAnd(mask, bit)), [toUInt16(1)]), sets))),
                                        arrayFilter((mask, earlier) -> mask != earlier, masks, arraySlice(arrayConcat(arrayWithConstant(1, toUInt16(0)), masks), 1, length(masks))),
                                        [toUInt16(0)]))),
                                    arraySplit((mask, first) -> first, EventMasks, arrayMap((at, before) -> at != before, EventTimes, arrayPopBack(arrayPushFront(EventTimes, 0)))))) AS Masks
                                FROM (
                                    SELECT *, arrayCompact(EventTimes) AS Times
                                    FROM (
                                        SELECT *, arrayMap(event -> toInt64(bitShiftRight(event.1, 32)), Events) AS EventTimes,
                                            arrayMap(event -> toUInt16(bitAnd(event.1, 65535)), Events) AS EventMasks
                                        FROM (
                                            SELECT Key, arraySort(groupArrayArray(Part)) AS Events
                                            FROM
                                            (
                                                SELECT Key, Part
                                                FROM (
                                                    SELECT *, KnownUser AS Key
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
                                                                SELECT if(UserId != '', '', SessionId) AS OfSession, '' AS OfVisitor, UserId AS OfUser, groupArray((bitShiftLeft(toUInt128(toUnixTimestamp64Nano(Timestamp)), 32) + bitShiftLeft(toUInt128(bitAnd(Mask, 65536 - Mask)), 16) + Mask, EventGroup)) AS Part
                                                                FROM (
                                                                    SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(toUInt16(Name = {step_name_2:String} AND mapContains(Attributes, {key_3:String}) AND Attributes[{key_3:String}] = {value_4:String}) * 1) AS Mask, toString(Attributes[{key_1:String}]) AS EventGroup
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
                                                    )
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
                WHERE Level > 0
            )
        )
    )
)
GROUP BY Class, GroupName
ORDER BY Class, Counts[1] DESC, GroupName
