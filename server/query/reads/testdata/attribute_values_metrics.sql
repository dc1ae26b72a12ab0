SELECT Value, Uses, Rows
FROM
(
    SELECT toString(Value) AS Value, sum(Weight) AS Uses, any(Read) AS Rows
    FROM
    (
        SELECT Value, Weight, count() OVER () AS Read
        FROM
        (
            SELECT Attributes[{key_1:String}] AS Value, toFloat64(1) AS Weight
            FROM metrics_sum
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
                AND MetricName = {metric:String}
                AND mapContains(Attributes, {key_1:String})
            LIMIT {max_rows:UInt32}
            UNION ALL
            SELECT Attributes[{key_1:String}] AS Value, toFloat64(1) AS Weight
            FROM metrics_gauge
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
                AND MetricName = {metric:String}
                AND mapContains(Attributes, {key_1:String})
            LIMIT {max_rows:UInt32}
            UNION ALL
            SELECT Attributes[{key_1:String}] AS Value, toFloat64(1) AS Weight
            FROM metrics_histogram
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
                AND MetricName = {metric:String}
                AND mapContains(Attributes, {key_1:String})
            LIMIT {max_rows:UInt32}
            UNION ALL
            SELECT Attributes[{key_1:String}] AS Value, toFloat64(1) AS Weight
            FROM metrics_exponential_histogram
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
                AND MetricName = {metric:String}
                AND mapContains(Attributes, {key_1:String})
            LIMIT {max_rows:UInt32}
            UNION ALL
            SELECT Attributes[{key_1:String}] AS Value, toFloat64(1) AS Weight
            FROM metrics_summary
            WHERE OrgId = {org:String}
                AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
                AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
                AND ServiceName = {service:String}
                AND MetricName = {metric:String}
                AND mapContains(Attributes, {key_1:String})
            LIMIT {max_rows:UInt32}
        )
    )
    GROUP BY Value
)
WHERE Value != '' AND position(lowerUTF8(Value), lowerUTF8({search:String})) > 0
ORDER BY Uses DESC, Value
LIMIT {max_distinct:UInt32}
