SELECT
    Service,
    toUInt32(arrayJoin(range(if(Offset < {length:Int64}, 0, intDiv(Offset - {length:Int64}, {step:Int64}) + 1), least(intDiv(Offset, {step:Int64}), {last_window:Int64}) + 1))) AS Window,
    arrayConcat([toFloat64(sum(Received)), sum(Estimated), sum(Failed)], arraySlice(arrayMap(q -> toFloat64(q), quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(MinuteDurations)), 2)) AS Figures
FROM
(
    SELECT
        ServiceName AS Service,
        dateDiff('minute', toDateTime({first:Int64}, 'UTC'), Minute) AS Offset,
        sum(SpanCount) AS Received,
        sum(EstimatedSpanCount) AS Estimated,
        sum(EstimatedErrorCount) AS Failed,
        quantilesTDigestWeightedMergeState(0.5, 0.95, 0.99)(WeightedDurations) AS MinuteDurations
    FROM service_series
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({first:Int64}, 'UTC')
        AND Minute < toDateTime({last:Int64}, 'UTC')
        AND IsEntry
        AND ServiceName IN {services:Array(String)}
        AND has({environments:Array(String)}, Environment)
    GROUP BY ServiceName, Offset
)
GROUP BY Service, Window
