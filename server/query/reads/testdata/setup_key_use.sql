SELECT Scope, if(has({keys:Array(String)}, Key), Key, '*') AS Name, sum(UsageCount) AS Uses
FROM attribute_keys
WHERE OrgId = {org:String}
    AND Hour >= toStartOfHour(toDateTime({start:Int64}, 'UTC'))
    AND Hour <= toDateTime({end:Int64}, 'UTC')
    AND Signal = 'traces'
    AND Scope IN ('span', 'resource')
GROUP BY Scope, Name
ORDER BY Scope, Name
