package query

import (
	"fmt"
	"strings"
	"time"
)

// Step is what an event must be to count as a step: exactly one of its three forms is set.
type Step struct {
	// EventName is that of an event, which has AttributeEquals among its attributes.
	EventName       string
	AttributeEquals []AttributeFilter
	// PagePath is that of a view, on Host if it is set.
	PagePath string
	Host     *string
	// Dimension is one of SessionDimensions: the step is the beginning of a session in which it is Value.
	Dimension, Value string
}

// pageNames are the names of all views of pages and screens.
const pageNames = "'$pageview', '$screen'"

// condition prints when an event is the step, as a condition on product_events; empty for the beginning of a session.
func (s *Step) condition(b *builder) string {
	var c conditions
	switch {
	case s.EventName != "":
		c.add("Name = %s", b.next("step_name", "String", s.EventName))
		c.attributes(b, eventAttributes(), s.AttributeEquals)
	case s.PagePath != "":
		c.add("Name IN (%s) AND PagePath = %s", pageNames, b.next("step_path", "String", s.PagePath))
		if s.Host != nil {
			c.add("Host = %s", b.next("step_host", "String", *s.Host))
		}
	default:
		return ""
	}
	return strings.Join(c, " AND ")
}

// names prints a condition on the names of all steps, by which the key of the table finds them.
func names(b *builder, steps []Step) string {
	var list []string
	pages := false
	for _, s := range steps {
		switch {
		case s.EventName != "":
			list = append(list, s.EventName)
		case s.PagePath != "":
			pages = true
		}
	}
	if pages {
		list = append(list, "$pageview", "$screen")
	}
	return "Name IN " + b.bind("step_names", "Array(String)", list)
}

// Funnel asks how far the actors of a window get through steps in their order.
type Funnel struct {
	Window Window
	Steps  []Step
	KeyBy  KeyBy
	// Within is the longest time from the first step to the last.
	Within   time.Duration
	Sessions ProductSessionFilters
	// Dimension, one of SessionDimensions, or Attribute, a key, groups by the first step; empty for no groups.
	Dimension, Attribute string
	// Groups is how many groups are told apart.
	Groups int
}

// Classes of FunnelRow.
const (
	FunnelAll   = 0
	FunnelGroup = 1
	FunnelOther = 2
)

// FunnelRow is a row of FunnelCounts: of all actors, of one group, or of the other groups.
type FunnelRow struct {
	Class uint8  `ch:"Class"`
	Group string `ch:"GroupName"`
	// Counts is how many got to each step.
	Counts []uint64 `ch:"Counts"`
	// Nanoseconds holds the quantiles 0.5 and 0.9 of the time between two steps, from the second step on; it ends with the last step that
	// anybody got to.
	Nanoseconds [][]float64 `ch:"Quantiles"`
}

// FunnelCounts gives FunnelRow rows: all first, then the groups by size, then the others.
func FunnelCounts(f Funnel) Statement {
	b := &builder{}
	attempts := f.attempts(b, newActors(b, f.Window, f.KeyBy, f.Sessions))
	classes := "[(toUInt8(0), '')]"
	if f.Dimension != "" || f.Attribute != "" {
		attempts = fmt.Sprintf(`(
    SELECT *, dense_rank() OVER (ORDER BY Size DESC, FirstGroup) AS Place
    FROM
    (
        SELECT *, count() OVER (PARTITION BY FirstGroup) AS Size
        FROM %s
    )
)`, indent(attempts, 8))
		classes = "[(toUInt8(0), ''), if(Place <= " + b.bind("groups", "UInt32", int64(f.Groups)) + ", (toUInt8(1), FirstGroup), (toUInt8(2), ''))]"
	}
	return Statement{SQL: fmt.Sprintf(`SELECT
    Pair.1 AS Class,
    Pair.2 AS GroupName,
    sumForEach(arrayMap(step -> toUInt64(Level >= step), range(1, %d))) AS Counts,
    quantilesExactInclusiveForEach(0.5, 0.9)(arrayPopFront(arrayDifference(arraySlice(Best, 2)))) AS Quantiles
FROM
(
    SELECT *, arrayJoin(%s) AS Pair
    FROM %s
)
GROUP BY Class, GroupName
ORDER BY Class, Counts[1] DESC, GroupName`, len(f.Steps)+1, classes, indent(attempts, 4)), Args: b.args}
}

// attempts prints a subquery of one row for each actor who did the first step: Key, Level, the number of the last step that was reached,
// Best, which holds the place of the first event and the times of the steps, LastAt and FirstGroup.
//
// It walks through the events of an actor once. For each step it keeps the chain of events that led there last, which is the one that began
// last: whatever a chain that began earlier can still reach, it can. Best is the first chain of its length.
func (f *Funnel) attempts(b *builder, a *actors) string {
	within := ""
	if len(f.Steps) > 1 {
		within = b.bind("within", "Int64", f.Within.Nanoseconds())
	}
	empty := "CAST([], 'Array(Int64)')"
	chains, best := make([]string, len(f.Steps)), []string{}
	initial := make([]string, len(f.Steps)+1)
	last := len(f.Steps) + 1 // the place of Best in the state
	for i := range f.Steps {
		initial[i] = empty
		chain := "[toInt64(place), event.1]"
		reached := fmt.Sprintf("bitTest(event.2, %d)", i)
		if i > 0 {
			chain = fmt.Sprintf("arrayPushBack(state.%d, event.1)", i)
			reached += fmt.Sprintf(" AND notEmpty(state.%[1]d) AND event.1 - state.%[1]d[2] <= %[2]s", i, within)
		}
		chains[i] = fmt.Sprintf("if(%s, %s, state.%d)", reached, chain, i+1)
		length := i + 1
		if i == 0 {
			length = 0
		}
		best = append(best, fmt.Sprintf("length(state.%d) = %d AND %s, %s", last, length, reached, chain))
	}
	initial[len(f.Steps)] = empty
	return fmt.Sprintf(`(
    SELECT
        Key,
        arraySort(event -> (event.1, bitAnd(event.2, 65536 - event.2), event.2, event.3), groupArray((At, Mask, GroupName))) AS Events,
        arrayFold(
            (state, event, place) -> (
                %s,
                multiIf(
                    %s,
                    state.%d)),
            Events, arrayEnumerate(Events), (%s)).%d AS Best,
        length(Best) - 1 AS Level,
        Best[-1] AS LastAt,
        Events[Best[1]].3 AS FirstGroup
    FROM
    %s
    GROUP BY Key
    HAVING notEmpty(Best)
)`, strings.Join(chains, ",\n                "), strings.Join(best, ",\n                    "), last, strings.Join(initial, ", "), last, indent(f.steps(b, a), 4))
}

// steps prints a subquery of the events that are steps: Key, At in nanoseconds, Mask with a bit for each step, and GroupName.
func (f *Funnel) steps(b *builder, a *actors) string {
	group := "''"
	if f.Attribute != "" {
		group = "Attributes[" + b.bind("group_attribute", "String", f.Attribute) + "]"
	}
	var bits []string
	session := ""
	for i := range f.Steps {
		if c := f.Steps[i].condition(b); c != "" {
			bits = append(bits, fmt.Sprintf("toUInt16(%s) * %d", c, 1<<i))
		} else {
			session = fmt.Sprintf(`
    UNION ALL
    SELECT StartTime AS Timestamp, SessionId, SessionVisitor AS VisitorId, SessionUser AS UserId, toUInt16(1) AS Mask, '' AS EventGroup
    FROM %s
    WHERE %s = %s AND StartTime >= %s`, indent(a.sessions(), 4), dimensionColumn(f.Steps[i].Dimension), b.bind("session_value", "String", f.Steps[i].Value), a.start)
		}
	}
	events := `(` + strings.TrimPrefix(session, "\n    UNION ALL") + "\n)"
	if len(bits) > 0 {
		events = fmt.Sprintf(`(
    SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(%s) AS Mask, toString(%s) AS EventGroup
    FROM product_events
    WHERE %s%s
)`, strings.Join(bits, " + "), group, a.inside().with(names(b, f.Steps), "Mask != 0").join(8), session)
	}
	column := "EventGroup"
	if f.Dimension != "" {
		column = dimensionColumn(f.Dimension)
	}
	return fmt.Sprintf(`(
    SELECT Key, toUnixTimestamp64Nano(Timestamp) AS At, Mask, toString(%s) AS GroupName
    FROM %s
    WHERE Key != ''
)`, column, indent(a.keyed(events), 4))
}

// dimensionColumn is the column of actors.sessions that holds a dimension.
func dimensionColumn(dimension string) string {
	if dimension == "host" {
		return "SessionHost"
	}
	return SessionDimensions()[dimension]
}

// LeaverRow is a row of FunnelLeavers: how many of those who got to a step and no further did the same next. Name is empty for those of whom
// no more is known.
type LeaverRow struct {
	Level uint64 `ch:"StepLevel"`
	Name  string `ch:"Next"`
	Count uint64 `ch:"Actors"`
}

// FunnelLeavers gives LeaverRow rows, by step, the most frequent 5 of each.
func FunnelLeavers(f Funnel) Statement {
	b := &builder{}
	a := newActors(b, f.Window, f.KeyBy, f.Sessions)
	return Statement{SQL: fmt.Sprintf(`SELECT toUInt64(Level) AS StepLevel, arrayFirst(event -> event.1 > LastAt, Walk).2 AS Next, count() AS Actors
FROM %s AS attempts
LEFT JOIN
(
    SELECT Key, arraySort(groupArray((toUnixTimestamp64Nano(Timestamp), Node))) AS Walk
    FROM %s
    GROUP BY Key
) AS walks USING (Key)
WHERE Level < %d
GROUP BY StepLevel, Next
ORDER BY StepLevel, Actors DESC, Next
LIMIT 5 BY StepLevel`, f.attempts(b, a), indent(a.keyed(nodes(a.inside(), "")), 4), len(f.Steps)), Args: b.args}
}
