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
        toString(PeerKind) AS Kind,
        toString(PeerName) AS Subject,
        toString(min(PeerSystem)) AS Name,
        intDiv(toInt64(toUnixTimestamp(Minute)) - {start:Int64}, {bucket:Int64}) AS Bucket,
        [toFloat64(sum(CallCount)), toFloat64(sum(ErrorCount)), sum(EstimatedCallCount), sum(EstimatedErrorCount), sum(EstimatedDurationNano)] AS Numbers,
        toFloat64(sum(EstimatedCallCount)) AS Size
    FROM service_peers
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start:Int64}, 'UTC')
        AND Minute < toDateTime({end:Int64}, 'UTC')
        AND Direction = 'outbound'
        AND Environment = {deployment_environment:String}
        AND ServiceName = {service_name:String}
    GROUP BY ServiceName, Environment, Kind, Subject, Bucket
)
GROUP BY ServiceName, Environment, Kind, Subject
ORDER BY Total DESC, Service, Env, Kind, Subject
LIMIT {limit:UInt32}
