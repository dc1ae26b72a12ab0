SELECT count() AS Spans FROM spans WHERE OrgId = {org:String}
    AND Timestamp >= fromUnixTimestamp64Nano({reach_start:Int64}, 'UTC')
    AND Timestamp < fromUnixTimestamp64Nano({reach_end:Int64}, 'UTC')
