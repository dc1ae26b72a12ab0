SELECT
    Pair.1 AS Class,
    Pair.2 AS GroupName,
    sumForEach(arrayMap(step -> toUInt64(Level >= step), range(1, 2))) AS Counts,
    quantilesExactInclusiveForEach(0.5, 0.9)(arrayPopFront(arrayDifference(arraySlice(Best, 2)))) AS Quantiles
FROM
(
    SELECT *, arrayJoin([(toUInt8(0), ''), if(Place <= {groups:UInt32}, (toUInt8(1), FirstGroup), (toUInt8(2), ''))]) AS Pair
    FROM (
        SELECT *, dense_rank() OVER (ORDER BY Size DESC, FirstGroup) AS Place
        FROM
        (
            SELECT *, count() OVER (PARTITION BY FirstGroup) AS Size
            FROM (
                SELECT
                    Key,
                    arraySort(event -> (event.1, bitAnd(event.2, 65536 - event.2), event.2, event.3), groupArray((At, Mask, GroupName))) AS Events,
                    arrayFold(
                        (state, event, place) -> (
                            if(bitTest(event.2, 0), [toInt64(place), event.1], state.1),
                            multiIf(
                                length(state.2) = 0 AND bitTest(event.2, 0), [toInt64(place), event.1],
                                state.2)),
                        Events, arrayEnumerate(Events), (CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'))).2 AS Best,
                    length(Best) - 1 AS Level,
                    Best[-1] AS LastAt,
                    Events[Best[1]].3 AS FirstGroup
                FROM
                (
                    SELECT Key, toUnixTimestamp64Nano(Timestamp) AS At, Mask, toString(EventGroup) AS GroupName
                    FROM (
                        SELECT *, KnownUser AS Key
                        FROM (
                            SELECT
                                events.*,
                                if(events.VisitorId != '', events.VisitorId, sessions.SessionVisitor) AS KnownVisitor,
                                if(events.UserId != '', events.UserId, sessions.SessionUser) AS KnownUser,
                                ReferrerHost, UtmSource, UtmMedium, UtmCampaign, Country, SessionHost
                            FROM (
                                SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(toUInt16(Name = {step_name_1:String} AND mapContains(Attributes, {attribute_key_2:String}) AND Attributes[{attribute_key_2:String}] = {attribute_value_3:String}) * 1) AS Mask, toString(Attributes[{group_attribute:String}]) AS EventGroup
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
                        )
                    )
                    WHERE Key != ''
                )
                GROUP BY Key
                HAVING notEmpty(Best)
            )
        )
    )
)
GROUP BY Class, GroupName
ORDER BY Class, Counts[1] DESC, GroupName
