SELECT EventsAttributes[indexOf(EventsName, 'exception')]['exception.stacktrace'] AS Stack
FROM spans
WHERE OrgId = {org:String}
    AND ServiceName IN {service_names:Array(String)}
    AND Timestamp IN (fromUnixTimestamp64Nano({at_0:Int64}, 'UTC'), fromUnixTimestamp64Nano({at_1:Int64}, 'UTC'))
    AND TraceId IN {trace_ids:Array(String)}
    AND SpanId IN {span_ids:Array(String)}
    AND Stack != ''
ORDER BY Timestamp DESC
LIMIT 1
