SELECT EventsAttributes[indexOf(EventsName, 'exception')]['exception.stacktrace'] AS Stack
FROM spans
WHERE OrgId = {org:String}
    AND ServiceName = {service_name:String}
    AND Timestamp = fromUnixTimestamp64Nano({at:Int64}, 'UTC')
    AND TraceId = {trace_id:String}
    AND SpanId = {span_id:String}
LIMIT 1
