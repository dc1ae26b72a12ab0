-- The name of a product event has 1 to 128 bytes; the message of a custom session event, which becomes one, may have up to 1,024. One that
-- is longer stays on the timeline of its session alone: names that were cut would count different events as one.
ALTER TABLE {{view "product_events_view"}} MODIFY QUERY
SELECT
    OrgId,
    if(Type = 'navigation', '$pageview', Message) AS Name,
    Timestamp,
    Type AS Kind,
    'browser' AS Source,
    VisitorId,
    UserId,
    GroupId,
    SessionId,
    ResourceAttributes['service.name'] AS ServiceName,
    Url,
    lower(domain(Url)) AS Host,
    path(Url) AS PagePath,
    Attributes,
    ResourceAttributes
FROM {{local "session_events"}}
WHERE Type = 'navigation' OR (Type = 'custom' AND Message != '' AND length(Message) <= 128 AND NOT startsWith(Message, '$'))
;
