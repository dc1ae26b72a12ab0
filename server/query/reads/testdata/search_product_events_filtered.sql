SELECT
    Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, Attributes,
    ResourceAttributes, Record, Copy
FROM
(
    SELECT
        *,
        row_number() OVER (PARTITION BY Timestamp, Record) AS Copy
    FROM
    (
        SELECT
            Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath, Attributes,
            ResourceAttributes,
            lower(hex(sipHash128(Name, Timestamp, Kind, Source, VisitorId, UserId, GroupId, SessionId, ServiceName, Url, Host, PagePath,
            mapKeys(Attributes), mapValues(Attributes), mapKeys(ResourceAttributes), mapValues(ResourceAttributes)))) AS Record
        FROM product_events
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND Name IN {names:Array(String)}
            AND Kind = {kind:String}
            AND Source = {source:String}
            AND UserId = {user_id:String}
            AND VisitorId = {visitor_id:String}
            AND GroupId = {group_id:String}
            AND SessionId = {session_id:String}
            AND ServiceName = {service_name:String}
            AND Host = {host:String}
            AND PagePath = {page_path:String}
            AND position(lowerUTF8(Name), lowerUTF8({name_search:String})) > 0
            AND mapContains(Attributes, {key_1:String})
            AND NOT (mapContains(Attributes, {key_2:String}))
            AND mapContains(Attributes, {key_3:String})
            AND Attributes[{key_3:String}] = {value_4:String}
            AND NOT ((mapContains(Attributes, {key_5:String}) AND Attributes[{key_5:String}] = {value_6:String}))
            AND mapContains(Attributes, {key_7:String})
            AND position(lowerUTF8(Attributes[{key_7:String}]), lowerUTF8({value_8:String})) > 0
            AND NOT ((mapContains(Attributes, {key_9:String}) AND position(lowerUTF8(Attributes[{key_9:String}]), lowerUTF8({value_10:String})) > 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_11:String}]) > {number_12:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_13:String}]) > {number_14:Float64}, 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_15:String}]) >= {number_16:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_17:String}]) >= {number_18:Float64}, 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_19:String}]) < {number_20:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_21:String}]) < {number_22:Float64}, 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_23:String}]) <= {number_24:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_25:String}]) <= {number_26:Float64}, 0))
            AND mapContains(ResourceAttributes, {key_27:String})
            AND position(lowerUTF8(ResourceAttributes[{key_27:String}]), lowerUTF8({value_28:String})) > 0
            AND Timestamp >= (
                SELECT min(Timestamp) FROM (
                    SELECT Timestamp FROM product_events
                    WHERE OrgId = {org:String}
                      AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                      AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                      AND Name IN {names:Array(String)}
                      AND Kind = {kind:String}
                      AND Source = {source:String}
                      AND UserId = {user_id:String}
                      AND VisitorId = {visitor_id:String}
                      AND GroupId = {group_id:String}
                      AND SessionId = {session_id:String}
                      AND ServiceName = {service_name:String}
                      AND Host = {host:String}
                      AND PagePath = {page_path:String}
                      AND position(lowerUTF8(Name), lowerUTF8({name_search:String})) > 0
                      AND mapContains(Attributes, {key_1:String})
                      AND NOT (mapContains(Attributes, {key_2:String}))
                      AND mapContains(Attributes, {key_3:String})
                      AND Attributes[{key_3:String}] = {value_4:String}
                      AND NOT ((mapContains(Attributes, {key_5:String}) AND Attributes[{key_5:String}] = {value_6:String}))
                      AND mapContains(Attributes, {key_7:String})
                      AND position(lowerUTF8(Attributes[{key_7:String}]), lowerUTF8({value_8:String})) > 0
                      AND NOT ((mapContains(Attributes, {key_9:String}) AND position(lowerUTF8(Attributes[{key_9:String}]), lowerUTF8({value_10:String})) > 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_11:String}]) > {number_12:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_13:String}]) > {number_14:Float64}, 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_15:String}]) >= {number_16:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_17:String}]) >= {number_18:Float64}, 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_19:String}]) < {number_20:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_21:String}]) < {number_22:Float64}, 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_23:String}]) <= {number_24:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_25:String}]) <= {number_26:Float64}, 0))
                      AND mapContains(ResourceAttributes, {key_27:String})
                      AND position(lowerUTF8(ResourceAttributes[{key_27:String}]), lowerUTF8({value_28:String})) > 0
                    ORDER BY Timestamp DESC
                    LIMIT {limit:UInt32}))
    )
)
ORDER BY Timestamp DESC, Record DESC, Copy
LIMIT {limit:UInt32}
