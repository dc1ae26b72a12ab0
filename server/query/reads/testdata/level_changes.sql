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
        toString(MetricName) AS Kind,
        toString(arrayStringConcat(arrayFilter(v -> v != '', arrayMap(k -> Attributes[k], [
            'messaging.destination.name', 'messaging.consumer.group.name', 'topic', 'queue', 'group', 'consumer_group', 'destination',
            'pool', 'pool.name', 'db.client.connection.pool.name', 'jvm.memory.pool.name', 'v8js.heap.space.name', 'mountpoint',
            'system.filesystem.mountpoint'])), ' ')) AS Subject,
        toString(min(MetricUnit)) AS Name,
        intDiv(toInt64(toUnixTimestamp(Timestamp)) - {start:Int64}, {bucket:Int64}) AS Bucket,
        [avg(Value), max(Value)] AS Numbers,
        toFloat64(count()) AS Size
    FROM metrics_sum
    WHERE OrgId = {org:String}
        AND Timestamp >= toDateTime({start:Int64}, 'UTC')
        AND Timestamp < toDateTime({end:Int64}, 'UTC')
        AND MetricName IN {metrics:Array(String)}
        AND NOT IsMonotonic
    GROUP BY ServiceName, Environment, Kind, Subject, Bucket
)
GROUP BY ServiceName, Environment, Kind, Subject
ORDER BY Total DESC, Service, Env, Kind, Subject
LIMIT {limit:UInt32}
