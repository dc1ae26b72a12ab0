SELECT
    toString(Environment) AS Environment,
    toString(ServiceVersion) AS ServiceVersion,
    count() AS Occurrences
FROM error_events
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND Source = ''
    AND FingerprintHash IN {fingerprints:Array(UInt64)}
    AND ServiceName = {service_name:String}
    AND Environment = {deployment_environment:String}
    AND ServiceNamespace = {service_namespace:String}
    AND ExceptionType = {exception_type:String}
    AND (position(lowerUTF8(ErrorLabel), lowerUTF8({search:String})) > 0 OR position(lowerUTF8(ExceptionMessage), lowerUTF8({search:String})) > 0)
    AND IsRoot
GROUP BY Environment, ServiceVersion
ORDER BY Occurrences DESC, Environment, ServiceVersion
LIMIT {limit:UInt32}
