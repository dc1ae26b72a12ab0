SELECT
    *,
    sum(SelectedEstimated) OVER (PARTITION BY Key) AS KeySelected,
    sum(OtherEstimated) OVER (PARTITION BY Key) AS KeyOther,
    count() OVER (PARTITION BY Key) AS Values
FROM
(
    SELECT
        Pair.1 AS Key,
        Pair.2 AS Value,
        countIf(Side = 1) AS Selected,
        countIf(Side = 2) AS Other,
        toFloat64(sumIf(Weight, Side = 1)) AS SelectedEstimated,
        toFloat64(sumIf(Weight, Side = 2)) AS OtherEstimated
    FROM
    (
        SELECT
            multiIf((Timestamp >= fromUnixTimestamp64Nano({selected_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({selected_end:Int64}, 'UTC')
        AND HasError), 1, (Timestamp >= fromUnixTimestamp64Nano({other_start:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({other_end:Int64}, 'UTC')), 2, 0) AS Side,
            SampleRate * if(Side = 1, {selected_weight:Float64}, {other_weight:Float64}) AS Weight,
            arrayConcat(
            [('service.name', toString(ServiceName)), ('service.version', toString(ServiceVersion)), ('deployment.environment.name', toString(Environment)),
             ('name', toString(SpanName)), ('kind', toString(SpanKind)), ('status.message', StatusMessage)],
            arrayMap(p -> (toString(p.1), p.2), arrayZip(mapKeys(SpanAttributes), mapValues(SpanAttributes))),
            arrayMap(p -> (concat('resource.', toString(p.1)), p.2), arrayFilter(p -> p.1 NOT IN ('service.name', 'service.version',
                'deployment.environment.name', 'deployment.environment'), arrayZip(mapKeys(ResourceAttributes), mapValues(ResourceAttributes))))) AS Pairs
        FROM spans
        WHERE OrgId = {org:String}
            AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
            AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
            AND Side > 0
            AND cityHash64(TraceId) % 1048576 < if(Side = 1, {selected_drawn:UInt64}, {other_drawn:UInt64})
    )
    ARRAY JOIN Pairs AS Pair
    WHERE Value != '' AND lengthUTF8(Value) <= 200
    GROUP BY Key, Value
)
ORDER BY abs(SelectedEstimated / {selected_size:Float64} - OtherEstimated / {other_size:Float64}) DESC, Key, Value
LIMIT {limit:UInt32}
