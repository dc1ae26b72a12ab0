SELECT
    ServiceName AS Service,
    [
        arrayConcat([toFloat64(sumIf(SpanCount, Minute >= toDateTime({start_0:Int64}, 'UTC') AND Minute < toDateTime({end_0:Int64}, 'UTC'))), sumIf(EstimatedSpanCount, Minute >= toDateTime({start_0:Int64}, 'UTC') AND Minute < toDateTime({end_0:Int64}, 'UTC')), sumIf(EstimatedErrorCount, Minute >= toDateTime({start_0:Int64}, 'UTC') AND Minute < toDateTime({end_0:Int64}, 'UTC'))], arraySlice(arrayMap(q -> toFloat64(q), quantilesTDigestWeightedMergeIf(0.5, 0.95, 0.99)(WeightedDurations, Minute >= toDateTime({start_0:Int64}, 'UTC') AND Minute < toDateTime({end_0:Int64}, 'UTC'))), 2)),
        arrayConcat([toFloat64(sumIf(SpanCount, Minute >= toDateTime({start_1:Int64}, 'UTC') AND Minute < toDateTime({end_1:Int64}, 'UTC') AND has({environments_1:Array(String)}, Environment))), sumIf(EstimatedSpanCount, Minute >= toDateTime({start_1:Int64}, 'UTC') AND Minute < toDateTime({end_1:Int64}, 'UTC') AND has({environments_1:Array(String)}, Environment)), sumIf(EstimatedErrorCount, Minute >= toDateTime({start_1:Int64}, 'UTC') AND Minute < toDateTime({end_1:Int64}, 'UTC') AND has({environments_1:Array(String)}, Environment))], [nan, nan])
    ] AS Figures
FROM service_series
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({first:Int64}, 'UTC')
    AND Minute < toDateTime({last:Int64}, 'UTC')
    AND IsEntry
    AND ServiceName IN {services:Array(String)}
GROUP BY ServiceName
