SELECT
    SourceService,
    TargetService,
    sum(CallCount) AS Calls,
    sum(EstimatedCallCount) AS EstimatedCalls,
    sum(ErrorCount) AS Errors,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    sum(EstimatedDurationNano) AS EstimatedNano,
    max(MaxDurationNano) AS MaxNano
FROM call_hours
WHERE OrgId = {org:String}
    AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
    AND Hour <= toDateTime({end_hour:Int64}, 'UTC')
    AND toUnixTimestamp(Hour) IN {hours:Array(Int64)}
    AND toUnixTimestamp64Micro(CountedAt) IN {counted:Array(Int64)}
    AND SourceService != ''
    AND Environment = {deployment_environment:String}
GROUP BY SourceService, TargetService
ORDER BY EstimatedCalls DESC, SourceService, TargetService
LIMIT 10000
