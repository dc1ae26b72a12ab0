SELECT Pair.1 AS Kind, Pair.2 AS Name, sum(SampleRate) AS Failures
FROM
(
        SELECT * EXCEPT (Meant)
        FROM
        (
        SELECT *, multiIf(Own != '', Own, max(Own) OVER (PARTITION BY TraceId) != '', max(Own) OVER (PARTITION BY TraceId), concat('trace:', TraceId)) AS Session
        FROM
        (
            SELECT SampleRate, toString(ServiceName) AS Service, toString(Environment) AS Env, SpanAttributes['gen_ai.agent.name'] AS Agent, if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']) AS Message, cityHash64(if(SpanAttributes['error.type'] != '', SpanAttributes['error.type'], EventsAttributes[indexOf(EventsName, 'exception')]['exception.type']), replaceRegexpAll(if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']), '[0-9a-fA-F]{8,}|[0-9]+', '#')) AS Fingerprint, (SpanAttributes['gen_ai.operation.name'] = 'execute_tool' AND has({tools:Array(String)}, SpanAttributes['gen_ai.tool.name']) AND (StatusCode = 'Error' OR SpanAttributes['error.type'] != '')) AS Meant, TraceId, multiIf(SpanAttributes['svc_ai.session.id'] != '', SpanAttributes['svc_ai.session.id'], SpanAttributes['gen_ai.conversation.id'] != '', SpanAttributes['gen_ai.conversation.id'], SpanAttributes['session.id']) AS Own
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND hasAny(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), arrayMap(o -> cityHash64('gen_ai.operation.name', o), ['chat', 'generate_content', 'text_completion', 'invoke_agent', 'execute_tool', 'create_agent', 'embeddings', 'invoke_workflow', 'retrieval']))
        )
        )
        WHERE Meant
)
ARRAY JOIN [('message', substringUTF8(Message, 1, 500)), ('service', Service), ('agent', Agent), ('environment', Env), ('session', Session)] AS Pair
WHERE Fingerprint = {fingerprint:UInt64} AND Name != ''
GROUP BY Kind, Name
ORDER BY Failures DESC, Kind, Name
LIMIT 20 BY Kind
