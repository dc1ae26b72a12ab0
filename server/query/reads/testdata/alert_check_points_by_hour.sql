SELECT
    toDateTime(intDiv(toUnixTimestamp(Time), {bucket:UInt32}) * {bucket:UInt32}, 'UTC') AS Bucket,
    if(has({groups:Array(String)}, GroupKey), GroupKey, {other:String}) AS PointGroup,
    sum(CheckCount) AS Checks,
    sum(BreachedCount) AS Breached,
    sum(HealthyCount) AS Healthy,
    sum(SkippedCount) AS Skipped,
    sum(ErrorCount) AS Errors,
    sum(TransitionCount) AS Transitions,
    min(LowestValue) AS Lowest,
    max(HighestValue) AS Highest,
    argMaxMerge(LastThreshold) AS Threshold
FROM
(
    SELECT
        Timestamp AS Time,
        GroupKey,
        count() AS CheckCount,
        countIf(Status = 'breached') AS BreachedCount,
        countIf(Status = 'healthy') AS HealthyCount,
        countIf(Status = 'skipped') AS SkippedCount,
        countIf(Status = 'error') AS ErrorCount,
        countIf(IncidentTransition IN ('opened', 'resolved')) AS TransitionCount,
        min(ObservedValue) AS LowestValue,
        max(ObservedValue) AS HighestValue,
        argMaxState(Threshold, Timestamp) AS LastThreshold
    FROM alert_checks
    WHERE OrgId = {org:String}
        AND RuleId = {rule:String}
        AND GroupKey = {group:String}
        AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({until:Int64}, 'UTC')
        AND (Timestamp < toDateTime({first_hour:Int64}, 'UTC') OR Timestamp >= toDateTime({end_hour:Int64}, 'UTC'))
    GROUP BY Time, GroupKey
    UNION ALL
    SELECT
        Hour AS Time,
        GroupKey,
        CheckCount,
        BreachedCount,
        HealthyCount,
        SkippedCount,
        ErrorCount,
        TransitionCount,
        LowestValue,
        HighestValue,
        LastThreshold
    FROM alert_check_hours
    WHERE OrgId = {org:String}
        AND RuleId = {rule:String}
        AND GroupKey = {group:String}
        AND Hour >= toDateTime({first_hour:Int64}, 'UTC')
        AND Hour < toDateTime({end_hour:Int64}, 'UTC')
)
GROUP BY Bucket, PointGroup
ORDER BY Bucket, PointGroup
