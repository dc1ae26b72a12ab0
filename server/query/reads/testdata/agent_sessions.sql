SELECT
    Session,
    arraySort(groupUniqArrayIf(10)(Vendor, Vendor != '')) AS Vendors,
    uniqExact(TraceId) AS Traces,
    count() AS Spans,
    countIf(Failed) AS Errors,
    countIf(Failed AND Operation = 'execute_tool') AS ToolErrors,
    countIf(Failed AND Operation = 'invoke_agent') AS TurnErrors,
    countIf(Operation = 'invoke_agent') AS Turns,
    arraySort(groupUniqArray(20)(toString(ServiceName))) AS Services,
    arraySort(groupUniqArrayIf(20)(Model, Model != '' AND Operation IN ('chat', 'generate_content', 'text_completion'))) AS Models,
    arraySort(groupUniqArrayIf(20)(Agent, Agent != '')) AS Agents,
    min(Timestamp) AS Start,
    max(Timestamp + toIntervalNanosecond(DurationNano)) AS End,
    countIf(Operation IN ('chat', 'generate_content', 'text_completion')) AS ModelCalls,
    countIf(Operation = 'execute_tool') AS ToolCalls,
    if(sumIf(Used, Operation IN ('chat', 'generate_content', 'text_completion')) > 0, sumIf(Used, Operation IN ('chat', 'generate_content', 'text_completion')), sumIf(Used, Operation = 'invoke_agent')) AS Tokens,
    if(sumIf(Paid, Operation IN ('chat', 'generate_content', 'text_completion')) > 0, sumIf(Paid, Operation IN ('chat', 'generate_content', 'text_completion')), sumIf(Paid, Operation = 'invoke_agent')) AS Cost,
    count() OVER () AS Total,
    countIf(Errors > 0) OVER () AS Failing
FROM
(
        SELECT *, multiIf(Own != '', Own, max(Own) OVER (PARTITION BY TraceId) != '', max(Own) OVER (PARTITION BY TraceId), concat('trace:', TraceId)) AS Session
        FROM
        (
            SELECT ServiceName, Environment, Timestamp, DurationNano, (StatusCode = 'Error' OR SpanAttributes['error.type'] != '') AS Failed, SpanAttributes['gen_ai.operation.name'] AS Operation, if(SpanAttributes['gen_ai.response.model'] != '', SpanAttributes['gen_ai.response.model'], SpanAttributes['gen_ai.request.model']) AS Model,
                SpanAttributes['gen_ai.request.model'] AS Asked, if(SpanAttributes['gen_ai.provider.name'] != '', SpanAttributes['gen_ai.provider.name'], SpanAttributes['gen_ai.system']) AS Vendor, SpanAttributes['gen_ai.agent.name'] AS Agent, SpanAttributes['gen_ai.tool.name'] AS Tool,
                toFloat64OrZero(if(SpanAttributes['gen_ai.usage.input_tokens'] != '', SpanAttributes['gen_ai.usage.input_tokens'], SpanAttributes['gen_ai.usage.prompt_tokens'])) + toFloat64OrZero(if(SpanAttributes['gen_ai.usage.output_tokens'] != '', SpanAttributes['gen_ai.usage.output_tokens'], SpanAttributes['gen_ai.usage.completion_tokens'])) AS Used, toFloat64OrZero(multiIf(SpanAttributes['gen_ai.usage.cost'] != '', SpanAttributes['gen_ai.usage.cost'], SpanAttributes['gen_ai.usage.total_cost'] != '', SpanAttributes['gen_ai.usage.total_cost'], SpanAttributes['llm.cost.total'])) AS Paid, TraceId, multiIf(SpanAttributes['svc_ai.session.id'] != '', SpanAttributes['svc_ai.session.id'], SpanAttributes['gen_ai.conversation.id'] != '', SpanAttributes['gen_ai.conversation.id'], SpanAttributes['session.id']) AS Own
            FROM spans
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND hasAny(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), arrayMap(o -> cityHash64('gen_ai.operation.name', o), ['chat', 'generate_content', 'text_completion', 'invoke_agent', 'execute_tool', 'create_agent', 'embeddings', 'invoke_workflow', 'retrieval']))
        )
)
GROUP BY Session
HAVING Spans > 0
ORDER BY Start DESC, Session
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
