SELECT Hour, max(CountedAt) AS Counted, argMax(SeenSpanCount, CountedAt) AS Spans
FROM call_hours
WHERE OrgId = {org:String}
    AND Hour >= toDateTime({start_hour:Int64}, 'UTC')
    AND Hour <= toDateTime({end_hour:Int64}, 'UTC')
    AND SourceService = ''
GROUP BY Hour
ORDER BY Hour
