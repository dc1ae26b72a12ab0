SELECT GroupKey
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
        AND Timestamp >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
        AND Timestamp <= fromUnixTimestamp64Nano({until:Int64}, 'UTC')
    GROUP BY Time, GroupKey
)
GROUP BY GroupKey
ORDER BY sum(BreachedCount) DESC, sum(TransitionCount) DESC, sum(CheckCount) DESC, GroupKey
LIMIT {limit:UInt32}
