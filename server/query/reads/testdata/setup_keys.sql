SELECT Signal, Scope, Key, sum(UsageCount) AS Uses
FROM attribute_keys
WHERE OrgId = {org:String}
    AND Hour >= toStartOfHour(toDateTime({start:Int64}, 'UTC'))
    AND Hour <= toDateTime({end:Int64}, 'UTC')
GROUP BY Signal, Scope, Key
ORDER BY Uses DESC, Signal, Scope, Key
LIMIT 5000
