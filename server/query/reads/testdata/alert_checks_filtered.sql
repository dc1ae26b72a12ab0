SELECT Timestamp, GroupKey, Status, SkipReason, SignalType, Comparator, Threshold, ThresholdUpper, ObservedValue,
    SampleCount, WindowMinutes, ConsecutiveBreaches, ConsecutiveHealthy, IncidentId, IncidentTransition, EvaluationDurationMs,
    ErrorMessage, ErrorCategory
FROM alert_checks
WHERE OrgId = {org:String}
    AND RuleId = {rule:String}
    AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
    AND Timestamp < fromUnixTimestamp64Nano({until:Int64}, 'UTC')
    AND GroupKey = {group:String}
    AND Status = {status:String}
ORDER BY Timestamp DESC, GroupKey
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
