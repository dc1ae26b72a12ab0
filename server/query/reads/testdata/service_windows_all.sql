SELECT
    Service,
    toUInt32(arrayJoin(range(if(Offset < {length:Int64}, 0, intDiv(Offset - {length:Int64}, {step:Int64}) + 1), least(intDiv(Offset, {step:Int64}), {last_window:Int64}) + 1))) AS Window,
    arrayConcat([toFloat64(sum(Received)), sum(Estimated), sum(Failed)], [nan, nan]) AS Figures
FROM
(
    SELECT
        '' AS Service,
        dateDiff('minute', toDateTime({first:Int64}, 'UTC'), Minute) AS Offset,
        sum(SpanCount) AS Received,
        sum(EstimatedSpanCount) AS Estimated,
        sum(EstimatedErrorCount) AS Failed
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({first:Int64}, 'UTC')
        AND Minute < toDateTime({last:Int64}, 'UTC')
        AND IsEntry
    GROUP BY Offset
)
GROUP BY Service, Window
