SELECT
    Pair.1 AS Class,
    Pair.2 AS GroupName,
    sumForEach(arrayMap(step -> toUInt64(Level >= step), range(1, 5))) AS Counts,
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
                            if(bitTest(event.2, 1) AND notEmpty(state.1) AND event.1 - state.1[2] <= {within:Int64}, arrayPushBack(state.1, event.1), state.2),
                            if(bitTest(event.2, 2) AND notEmpty(state.2) AND event.1 - state.2[2] <= {within:Int64}, arrayPushBack(state.2, event.1), state.3),
                            if(bitTest(event.2, 3) AND notEmpty(state.3) AND event.1 - state.3[2] <= {within:Int64}, arrayPushBack(state.3, event.1), state.4),
                            multiIf(
                                length(state.5) = 0 AND bitTest(event.2, 0), [toInt64(place), event.1],
                                length(state.5) = 2 AND bitTest(event.2, 1) AND notEmpty(state.1) AND event.1 - state.1[2] <= {within:Int64}, arrayPushBack(state.1, event.1),
                                length(state.5) = 3 AND bitTest(event.2, 2) AND notEmpty(state.2) AND event.1 - state.2[2] <= {within:Int64}, arrayPushBack(state.2, event.1),
                                length(state.5) = 4 AND bitTest(event.2, 3) AND notEmpty(state.3) AND event.1 - state.3[2] <= {within:Int64}, arrayPushBack(state.3, event.1),
                                state.5)),
                        Events, arrayEnumerate(Events), (CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'), CAST([], 'Array(Int64)'))).5 AS Best,
                    length(Best) - 1 AS Level,
                    Best[-1] AS LastAt,
                    Events[Best[1]].3 AS FirstGroup
                FROM
                (
                    SELECT Key, toUnixTimestamp64Nano(Timestamp) AS At, Mask, toString(Country) AS GroupName
                    FROM (
                        SELECT *, SessionId AS Key
                        FROM (
                            SELECT
                                events.*,
                                if(events.VisitorId != '', events.VisitorId, sessions.SessionVisitor) AS KnownVisitor,
                                if(events.UserId != '', events.UserId, sessions.SessionUser) AS KnownUser,
                                ReferrerHost, UtmSource, UtmMedium, UtmCampaign, Country, SessionHost
                            FROM (
                                SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(toUInt16(Name = {step_name_1:String} AND mapContains(Attributes, {attribute_key_2:String}) AND Attributes[{attribute_key_2:String}] = {attribute_value_3:String}) * 2 + toUInt16(Name IN ('$pageview', '$screen') AND PagePath = {step_path_4:String} AND Host = {step_host_5:String}) * 4 + toUInt16(Name = {step_name_6:String}) * 8) AS Mask, toString('') AS EventGroup
                                FROM product_events
                                WHERE OrgId = {org:String}
                                    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                                    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                                    AND Name IN {step_names:Array(String)}
                                    AND Mask != 0
                                UNION ALL
                                SELECT StartTime AS Timestamp, SessionId, SessionVisitor AS VisitorId, SessionUser AS UserId, toUInt16(1) AS Mask, '' AS EventGroup
                                FROM (
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
                                    WHERE Host = {session_host:String}
                                        AND ReferrerHost = {session_referrer_host:String}
                                        AND Country = {session_country:String}
                                        AND DeviceType = {session_device_type:String}
                                        AND BrowserName = {session_browser_name:String}
                                        AND OsName = {session_os_name:String}
                                        AND Language = {session_language:String}
                                        AND UtmSource = {session_utm_source:String}
                                        AND UtmMedium = {session_utm_medium:String}
                                        AND UtmCampaign = {session_utm_campaign:String}
                                        AND VisitorIsNew = {session_visitor_is_new:Bool}
                                        AND (EntryPath = {session_page_path:String} OR ExitPath = {session_page_path:String} OR SessionId IN (SELECT SessionId FROM product_events WHERE OrgId = {org:String}
                                            AND Name IN ('$pageview', '$screen')
                                            AND PagePath = {session_page_path:String}
                                            AND SessionId != ''
                                            AND Timestamp >= fromUnixTimestamp64Nano({pages_start:Int64}, 'UTC')
                                            AND Timestamp <= fromUnixTimestamp64Nano({pages_end:Int64}, 'UTC')))
                                )
                                WHERE UtmSource = {session_value:String} AND StartTime >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
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
                                WHERE Host = {session_host:String}
                                    AND ReferrerHost = {session_referrer_host:String}
                                    AND Country = {session_country:String}
                                    AND DeviceType = {session_device_type:String}
                                    AND BrowserName = {session_browser_name:String}
                                    AND OsName = {session_os_name:String}
                                    AND Language = {session_language:String}
                                    AND UtmSource = {session_utm_source:String}
                                    AND UtmMedium = {session_utm_medium:String}
                                    AND UtmCampaign = {session_utm_campaign:String}
                                    AND VisitorIsNew = {session_visitor_is_new:Bool}
                                    AND (EntryPath = {session_page_path:String} OR ExitPath = {session_page_path:String} OR SessionId IN (SELECT SessionId FROM product_events WHERE OrgId = {org:String}
                                        AND Name IN ('$pageview', '$screen')
                                        AND PagePath = {session_page_path:String}
                                        AND SessionId != ''
                                        AND Timestamp >= fromUnixTimestamp64Nano({pages_start:Int64}, 'UTC')
                                        AND Timestamp <= fromUnixTimestamp64Nano({pages_end:Int64}, 'UTC')))
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
