SELECT
    if(SpanAttributes['server.address'] = '', '', concat(SpanAttributes['server.address'], ':', SpanAttributes['server.port'])) AS Address,
    arraySort(groupUniqArray(20)(SpanAttributes['peer.service'])) AS Names,
    arraySort(groupUniqArray(20)(ServiceName)) AS Services,
    count() AS Calls
FROM spans
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND SpanKind IN ('Client', 'Producer')
    AND SpanAttributes['peer.service'] != ''
GROUP BY Address
ORDER BY Calls DESC, Address
LIMIT 1000
