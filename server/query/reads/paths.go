package reads

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// nodeName is the name of an event on a path. A view is named by its path, any other event by its own name.
const nodeName = "if(Kind != 'custom' AND PagePath != '', PagePath, toString(Name))"

// nodes prints a subquery of events with the column Node and the given additional columns.
func nodes(c sqlbuild.Conditions, columns string) string {
	return fmt.Sprintf(`(
    SELECT Timestamp, SessionId, VisitorId, UserId, %s AS Node%s
    FROM product_events
    WHERE %s
)`, nodeName, columns, c.Join(8))
}

// These are the kinds of events that can be nodes of a path.
const (
	IncludeAll    = "all"
	IncludeEvents = "events"
	IncludePages  = "pages"
)

// OtherNode is the name of all nodes beyond the branches. It cannot be an event's name, because names that begin with $ are
// reserved.
const OtherNode = "$other"

// Paths asks what actors did after an anchor event, or before it.
type Paths struct {
	Window query.Window
	Anchor Step
	// Before reverses the paths: they end at the last anchor instead of beginning at the first one.
	Before          bool
	Depth, Branches int
	KeyBy           query.KeyBy
	Within          time.Duration
	// Include is one of the three constants above. Exclude names nodes to leave out.
	Include  string
	Exclude  []string
	Sessions query.ProductSessionFilters
}

// PathNodeRow is a row of PathNodes: one of the most frequent nodes of a hop.
type PathNodeRow struct {
	Hop   uint8  `ch:"Hop"`
	Node  string `ch:"Node"`
	Count uint64 `ch:"Actors"`
}

// PathNodes gives PathNodeRow rows: the nodes of each hop that are not folded.
func PathNodes(p Paths) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	return b.Statement(fmt.Sprintf(`SELECT toUInt8(Pair.1) AS Hop, Pair.2 AS Node, count() AS Actors
FROM
(
    SELECT arrayJoin(arrayMap((node, place) -> (place - 1, node), Nodes, arrayEnumerate(Nodes))) AS Pair
    FROM %s
)
WHERE Hop > 0
GROUP BY Hop, Node
ORDER BY Hop, Actors DESC, Node
LIMIT %s BY Hop`, sqlbuild.Indent(p.walks(b), 4), b.Bind("branches", "UInt32", int64(p.Branches))))
}

// PathLinkRow is a row of PathLinks. To is empty where a journey ended.
type PathLinkRow struct {
	Hop   uint8  `ch:"Hop"`
	From  string `ch:"FromNode"`
	To    string `ch:"ToNode"`
	Count uint64 `ch:"Actors"`
}

// PathLinks gives PathLinkRow rows: how many actors went from one node to the next. Nodes outside the result of PathNodes are
// folded into OtherNode.
func PathLinks(p Paths, kept []PathNodeRow) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	keys := []string{}
	for _, n := range kept {
		keys = append(keys, strconv.Itoa(int(n.Hop))+" "+n.Node)
	}
	walks := p.walks(b)
	return b.Statement(fmt.Sprintf(`SELECT toUInt8(Link.1) AS Hop, Link.2 AS FromNode, Link.3 AS ToNode, count() AS Actors
FROM
(
    SELECT
        arrayMap((node, place) -> if(place = 1 OR has(%[1]s, concat(toString(place - 1), ' ', node)), node, '%[2]s'), Nodes, arrayEnumerate(Nodes)) AS Folded,
        arrayJoin(arrayMap(hop -> (hop, Folded[hop], if(hop < length(Folded), Folded[hop + 1], '')), range(1, least(%[3]d, length(Folded)) + 1))) AS Link
    FROM %[4]s
)
GROUP BY Hop, FromNode, ToNode
ORDER BY Hop, Actors DESC, FromNode, ToNode`, b.Bind("kept", "Array(String)", keys), OtherNode, p.Depth, sqlbuild.Indent(walks, 4)))
}

// walks prints a subquery with one row for each actor who has an anchor. Nodes holds the anchor and up to Depth nodes after it,
// or before it.
func (p *Paths) walks(b *sqlbuild.Builder) string {
	a := query.NewActors(b, p.Window, p.KeyBy, p.Sessions)
	anchor := p.Anchor.condition(b)
	included := "1"
	switch p.Include {
	case IncludeEvents:
		included = "Kind = 'custom'"
	case IncludePages:
		included = "Kind != 'custom'"
	}
	if len(p.Exclude) > 0 {
		included += " AND Node NOT IN " + b.Bind("exclude", "Array(String)", p.Exclude)
	}
	// An anchor counts as an anchor even if Include and Exclude do not allow it as a node.
	events := nodes(a.Inside().With("(IsAnchor OR IsNode)"), fmt.Sprintf(", toBool(%s) AS IsAnchor, toBool(%s) AS IsNode", anchor, included))
	at := "toUnixTimestamp64Nano(Timestamp)"
	if p.Before { // the same read with time reversed
		at = "-" + at
	}
	// Each column that the next step uses more than once has its own subquery. An alias would be computed at every use.
	return fmt.Sprintf(`(
    SELECT arraySlice(arrayCompact(arrayConcat([Walk[AnchorPlace].2], arrayMap(event -> event.2,
        arrayFilter(event -> event.4 AND event.1 - Walk[AnchorPlace].1 <= %s, arraySlice(Walk, AnchorPlace + 1))))), 1, %d) AS Nodes
    FROM
    (
        SELECT Walk, arrayFirstIndex(event -> event.3, Walk) AS AnchorPlace
        FROM
        (
            SELECT arraySort(event -> (event.1, NOT event.3, event.2, event.4), groupArrayArray(Part)) AS Walk
            FROM %s
            WHERE Key != ''
            GROUP BY Key
        )
        WHERE AnchorPlace > 0
    )
)`, b.Bind("within", "Int64", p.Within.Nanoseconds()), p.Depth+1, sqlbuild.Indent(a.Keyed(a.Parts(events, "("+at+", Node, IsAnchor, IsNode)", false)), 12))
}
