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
        toString(FingerprintHash) AS Subject,
        toString(min(ErrorLabel)) AS Name,
        intDiv(toInt64(toUnixTimestamp(Timestamp)) - {start:Int64}, {bucket:Int64}) AS Bucket,
        [toFloat64(count()), sum(SampleRate)] AS Numbers,
        toFloat64(count()) AS Size
    FROM error_events
    WHERE OrgId = {org:String}
        AND Timestamp >= toDateTime({start:Int64}, 'UTC')
        AND Timestamp < toDateTime({end:Int64}, 'UTC')
    GROUP BY ServiceName, Environment, Kind, Subject, Bucket
)
GROUP BY ServiceName, Environment, Kind, Subject
ORDER BY Total DESC, Service, Env, Kind, Subject
LIMIT {limit:UInt32}
