SELECT
    ChunkSeq, Timestamp, DurationMs, EventCount, ByteSize, IsCheckpoint
FROM session_replay_events
WHERE OrgId = {org:String}
    AND SessionId = {session_id:String}
    AND ChunkSeq >= {from_seq:UInt32}
    AND ChunkSeq <= {to_seq:UInt32}
    AND Timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND Timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
ORDER BY ChunkSeq, Timestamp DESC
LIMIT 1 BY ChunkSeq
LIMIT {limit:UInt32}
