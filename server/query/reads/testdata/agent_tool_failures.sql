SELECT
    Fingerprint,
    any(ErrorType) AS Type,
    argMax(Message, Timestamp) AS Latest,
    sum(SampleRate) AS Failures,
    uniqExact(Session) AS Sessions,
    max(Timestamp) AS Last,
    groupArray(5000)(Timestamp) AS Times,
    groupArray(5000)(SampleRate) AS Weights
FROM
(
        SELECT * EXCEPT (Meant)
        FROM
        (
        SELECT *, multiIf(Own != '', Own, max(Own) OVER (PARTITION BY TraceId) != '', max(Own) OVER (PARTITION BY TraceId), concat('trace:', TraceId)) AS Session
        FROM
        (
            SELECT Timestamp, SampleRate, if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']) AS Message, if(SpanAttributes['error.type'] != '', SpanAttributes['error.type'], EventsAttributes[indexOf(EventsName, 'exception')]['exception.type']) AS ErrorType, cityHash64(if(SpanAttributes['error.type'] != '', SpanAttributes['error.type'], EventsAttributes[indexOf(EventsName, 'exception')]['exception.type']), replaceRegexpAll(if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']), '[0-9a-fA-F]{8,}|[0-9]+', '#')) AS Fingerprint, (SpanAttributes['gen_ai.operation.name'] = 'execute_tool' AND has({services:Array(String)}, ServiceName) AND has({environments:Array(String)}, Environment) AND has({agents:Array(String)}, SpanAttributes['gen_ai.agent.name']) AND has({tools:Array(String)}, SpanAttributes['gen_ai.tool.name']) AND has({vendors:Array(String)}, if(SpanAttributes['gen_ai.provider.name'] != '', SpanAttributes['gen_ai.provider.name'], SpanAttributes['gen_ai.system'])) AND has({models:Array(String)}, if(SpanAttributes['gen_ai.response.model'] != '', SpanAttributes['gen_ai.response.model'], SpanAttributes['gen_ai.request.model'])) AND (StatusCode = 'Error' OR SpanAttributes['error.type'] != '')) AS Meant, TraceId, multiIf(SpanAttributes['svc_ai.session.id'] != '', SpanAttributes['svc_ai.session.id'], SpanAttributes['gen_ai.conversation.id'] != '', SpanAttributes['gen_ai.conversation.id'], SpanAttributes['session.id']) AS Own
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND hasAny(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), arrayMap(o -> cityHash64('gen_ai.operation.name', o), ['chat', 'generate_content', 'text_completion', 'invoke_agent', 'execute_tool', 'create_agent', 'embeddings', 'invoke_workflow', 'retrieval']))
        )
        )
        WHERE Meant
)
WHERE Fingerprint = {fingerprint:UInt64}
GROUP BY Fingerprint
ORDER BY Failures DESC, Fingerprint
LIMIT 20
