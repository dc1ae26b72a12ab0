-- The host of a page whose name has no dot, which domain() does not know: localhost, a name of an intranet, an IPv6 address, or any after a
-- user name and a password. So it is for the product events that servers send.
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
    lower(if(domain(Url) != '', domain(Url), trim(BOTH '[]' FROM extract(Url, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?([[][0-9a-fA-F:.]+[]]|[^/?#:@]+)')))) AS Host,
    path(Url) AS PagePath,
    Attributes,
    ResourceAttributes
FROM {{local "session_events"}}
WHERE Type = 'navigation' OR (Type = 'custom' AND Message != '' AND length(Message) <= 128 AND NOT startsWith(Message, '$'))
;
