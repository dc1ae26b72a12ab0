SELECT
    FingerprintHash,
    argMax(ErrorLabel, Timestamp) AS Label,
    argMax(ServiceName, Timestamp) AS Service,
    uniqExact(TraceId) AS Traces
FROM error_events
WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')
    AND Source = ''
    AND TraceId IN {trace_ids:Array(String)}
    AND FingerprintHash != {fingerprint:UInt64}
GROUP BY FingerprintHash
ORDER BY Traces DESC, FingerprintHash
LIMIT {limit:UInt32}
