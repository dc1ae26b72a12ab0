package reads

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Step says which events count as a step of a funnel. Exactly one of its three forms is set.
type Step struct {
	// EventName is the name of the event. Attributes must hold for the event too.
	EventName  string
	Attributes query.Filter
	// PagePath is the path of a page view. If Host is set, the view must be on that host.
	PagePath string
	Host     *string
	// Dimension is one of SessionDimensions. The step is then the beginning of a session in which the dimension has the value
	// Value.
	Dimension, Value string
}

// pageNames are the names of the events for views of pages and screens.
const pageNames = "'$pageview', '$screen'"

// condition prints the condition on product_events that makes an event this step. It is empty for the beginning of a session.
func (s *Step) condition(b *sqlbuild.Builder) string {
	var c sqlbuild.Conditions
	switch {
	case s.EventName != "":
		c.Add("Name = %s", b.BindNumbered("step_name", "String", s.EventName))
		c = c.With(query.FilterSQL(b, query.ProductEvents, s.Attributes)...)
	case s.PagePath != "":
		c.Add("Name IN (%s) AND PagePath = %s", pageNames, b.BindNumbered("step_path", "String", s.PagePath))
		if s.Host != nil {
			c = c.With(query.FilterSQL(b, query.ProductEvents, query.Where("host", query.OpEqual, *s.Host))...)
		}
	default:
		return ""
	}
	return strings.Join(c, " AND ")
}

// names prints a condition on the event names of all steps. With it the key of the table finds the events.
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

// Funnel asks how far the actors of a window get through a series of steps.
type Funnel struct {
	Window query.Window
	Steps  []Step
	KeyBy  query.KeyBy
	// Within is the longest time from the first step to the last step.
	Within   time.Duration
	Sessions query.ProductSessionFilters
	// The actors are grouped by a field of their first step: Dimension is one of SessionDimensions, Attribute a key. Both are
	// empty for no groups.
	Dimension, Attribute string
	// Groups is the number of groups that get rows of their own.
	Groups int
}

// These are the classes of a FunnelRow.
const (
	FunnelAll   = 0
	FunnelGroup = 1
	FunnelOther = 2
)

// FunnelRow is a row of FunnelCounts. It describes all actors, one group, or all other groups together.
type FunnelRow struct {
	Class uint8  `ch:"Class"`
	Group string `ch:"GroupName"`
	// Counts holds the number of actors who reached each step.
	Counts []uint64 `ch:"Counts"`
	// Nanoseconds holds the quantiles 0.5 and 0.9 of the time between a step and the step before it. It starts with the second
	// step and ends with the last step that anybody reached.
	Nanoseconds [][]float64 `ch:"Quantiles"`
}

// Unreached lists the events of the steps that nobody reached. all is the row of all actors.
func (f *Funnel) Unreached(all FunnelRow) (events []string) {
	for i, s := range f.Steps {
		if s.EventName != "" && (i >= len(all.Counts) || all.Counts[i] == 0) {
			events = append(events, s.EventName)
		}
	}
	return events
}

// FunnelCounts gives FunnelRow rows: first all actors, then the groups by size, then the other groups.
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
		classes = "[(toUInt8(0), ''), if(Place <= " + b.Bind(
			"groups",
			"UInt32",
			int64(f.Groups),
		) + ", (toUInt8(1), FirstGroup), (toUInt8(2), ''))]"
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

// attempts prints a subquery with one row for each actor who did the first step. Its columns are Key, Level (the number of the
// last step that the actor reached), Best (the times of the steps), LastAt and FirstGroup.
//
// A chain is a series of events that does the steps in order. Reached1, Reached2 and so on have an entry for each of the actor's
// times, in order. The entry is the start of the chain that reaches that step at that time, or 0. If several chains reach a step,
// only the one that began last is kept: it can reach every step that another chain can still reach. A time therefore completes a
// step if the last chain of the step before, among the earlier times, began at most Within ago.
//
// Several events at one time may match several steps in a row. Then the last chain of the step before those steps counts. Best is
// the first chain of its length, found backwards from its end. StillN is the number of steps before step N that happened at the
// same time as step N.
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
	// Each subquery adds columns for the next one. The engine expands an alias wherever it is used, and the expanded aliases of
	// ten steps would be too large for it.
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
		var names, last []string // the last chains of the earlier steps, the nearest step first
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
			place = fmt.Sprintf(
				"multiIf(Level = %[1]d, %[2]s, Still%[4]d > 0, Place%[4]d, arrayLastIndex(%[3]s, arraySlice(Reached%[1]d, 1, toInt64(Place%[4]d) - 1)))",
				i,
				place,
				some,
				i+1,
			)
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

// tied prints how many steps before step i the events of the same time match as well. It reads the number from the mask.
func tied(i int) string { return fmt.Sprintf("bitAnd(bitShiftRight(mask, %d), 15)", tieShift(i)) }

// tieShift is the bit of a time's mask at which the number of tied steps of step i begins. It lies after the bits of the steps.
// Each step from the second on has four bits.
func tieShift(i int) int { return 16 + 4*(i-2) }

// ties prints the masks of times that have several events. A mask has a bit for each step that one of the events matches. At the
// tieShift of a step it has the number of steps before it that other events of that time match.
//
// The expression builds all sets of steps that the events can match together, one event at a time. It then looks up the sets that
// are steps in a row. For one mask, more events than there are steps add nothing.
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

// codedStep encodes an event as a number: its nanoseconds, its first step, and a bit for each of its steps. The numbers sort by
// time, and events of the same time by their first step.
const codedStep = "bitShiftLeft(toUInt128(toUnixTimestamp64Nano(Timestamp)), 32) + bitShiftLeft(toUInt128(bitAnd(Mask, 65536 - Mask)), 16) + Mask"

// steps prints a subquery of the events that are steps. Its columns are Key and Part, a list of codedStep. With groups, each
// entry of Part also has the group of its event.
func (f *Funnel) steps(b *sqlbuild.Builder, a *query.Actors) string {
	group := "''"
	if f.Attribute != "" {
		group, _ = query.TextSQL(b, query.ProductEvents, query.Field{Scope: query.OwnAttribute, Key: f.Attribute})
	}
	var bits []string
	session := ""
	for i := range f.Steps {
		if c := f.Steps[i].condition(b); c != "" {
			bits = append(bits, fmt.Sprintf("toUInt16(%s) * %d", c, 1<<i))
		} else {
			value := f.Steps[i].Value
			if f.Steps[i].Dimension == "host" {
				value = strings.ToLower(value) // as hosts are stored
			}
			session = fmt.Sprintf(`
    UNION ALL
    SELECT StartTime AS Timestamp, SessionId, SessionVisitor AS VisitorId, SessionUser AS UserId, toUInt16(1) AS Mask, '' AS EventGroup
    FROM %s
    WHERE %s = %s AND StartTime >= %s`, sqlbuild.Indent(a.Sessions(), 4), dimensionColumn(f.Steps[i].Dimension), b.Bind("session_value", "String", value), a.Start)
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

// dimensionColumn is the column of actors.sessions that holds the dimension.
func dimensionColumn(dimension string) string {
	if dimension == "host" {
		return "SessionHost"
	}
	return query.SessionDimensions()[dimension]
}

// LeaverRow is a row of FunnelLeavers: the number of actors who stopped at a step and then did the same thing next. Name is empty
// for actors with no later event.
type LeaverRow struct {
	Level uint64 `ch:"StepLevel"`
	Name  string `ch:"Next"`
	Count uint64 `ch:"Actors"`
}

// FunnelLeavers gives LeaverRow rows by step, the 5 most frequent of each step.
func FunnelLeavers(f Funnel) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	a := query.NewActors(b, f.Window, f.KeyBy, f.Sessions)
	return b.Statement(
		fmt.Sprintf(`SELECT toUInt64(Level) AS StepLevel, arrayFirst(event -> event.1 > LastAt, Walk).2 AS Next, count() AS Actors
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
LIMIT %d BY StepLevel`, f.attempts(b, a), sqlbuild.Indent(a.Keyed(a.Parts(nodes(a.Inside(), ""), "(toUnixTimestamp64Nano(Timestamp), Node)", false)), 4), len(f.Steps), limits.FunnelLeavers),
	)
}
