SELECT * EXCEPT (Own, Fingerprint)
FROM
(
        SELECT * EXCEPT (Meant)
        FROM
        (
        SELECT *, multiIf(Own != '', Own, max(Own) OVER (PARTITION BY TraceId) != '', max(Own) OVER (PARTITION BY TraceId), concat('trace:', TraceId)) AS Session
        FROM
        (
            SELECT SpanId, ParentSpanId, Timestamp, DurationNano, SpanAttributes['gen_ai.operation.name'] AS Operation, SpanName, ServiceName, (StatusCode = 'Error' OR SpanAttributes['error.type'] != '') AS Failed,
                if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']) AS Message, if(SpanAttributes['error.type'] != '', SpanAttributes['error.type'], EventsAttributes[indexOf(EventsName, 'exception')]['exception.type']) AS ErrorType, if(SpanAttributes['gen_ai.response.model'] != '', SpanAttributes['gen_ai.response.model'], SpanAttributes['gen_ai.request.model']) AS Model, if(SpanAttributes['gen_ai.provider.name'] != '', SpanAttributes['gen_ai.provider.name'], SpanAttributes['gen_ai.system']) AS Vendor,
                SpanAttributes['gen_ai.agent.name'] AS Agent, SpanAttributes['gen_ai.tool.name'] AS Tool, toFloat64OrZero(if(SpanAttributes['gen_ai.usage.input_tokens'] != '', SpanAttributes['gen_ai.usage.input_tokens'], SpanAttributes['gen_ai.usage.prompt_tokens'])) AS InputTokens, toFloat64OrZero(if(SpanAttributes['gen_ai.usage.output_tokens'] != '', SpanAttributes['gen_ai.usage.output_tokens'], SpanAttributes['gen_ai.usage.completion_tokens'])) AS OutputTokens,
                toFloat64OrZero(if(SpanAttributes['gen_ai.usage.cache_read.input_tokens'] != '', SpanAttributes['gen_ai.usage.cache_read.input_tokens'], if(SpanAttributes['gen_ai.usage.cache_read_input_tokens'] != '', SpanAttributes['gen_ai.usage.cache_read_input_tokens'], ''))) AS CacheRead,
                toFloat64OrZero(if(SpanAttributes['gen_ai.usage.cache_creation.input_tokens'] != '', SpanAttributes['gen_ai.usage.cache_creation.input_tokens'], if(SpanAttributes['gen_ai.usage.cache_creation_input_tokens'] != '', SpanAttributes['gen_ai.usage.cache_creation_input_tokens'], ''))) AS CacheWrite,
                toFloat64OrZero(if(SpanAttributes['gen_ai.usage.reasoning.output_tokens'] != '', SpanAttributes['gen_ai.usage.reasoning.output_tokens'], if(SpanAttributes['gen_ai.usage.reasoning_tokens'] != '', SpanAttributes['gen_ai.usage.reasoning_tokens'], ''))) AS Reasoning,
                toFloat64OrZero(multiIf(SpanAttributes['gen_ai.usage.cost'] != '', SpanAttributes['gen_ai.usage.cost'], SpanAttributes['gen_ai.usage.total_cost'] != '', SpanAttributes['gen_ai.usage.total_cost'], SpanAttributes['llm.cost.total'])) AS Paid,
                mapContains(SpanAttributes, 'gen_ai.usage.output_tokens') OR mapContains(SpanAttributes, 'gen_ai.usage.completion_tokens') AS HasTokens,
                mapContains(SpanAttributes, 'gen_ai.usage.cost') OR mapContains(SpanAttributes, 'gen_ai.usage.total_cost') OR mapContains(SpanAttributes, 'llm.cost.total') AS HasCost,
                1000 * toFloat64OrZero(if(SpanAttributes['gen_ai.response.time_to_first_chunk'] != '', SpanAttributes['gen_ai.response.time_to_first_chunk'], if(SpanAttributes['gen_ai.server.time_to_first_token'] != '', SpanAttributes['gen_ai.server.time_to_first_token'], ''))) AS FirstToken,
                substringUTF8(if(SpanAttributes['gen_ai.system_instructions'] != '', SpanAttributes['gen_ai.system_instructions'], ''), 1, {payload:UInt32}) AS System,
                substringUTF8(if(if(SpanAttributes['gen_ai.input.messages'] != '', SpanAttributes['gen_ai.input.messages'], if(SpanAttributes['gen_ai.prompt'] != '', SpanAttributes['gen_ai.prompt'], if(SpanAttributes['gen_ai.tool.call.arguments'] != '', SpanAttributes['gen_ai.tool.call.arguments'], ''))) != '', if(SpanAttributes['gen_ai.input.messages'] != '', SpanAttributes['gen_ai.input.messages'], if(SpanAttributes['gen_ai.prompt'] != '', SpanAttributes['gen_ai.prompt'], if(SpanAttributes['gen_ai.tool.call.arguments'] != '', SpanAttributes['gen_ai.tool.call.arguments'], ''))), arrayStringConcat(arrayMap(i -> concat(EventsName[i], ': ', EventsAttributes[i]['content'], EventsAttributes[i]['message']), arrayFilter(i -> EventsName[i] IN ('gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.tool.message'), arrayEnumerate(EventsName))), '\n')), 1, {payload:UInt32}) AS Asked,
                substringUTF8(if(if(SpanAttributes['gen_ai.output.messages'] != '', SpanAttributes['gen_ai.output.messages'], if(SpanAttributes['gen_ai.completion'] != '', SpanAttributes['gen_ai.completion'], if(SpanAttributes['gen_ai.tool.call.result'] != '', SpanAttributes['gen_ai.tool.call.result'], ''))) != '', if(SpanAttributes['gen_ai.output.messages'] != '', SpanAttributes['gen_ai.output.messages'], if(SpanAttributes['gen_ai.completion'] != '', SpanAttributes['gen_ai.completion'], if(SpanAttributes['gen_ai.tool.call.result'] != '', SpanAttributes['gen_ai.tool.call.result'], ''))), arrayStringConcat(arrayMap(i -> concat(EventsName[i], ': ', EventsAttributes[i]['content'], EventsAttributes[i]['message']), arrayFilter(i -> EventsName[i] IN ('gen_ai.assistant.message', 'gen_ai.choice'), arrayEnumerate(EventsName))), '\n')), 1, {payload:UInt32}) AS Answered, cityHash64(if(SpanAttributes['error.type'] != '', SpanAttributes['error.type'], EventsAttributes[indexOf(EventsName, 'exception')]['exception.type']), replaceRegexpAll(if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message']), '[0-9a-fA-F]{8,}|[0-9]+', '#')) AS Fingerprint, (SpanAttributes['gen_ai.operation.name'] = 'execute_tool' AND has({tools:Array(String)}, SpanAttributes['gen_ai.tool.name']) AND (StatusCode = 'Error' OR SpanAttributes['error.type'] != '')) AS Meant, TraceId, multiIf(SpanAttributes['svc_ai.session.id'] != '', SpanAttributes['svc_ai.session.id'], SpanAttributes['gen_ai.conversation.id'] != '', SpanAttributes['gen_ai.conversation.id'], SpanAttributes['session.id']) AS Own
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
    AND Session = {session:String}
ORDER BY Timestamp DESC, SpanId
LIMIT {limit:UInt32}
