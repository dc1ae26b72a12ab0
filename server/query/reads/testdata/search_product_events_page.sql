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
            AND Timestamp <= fromUnixTimestamp64Nano({before_time:Int64}, 'UTC')
            AND Timestamp >= (
                SELECT min(Timestamp) FROM (
                    SELECT Timestamp FROM product_events
                    WHERE OrgId = {org:String}
                      AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                      AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                      AND Timestamp < fromUnixTimestamp64Nano({before_time:Int64}, 'UTC')
                    ORDER BY Timestamp DESC
                    LIMIT {limit:UInt32}))
    )
)
WHERE (Timestamp, Record) < (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_record:String})
    OR (Timestamp, Record) = (fromUnixTimestamp64Nano({before_time:Int64}, 'UTC'), {before_record:String}) AND Copy > {before_copy:UInt64}
ORDER BY Timestamp DESC, Record DESC, Copy
LIMIT {limit:UInt32}
