SELECT
    Tool,
    argMax(Described, Timestamp) AS Description,
    sum(SampleRate) AS Calls,
    sumIf(SampleRate, Failed) AS Failures,
    avgWeighted(DurationNano, SampleRate) / 1e6 AS AvgMs,
    toFloat64(quantileTDigestWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16)))) / 1e6 AS P95Ms,
    uniqExact(Session) AS Sessions,
    min(Timestamp) AS First,
    max(Timestamp) AS Last
FROM
(
        SELECT * EXCEPT (Meant)
        FROM
        (
        SELECT *, multiIf(Own != '', Own, max(Own) OVER (PARTITION BY TraceId) != '', max(Own) OVER (PARTITION BY TraceId), concat('trace:', TraceId)) AS Session
        FROM
        (
            SELECT Timestamp, DurationNano, SampleRate, (StatusCode = 'Error' OR SpanAttributes['error.type'] != '') AS Failed, if(SpanAttributes['gen_ai.tool.name'] != '', SpanAttributes['gen_ai.tool.name'], '(no name)') AS Tool, SpanAttributes['gen_ai.tool.description'] AS Described, (SpanAttributes['gen_ai.operation.name'] = 'execute_tool' AND has({services:Array(String)}, ServiceName) AND has({environments:Array(String)}, Environment) AND has({agents:Array(String)}, SpanAttributes['gen_ai.agent.name']) AND has({tools:Array(String)}, SpanAttributes['gen_ai.tool.name']) AND has({vendors:Array(String)}, if(SpanAttributes['gen_ai.provider.name'] != '', SpanAttributes['gen_ai.provider.name'], SpanAttributes['gen_ai.system'])) AND has({models:Array(String)}, if(SpanAttributes['gen_ai.response.model'] != '', SpanAttributes['gen_ai.response.model'], SpanAttributes['gen_ai.request.model'])) AND position(lowerUTF8(SpanAttributes['gen_ai.tool.name']), lowerUTF8({contains:String})) > 0) AS Meant, TraceId, multiIf(SpanAttributes['svc_ai.session.id'] != '', SpanAttributes['svc_ai.session.id'], SpanAttributes['gen_ai.conversation.id'] != '', SpanAttributes['gen_ai.conversation.id'], SpanAttributes['session.id']) AS Own
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND hasAny(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), arrayMap(o -> cityHash64('gen_ai.operation.name', o), ['chat', 'generate_content', 'text_completion', 'invoke_agent', 'execute_tool', 'create_agent', 'embeddings', 'invoke_workflow', 'retrieval']))
        )
        )
        WHERE Meant
)
GROUP BY ROLLUP(Tool)
ORDER BY Tool = '' DESC, Calls DESC, Tool
LIMIT 201
