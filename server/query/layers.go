package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Layer is a rollup with its column of time, which holds whole minutes or hours.
type Layer struct {
	table, at string
	grain     time.Duration
}

func ServiceMinutes() Layer      { return Layer{"service_minutes", "Minute", time.Minute} }
func ServiceSeries() Layer       { return Layer{"service_series", "Minute", time.Minute} }
func organizationMinutes() Layer { return Layer{"organization_minutes", "Minute", time.Minute} }
func logMinutes() Layer          { return Layer{"log_minutes", "Minute", time.Minute} }
func ServiceHours() Layer        { return Layer{"service_hours", "Hour", time.Hour} }
func operationHours() Layer      { return Layer{"operation_hours", "Hour", time.Hour} }

// Whole is the longest part of the window that consists of whole minutes, hours or other units. If the window contains no whole unit,
// the result does not end after its start.
func (w Window) Whole(grain time.Duration) Window {
	first := w.Start.Truncate(grain)
	if first.Before(w.Start) {
		first = first.Add(grain)
	}
	// The end is inclusive. A minute is whole if the window contains its last nanosecond.
	return Window{Start: first, End: w.End.Add(time.Nanosecond).Truncate(grain)}
}

// layered prints a table of everything in a window. Each layer adds the whole hours or minutes that a coarser layer does not have. Rows add
// the time that no layer has. The column Minute is the start of the hour or minute.
func (b planner) layered(w Window, r RollupRead, filter sqlbuild.Conditions) string {
	var parts []string
	var coarser Window
	var first, last string // the bounds of the layer before, in seconds
	for _, l := range r.Layers {
		whole := w.Whole(l.grain)
		if whole == coarser {
			continue // this layer adds nothing to the coarser one
		}
		c := sqlbuild.OfOrganization()
		outside := ""
		if first != "" {
			outside = fmt.Sprintf("(%[1]s < toDateTime(%[2]s, 'UTC') OR %[1]s >= toDateTime(%[3]s, 'UTC'))", l.at, first, last)
		}
		unit := strings.ToLower(l.at)
		first, last = b.Bind("first_"+unit, "Int64", whole.Start.Unix()), b.Bind("last_"+unit, "Int64", whole.End.Unix())
		c = c.With(l.at+" >= toDateTime("+first+", 'UTC')", l.at+" < toDateTime("+last+", 'UTC')")
		if outside != "" {
			c = c.With(outside)
		}
		at := l.at
		if at != "Minute" {
			at += " AS Minute"
		}
		parts = append(parts, fmt.Sprintf(`
        SELECT %s, %s, %s
        FROM %s
        WHERE %s`, at, r.Columns, r.Measures, l.table, c.With(filter...).Join(12)))
		coarser = whole
	}
	cut := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End),
		fmt.Sprintf("(Timestamp < toDateTime(%s, 'UTC') OR Timestamp >= toDateTime(%s, 'UTC'))", first, last)).With(filter...)
	group := ""
	if r.Grouped {
		group = "\n        GROUP BY Minute, " + r.Columns
	}
	parts = append(parts, fmt.Sprintf(`
        SELECT
            toStartOfMinute(toDateTime(Timestamp, 'UTC')) AS Minute, %s,
            %s
        FROM %s
        WHERE %s%s`, r.Columns, r.Edge, r.Rows, cut.Join(12), group))
	return "(" + strings.Join(parts, "\n        UNION ALL") + "\n    )"
}
