package reads

import (
	"fmt"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// platformKeys is the beginning of the keys that the platform itself sets at resources. Lists leave them out; queries can still name them.
const platformKeys = "svc_"

// AttributeKeyList selects the attribute keys that were sent in the hours of a window.
type AttributeKeyList struct {
	Window query.Window
	// Signal is traces, logs, metrics or product_events. Scope is resource, span, log, metric, event or link; nil means all
	// scopes.
	Signal string
	Scope  *string
	// Search is text that the key contains. Letter case does not matter.
	Search        *string
	Offset, Limit int
}

// AttributeKeyRow is a row of ListAttributeKeys.
type AttributeKeyRow struct {
	Scope string `ch:"Scope"`
	Key   string `ch:"Key"`
	// Types are the types of the key's values, most frequent first: string, int, double, bool, bytes, array, kvlist.
	Types []string `ch:"Types"`
	Uses  uint64   `ch:"Uses"`
}

// ListAttributeKeys gives AttributeKeyRow rows, most used key first. It reads an hourly rollup, so an hour that the window cuts
// counts whole.
func ListAttributeKeys(l AttributeKeyList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Hour >= toStartOfHour(toDateTime("+b.Bind("start", "Int64", l.Window.Start.Unix())+", 'UTC'))",
		"Hour <= toDateTime("+b.Bind("end", "Int64", l.Window.End.Unix())+", 'UTC')", "Signal = "+b.Bind("signal", "String", l.Signal))
	c.Add("NOT (Scope = 'resource' AND startsWith(Key, '%s'))", platformKeys)
	c.Optional(b, "Scope", "scope", l.Scope)
	if l.Search != nil {
		c.Add("%s", sqlbuild.Contains("Key", b.Bind("search", "String", *l.Search), *l.Search))
	}
	return b.Statement(fmt.Sprintf(`SELECT
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
LIMIT %s OFFSET %s`, c.Join(8), b.Bind("limit", "UInt32", int64(l.Limit)), b.Bind("offset", "UInt32", int64(l.Offset))))
}
