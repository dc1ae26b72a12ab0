SELECT
    ServiceName AS Service,
    Environment AS Env,
    Kind,
    Subject,
    min(Name) AS Label,
    (arraySort(groupArray((Bucket, Numbers))) AS Points).1 AS At,
    Points.2 AS Figures,
    sum(Size) AS Total,
    count() OVER () AS AllSeries
FROM
(
    SELECT
        ServiceName,
        Environment,
        toString('') AS Kind,
        toString('') AS Subject,
        toString('') AS Name,
        intDiv(toInt64(toUnixTimestamp(Minute)) - {start:Int64}, {bucket:Int64}) AS Bucket,
        arrayConcat(
            [toFloat64(sum(SpanCount)), toFloat64(sum(ErrorCount)), sum(EstimatedSpanCount), sum(EstimatedErrorCount)],
            arrayMap(q -> toFloat64(q), quantilesTDigestWeightedMerge(0.5, 0.75, 0.95)(WeightedDurations))) AS Numbers,
        toFloat64(sum(EstimatedSpanCount)) AS Size
    FROM service_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start:Int64}, 'UTC')
        AND Minute < toDateTime({end:Int64}, 'UTC')
        AND IsEntry
    GROUP BY ServiceName, Environment, Kind, Subject, Bucket
)
GROUP BY ServiceName, Environment, Kind, Subject
ORDER BY Total DESC, Service, Env, Kind, Subject
LIMIT {limit:UInt32}
