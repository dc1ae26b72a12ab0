SELECT
    ServiceName,
    Direction,
    PeerKind,
    PeerSystem,
    PeerName,
    sum(CallCount) AS Calls,
    sum(EstimatedCallCount) AS EstimatedCalls,
    sum(ErrorCount) AS Errors,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    sum(EstimatedDurationNano) AS EstimatedNano,
    max(MaxDurationNano) AS MaxNano
FROM service_peers
WHERE OrgId = {org:String}
    AND Minute >= toDateTime({start_minute:Int64}, 'UTC')
    AND Minute <= toDateTime({end_minute:Int64}, 'UTC')
    AND ServiceName = {service_name:String}
    AND Environment = {deployment_environment:String}
GROUP BY ServiceName, Direction, PeerKind, PeerSystem, PeerName
ORDER BY EstimatedCalls DESC, ServiceName, Direction, PeerKind, PeerSystem, PeerName
LIMIT {limit:UInt32}
