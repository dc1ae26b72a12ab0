SELECT
    TraceId,
    count() AS Spans,
    countIf(HasError) AS Errors,
    arraySort(groupUniqArray(50)(toString(ServiceName))) AS Services,
    substringUTF8(argMaxIf(if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']), Timestamp, StatusCode = 'Error'), 1, 300) AS Message
FROM spans
WHERE OrgId = {org:String}
    AND TraceId IN {trace_ids:Array(String)}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
GROUP BY TraceId
