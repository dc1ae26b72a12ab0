-- Which attribute keys product events have, for completion: values are text there, whatever was sent. 0001_telemetry.sql explains the
-- placeholders. What was stored before the view is counted by Warehouse.Backfill.
CREATE MATERIALIZED VIEW IF NOT EXISTS {{view "product_event_keys_view"}} TO {{local "attribute_keys"}} AS
SELECT
    OrgId,
    toStartOfHour(toDateTime(Timestamp, 'UTC')) AS Hour,
    'product_events' AS Signal,
    tupleElement(Sent, 1) AS Scope,
    tupleElement(Sent, 2) AS Key,
    'string' AS ValueType,
    count() AS UsageCount
FROM
(
    SELECT
        OrgId,
        Timestamp,
        arrayJoin(arrayConcat(
            arrayMap(key -> ('event', toString(key)), mapKeys(Attributes)),
            arrayMap(key -> ('resource', toString(key)), mapKeys(ResourceAttributes)))) AS Sent
    FROM {{local "product_events"}}
)
GROUP BY OrgId, Hour, Scope, Key
;
