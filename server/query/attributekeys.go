package query

import "fmt"

// shownKeys leaves out the keys that the platform sets itself. Queries may name them.
const shownKeys = "NOT startsWith(%s, 'svc_')"

// AttributeKeyList asks which attribute keys were sent in the hours of a window.
type AttributeKeyList struct {
	Window Window
	// Signal is traces, logs, metrics or product_events; Scope is resource, span, log, metric, event or link, or nil for all.
	Signal string
	Scope  *string
	// Search is text that the key contains, letter case ignored.
	Search        *string
	Offset, Limit int
}

// AttributeKeyRow is a row of ListAttributeKeys.
type AttributeKeyRow struct {
	Scope string `ch:"Scope"`
	Key   string `ch:"Key"`
	// Types are those of its values: string, int, double, bool, bytes, array, kvlist; the most frequent first.
	Types []string `ch:"Types"`
	Uses  uint64   `ch:"Uses"`
}

// ListAttributeKeys gives AttributeKeyRow rows, the most used first. It reads a rollup by hours; hours that the window cuts count whole.
func ListAttributeKeys(l AttributeKeyList) Statement {
	b := &builder{}
	c := where().with("Hour >= toStartOfHour(toDateTime("+b.bind("start", "Int64", l.Window.Start.Unix())+", 'UTC'))",
		"Hour <= toDateTime("+b.bind("end", "Int64", l.Window.End.Unix())+", 'UTC')", "Signal = "+b.bind("signal", "String", l.Signal))
	c.add(shownKeys, "Key")
	c.optional(b, "Scope", "scope", l.Scope)
	if l.Search != nil {
		c.add("positionCaseInsensitiveUTF8(Key, %s) > 0", b.bind("search", "String", *l.Search))
	}
	return b.statement(fmt.Sprintf(`SELECT
    Scope,
    Key,
    arrayMap(t -> t.2, arrayReverseSort(groupArray((OfType, ValueType)))) AS Types,
    sum(OfType) AS Uses
FROM
(
    SELECT Scope, Key, toString(ValueType) AS ValueType, sum(UsageCount) AS OfType
    FROM attribute_keys
    WHERE %s
    GROUP BY Scope, Key, ValueType
)
GROUP BY Scope, Key
ORDER BY Uses DESC, Scope, Key
LIMIT %s OFFSET %s`, c.join(8), b.bind("limit", "UInt32", int64(l.Limit)), b.bind("offset", "UInt32", int64(l.Offset))))
}
