package reads

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Step is what an event must be to count as a step: exactly one of its three forms is set.
type Step struct {
	// EventName is the name of an event for which Attributes holds.
	EventName  string
	Attributes query.Filter
	// PagePath is that of a view, on Host if it is set.
	PagePath string
	Host     *string
	// Dimension is one of SessionDimensions: the step is the beginning of a session in which it is Value.
	Dimension, Value string
}

// pageNames are the names of all views of pages and screens.
const pageNames = "'$pageview', '$screen'"

// condition prints when an event is the step, as a condition on product_events; empty for the beginning of a session.
func (s *Step) condition(b *sqlbuild.Builder) string {
	var c sqlbuild.Conditions
	switch {
	case s.EventName != "":
		c.Add("Name = %s", b.BindNumbered("step_name", "String", s.EventName))
		c = c.With(query.FilterSQL(b, query.ProductEvents, s.Attributes)...)
	case s.PagePath != "":
		c.Add("Name IN (%s) AND PagePath = %s", pageNames, b.BindNumbered("step_path", "String", s.PagePath))
		if s.Host != nil {
			c.Add("Host = %s", b.BindNumbered("step_host", "String", *s.Host))
		}
	default:
		return ""
	}
	return strings.Join(c, " AND ")
}

// names prints a condition on the names of all steps, by which the key of the table finds them.
func names(b *sqlbuild.Builder, steps []Step) string {
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
	return "Name IN " + b.Bind("step_names", "Array(String)", list)
}

// Funnel asks how far the actors of a window get through steps in their order.
type Funnel struct {
	Window query.Window
	Steps  []Step
	KeyBy  query.KeyBy
	// Within is the longest time from the first step to the last.
	Within   time.Duration
	Sessions query.ProductSessionFilters
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
func FunnelCounts(f Funnel) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	attempts := f.attempts(b, query.NewActors(b, f.Window, f.KeyBy, f.Sessions))
	classes := "[(toUInt8(0), '')]"
	if f.grouped() {
		attempts = fmt.Sprintf(`(
    SELECT *, dense_rank() OVER (ORDER BY Size DESC, FirstGroup) AS Place
    FROM
    (
        SELECT *, count() OVER (PARTITION BY FirstGroup) AS Size
        FROM %s
    )
)`, sqlbuild.Indent(attempts, 8))
		classes = "[(toUInt8(0), ''), if(Place <= " + b.Bind("groups", "UInt32", int64(f.Groups)) + ", (toUInt8(1), FirstGroup), (toUInt8(2), ''))]"
	}
	return b.Statement(fmt.Sprintf(`SELECT
    Pair.1 AS Class,
    Pair.2 AS GroupName,
    sumForEach(arrayMap(step -> toUInt64(Level >= step), range(1, %d))) AS Counts,
    quantilesExactInclusiveForEach(0.5, 0.9)(arrayPopFront(arrayDifference(Best))) AS Quantiles
FROM
(
    SELECT *, arrayJoin(%s) AS Pair
    FROM %s
)
GROUP BY Class, GroupName
ORDER BY Class, Counts[1] DESC, GroupName`, len(f.Steps)+1, classes, sqlbuild.Indent(attempts, 4)))
}

// attempts prints a subquery of one row for each actor who did the first step: Key, Level, the number of the last step that was reached,
// Best, the times of the steps, LastAt and FirstGroup.
//
// Reached1 … hold for each time, in their order, when the chain began that it completed up to that step, or 0. Of the chains that lead to a step
// the last one began last: whatever another can still reach, it can. So a time completes a step when the last chain of the step before, among
// the times before it, did not begin too long ago; where several events of one time do for several steps in a row, the last chain of the step
// before those. Best is the first chain of its length, found backwards from its end; StillN is how many steps before step N are of its time too.
func (f *Funnel) attempts(b *sqlbuild.Builder, a *query.Actors) string {
	const some = "start -> start != 0"
	coded, group := "event", "''"
	if f.grouped() {
		coded, group = "event.1", "arrayFirst(event -> bitAnd(event.1, 1) = 1 AND toInt64(bitShiftRight(event.1, 32)) = Best[1], Events).2"
	}
	rows := fmt.Sprintf(`(
    SELECT Key, arraySort(groupArrayArray(Part)) AS Events
    FROM
    %s
    GROUP BY Key
)`, sqlbuild.Indent(f.steps(b, a), 4))
	// Each subquery adds columns that the next one uses: an alias would be written out wherever it is used, and those of ten steps would be too much
	// for the engine.
	add := func(columns ...string) {
		rows = fmt.Sprintf("(\n    SELECT *, %s\n    FROM %s\n)", strings.Join(columns, ",\n        "), sqlbuild.Indent(rows, 4))
	}
	add(fmt.Sprintf("arrayMap(event -> toInt64(bitShiftRight(%s, 32)), Events) AS EventTimes", coded),
		fmt.Sprintf("arrayMap(event -> toUInt16(bitAnd(%s, 65535)), Events) AS EventMasks", coded))
	add("arrayCompact(EventTimes) AS Times")
	add("if(length(Times) = length(EventTimes), arrayMap(mask -> toUInt64(mask), EventMasks), " + f.ties() + ") AS Masks")
	add("arrayMap((at, mask) -> if(bitTest(mask, 0), at, 0), Times, Masks) AS Reached1")
	levels := []string{"arrayExists(" + some + ", Reached1)"}
	places := []string{"Place1"}
	if len(f.Steps) > 1 {
		within := b.Bind("within", "Int64", f.Within.Nanoseconds())
		var names, last []string // the last chains of the steps before, the nearest step first
		for i := 2; i <= len(f.Steps); i++ {
			add(fmt.Sprintf("arrayPopBack(arrayPushFront(arrayFill(%s, Reached%[2]d), 0)) AS Last%[2]d", some, i-1))
			names, last = append([]string{fmt.Sprintf("last%d", i-1)}, names...), append([]string{fmt.Sprintf("Last%d", i-1)}, last...)
			var begun string
			if i == 2 {
				begun = fmt.Sprintf("if(%s = 0, %s, at)", tied(i), names[0])
			} else {
				var cases []string
				for n, name := range names {
					cases = append(cases, fmt.Sprintf("%s = %d, %s", tied(i), n, name))
				}
				begun = "multiIf(" + strings.Join(cases, ", ") + ", at)"
			}
			add(fmt.Sprintf(`arrayMap((at, mask, %[1]s) -> if(bitTest(mask, %[2]d) AND (%[3]s AS begun) != 0 AND at - begun <= %[4]s, begun, 0),
            Times, Masks, %[5]s) AS Reached%[6]d`, strings.Join(names, ", "), i-1, begun, within, strings.Join(last, ", "), i))
			levels = append(levels, fmt.Sprintf("arrayExists(%s, Reached%d)", some, i))
			places = append(places, fmt.Sprintf("Place%d", i))
		}
	}
	add("toUInt64(" + strings.Join(levels, " + ") + ") AS Level")
	for i := len(f.Steps); i > 0; i-- {
		place, still := fmt.Sprintf("arrayFirstIndex(%s, Reached%d)", some, i), ""
		if i < len(f.Steps) {
			place = fmt.Sprintf("multiIf(Level = %[1]d, %[2]s, Still%[4]d > 0, Place%[4]d, arrayLastIndex(%[3]s, arraySlice(Reached%[1]d, 1, toInt64(Place%[4]d) - 1)))", i, place, some, i+1)
			still = fmt.Sprintf("Level > %d AND Still%d > 0, Still%[2]d - 1, ", i, i+1)
		}
		add(fmt.Sprintf("%s AS Place%d", place, i))
		if i > 1 {
			mask := fmt.Sprintf("Masks[Place%d]", i)
			add(fmt.Sprintf("multiIf(%s Place%[2]d = 0, 0, toInt64(%s)) AS Still%[2]d", still, i, strings.ReplaceAll(tied(i), "mask", mask)))
		}
	}
	return fmt.Sprintf(`(
    SELECT Key, Level, arrayMap(place -> Times[place], arraySlice([%s], 1, Level)) AS Best, Best[-1] AS LastAt, %s AS FirstGroup
    FROM %s
    WHERE Level > 0
)`, strings.Join(places, ", "), group, sqlbuild.Indent(rows, 4))
}

// tied prints how many steps before step i the events of one time do for as well, out of its mask.
func tied(i int) string { return fmt.Sprintf("bitAnd(bitShiftRight(mask, %d), 15)", tieShift(i)) }

// tieShift is where the mask of a time holds that: after the bits of the steps, four for each step from the second on.
func tieShift(i int) int { return 16 + 4*(i-2) }

// ties prints the masks of times that have several events: a bit for each step that one of them does for, and at tieShift of a step how many
// steps before it other events of that time do for.
//
// All sets of steps that the events can do for together are made, event by event, and those looked up that are steps in a row. More events
// of one mask than there are steps add nothing.
func (f *Funnel) ties() string {
	n := len(f.Steps)
	var bits, runs, codes []string
	for i := range n {
		bits = append(bits, fmt.Sprintf("toUInt16(%d)", 1<<i))
		for first := range i + 1 {
			code := uint64(1) << i
			if first < i {
				code = 1 << tieShift(i+1)
			}
			runs, codes = append(runs, strconv.Itoa(1<<(i+1)-1<<first)), append(codes, fmt.Sprintf("toUInt64(%d)", code))
		}
	}
	return fmt.Sprintf(`arrayMap(masks -> arraySum(arrayMap(steps -> transform(steps, [%[1]s], [%[2]s], toUInt64(0)),
        arrayFold((sets, mask) -> arrayDistinct(arrayFlatten(arrayMap(set -> arrayMap(bit -> bitOr(set, bitAnd(mask, bit)), [%[3]s]), sets))),
            arrayFilter((mask, earlier) -> mask != earlier, masks, arraySlice(arrayConcat(arrayWithConstant(%[4]d, toUInt16(0)), masks), 1, length(masks))),
            [toUInt16(0)]))),
        arraySplit((mask, first) -> first, EventMasks, arrayMap((at, before) -> at != before, EventTimes, arrayPopBack(arrayPushFront(EventTimes, 0)))))`,
		strings.Join(runs, ", "), strings.Join(codes, ", "), strings.Join(bits, ", "), n)
}

func (f *Funnel) grouped() bool { return f.Dimension != "" || f.Attribute != "" }

// codedStep is an event as a number that sorts as events of one time do, that of the earlier step first: its nanoseconds, the first of its steps,
// and all of them, a bit for each.
const codedStep = "bitShiftLeft(toUInt128(toUnixTimestamp64Nano(Timestamp)), 32) + bitShiftLeft(toUInt128(bitAnd(Mask, 65536 - Mask)), 16) + Mask"

// steps prints a subquery of the events that are steps: Key, and Part, a list of codedStep, with the group of each event where there are groups.
func (f *Funnel) steps(b *sqlbuild.Builder, a *query.Actors) string {
	group := "''"
	if f.Attribute != "" {
		group = "Attributes[" + b.Bind("group_attribute", "String", f.Attribute) + "]"
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
    WHERE %s = %s AND StartTime >= %s`, sqlbuild.Indent(a.Sessions(), 4), dimensionColumn(f.Steps[i].Dimension), b.Bind("session_value", "String", f.Steps[i].Value), a.Start)
		}
	}
	events := `(` + strings.TrimPrefix(session, "\n    UNION ALL") + "\n)"
	if len(bits) > 0 {
		events = fmt.Sprintf(`(
    SELECT Timestamp, SessionId, VisitorId, UserId, toUInt16(%s) AS Mask, toString(%s) AS EventGroup
    FROM product_events
    WHERE %s%s
)`, strings.Join(bits, " + "), group, a.Inside().With(names(b, f.Steps), "Mask != 0").Join(8), session)
	}
	element, part := codedStep, "Part"
	switch {
	case f.Dimension != "":
		part = "arrayMap(event -> (event, toString(" + dimensionColumn(f.Dimension) + ")), Part) AS Part"
	case f.Attribute != "":
		element = "(" + codedStep + ", EventGroup)"
	}
	return fmt.Sprintf(`(
    SELECT Key, %s
    FROM %s
    WHERE Key != ''
)`, part, sqlbuild.Indent(a.Keyed(a.Parts(events, element, f.Dimension != "")), 4))
}

// dimensionColumn is the column of actors.sessions that holds a dimension.
func dimensionColumn(dimension string) string {
	if dimension == "host" {
		return "SessionHost"
	}
	return query.SessionDimensions()[dimension]
}

// LeaverRow is a row of FunnelLeavers: how many of those who got to a step and no further did the same next. Name is empty for those of whom
// no more is known.
type LeaverRow struct {
	Level uint64 `ch:"StepLevel"`
	Name  string `ch:"Next"`
	Count uint64 `ch:"Actors"`
}

// FunnelLeavers gives LeaverRow rows, by step, the most frequent 5 of each.
func FunnelLeavers(f Funnel) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	a := query.NewActors(b, f.Window, f.KeyBy, f.Sessions)
	return b.Statement(fmt.Sprintf(`SELECT toUInt64(Level) AS StepLevel, arrayFirst(event -> event.1 > LastAt, Walk).2 AS Next, count() AS Actors
FROM %s AS attempts
LEFT JOIN
(
    SELECT Key, arraySort(groupArrayArray(Part)) AS Walk
    FROM %s
    GROUP BY Key
) AS walks USING (Key)
WHERE Level < %d
GROUP BY StepLevel, Next
ORDER BY StepLevel, Actors DESC, Next
LIMIT 5 BY StepLevel`, f.attempts(b, a), sqlbuild.Indent(a.Keyed(a.Parts(nodes(a.Inside(), ""), "(toUnixTimestamp64Nano(Timestamp), Node)", false)), 4), len(f.Steps)))
}
