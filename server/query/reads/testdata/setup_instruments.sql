SELECT
    ServiceName,
    uniqExact(MetricName) AS Metrics,
    uniqExactIf(MetricName, NOT match(MetricName, '^(http|rpc|db|messaging|dns|tls|faas|gen_ai|mcp|process|system|host|container|k8s|jvm|go|nodejs|v8js|cpython|python|dotnet|aspnetcore|kestrel|signalr|ruby|php|hikaricp|otel|otelcol|scrape|up|runtime|memory|cpu|gc|thread|tomcat|jetty|netty|kafka|redis|postgresql|mysql|mongodb|nginx|rabbitmq|promhttp|prometheus|traces_|target_info)([._]|$)')) AS Own,
    max(match(MetricName, '^(http|rpc)[._]server[._]')) AS Serves,
    max(match(MetricName, '^(http|rpc)[._]client[._]')) AS Requests,
    max(match(MetricName, '^db[._]client[._]')) AS Databases,
    max(match(MetricName, '^messaging[._]')) AS Messages
FROM metric_catalog
WHERE OrgId = {org:String}
    AND Hour >= toStartOfHour(toDateTime({start:Int64}, 'UTC'))
    AND Hour <= toDateTime({end:Int64}, 'UTC')
    AND ServiceName != ''
GROUP BY ServiceName
ORDER BY Metrics DESC, ServiceName
LIMIT 500
