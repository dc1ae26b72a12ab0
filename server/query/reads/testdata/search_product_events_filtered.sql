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
            AND Name = {value_1:String}
            AND Kind = {value_2:String}
            AND Source = {value_3:String}
            AND UserId = {value_4:String}
            AND VisitorId = {value_5:String}
            AND GroupId = {value_6:String}
            AND SessionId = {value_7:String}
            AND ServiceName = {value_8:String}
            AND Host = {value_9:String}
            AND PagePath = {value_10:String}
            AND Name != ''
            AND position(lowerUTF8(Name), lowerUTF8({value_11:String})) > 0
            AND mapContains(Attributes, {key_12:String})
            AND NOT (mapContains(Attributes, {key_13:String}))
            AND mapContains(Attributes, {key_14:String})
            AND Attributes[{key_14:String}] = {value_15:String}
            AND NOT ((mapContains(Attributes, {key_16:String}) AND Attributes[{key_16:String}] = {value_17:String}))
            AND mapContains(Attributes, {key_18:String})
            AND position(lowerUTF8(Attributes[{key_18:String}]), lowerUTF8({value_19:String})) > 0
            AND NOT ((mapContains(Attributes, {key_20:String}) AND position(lowerUTF8(Attributes[{key_20:String}]), lowerUTF8({value_21:String})) > 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_22:String}]) > {number_23:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_24:String}]) > {number_25:Float64}, 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_26:String}]) >= {number_27:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_28:String}]) >= {number_29:Float64}, 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_30:String}]) < {number_31:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_32:String}]) < {number_33:Float64}, 0))
            AND ifNull(toFloat64OrNull(Attributes[{key_34:String}]) <= {number_35:Float64}, 0)
            AND NOT (ifNull(toFloat64OrNull(Attributes[{key_36:String}]) <= {number_37:Float64}, 0))
            AND mapContains(ResourceAttributes, {key_38:String})
            AND position(lowerUTF8(ResourceAttributes[{key_38:String}]), lowerUTF8({value_39:String})) > 0
            AND Timestamp >= (
                SELECT min(Timestamp) FROM (
                    SELECT Timestamp FROM product_events
                    WHERE OrgId = {org:String}
                      AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                      AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                      AND Name = {value_1:String}
                      AND Kind = {value_2:String}
                      AND Source = {value_3:String}
                      AND UserId = {value_4:String}
                      AND VisitorId = {value_5:String}
                      AND GroupId = {value_6:String}
                      AND SessionId = {value_7:String}
                      AND ServiceName = {value_8:String}
                      AND Host = {value_9:String}
                      AND PagePath = {value_10:String}
                      AND Name != ''
                      AND position(lowerUTF8(Name), lowerUTF8({value_11:String})) > 0
                      AND mapContains(Attributes, {key_12:String})
                      AND NOT (mapContains(Attributes, {key_13:String}))
                      AND mapContains(Attributes, {key_14:String})
                      AND Attributes[{key_14:String}] = {value_15:String}
                      AND NOT ((mapContains(Attributes, {key_16:String}) AND Attributes[{key_16:String}] = {value_17:String}))
                      AND mapContains(Attributes, {key_18:String})
                      AND position(lowerUTF8(Attributes[{key_18:String}]), lowerUTF8({value_19:String})) > 0
                      AND NOT ((mapContains(Attributes, {key_20:String}) AND position(lowerUTF8(Attributes[{key_20:String}]), lowerUTF8({value_21:String})) > 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_22:String}]) > {number_23:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_24:String}]) > {number_25:Float64}, 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_26:String}]) >= {number_27:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_28:String}]) >= {number_29:Float64}, 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_30:String}]) < {number_31:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_32:String}]) < {number_33:Float64}, 0))
                      AND ifNull(toFloat64OrNull(Attributes[{key_34:String}]) <= {number_35:Float64}, 0)
                      AND NOT (ifNull(toFloat64OrNull(Attributes[{key_36:String}]) <= {number_37:Float64}, 0))
                      AND mapContains(ResourceAttributes, {key_38:String})
                      AND position(lowerUTF8(ResourceAttributes[{key_38:String}]), lowerUTF8({value_39:String})) > 0
                    ORDER BY Timestamp DESC
                    LIMIT {limit:UInt32}))
    )
)
ORDER BY Timestamp DESC, Record DESC, Copy
LIMIT {limit:UInt32}
