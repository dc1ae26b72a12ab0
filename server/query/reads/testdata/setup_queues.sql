SELECT
    PeerName AS Queue,
    sumIf(CallCount, Direction = 'outbound') AS Sent,
    sumIf(CallCount, Direction = 'inbound') AS Received,
    arraySort(groupUniqArrayIf(20)(ServiceName, Direction = 'outbound')) AS Senders
FROM service_peers
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
    AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
    AND PeerKind = 'queue'
    AND PeerName != ''
GROUP BY Queue
HAVING Sent > 0
ORDER BY Sent DESC, Queue
LIMIT 1000
