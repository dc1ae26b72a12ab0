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
        toString(multiIf(SeverityNumber >= 17 OR upper(SeverityText) IN ('ERROR', 'FATAL', 'CRITICAL'), 'error', SeverityNumber >= 13 OR upper(SeverityText) IN ('WARN', 'WARNING'), 'warn', 'info')) AS Kind,
        toString('') AS Subject,
        toString('') AS Name,
        intDiv(toInt64(toUnixTimestamp(Minute)) - {start:Int64}, {bucket:Int64}) AS Bucket,
        [toFloat64(sum(LogCount))] AS Numbers,
        toFloat64(sum(LogCount)) AS Size
    FROM log_minutes
    WHERE OrgId = {org:String}
        AND Minute >= toDateTime({start:Int64}, 'UTC')
        AND Minute < toDateTime({end:Int64}, 'UTC')
    GROUP BY ServiceName, Environment, Kind, Subject, Bucket
)
GROUP BY ServiceName, Environment, Kind, Subject
ORDER BY Total DESC, Service, Env, Kind, Subject
LIMIT {limit:UInt32}
