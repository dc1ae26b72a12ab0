package query

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// planner prints parts of statements and binds their values.
type planner struct{ *sqlbuild.Builder }

func newPlanner() planner { return planner{&sqlbuild.Builder{}} }

// FilterSQL prints a valid filter as conditions that must all hold.
func FilterSQL(b *sqlbuild.Builder, s Source, f Filter) sqlbuild.Conditions {
	return planner{b}.filter(s, f)
}

// BucketSQL is the start of the bucket that contains a time. The last bucket of the window includes its end.
func BucketSQL(b *sqlbuild.Builder, column string, w Window, bucket time.Duration) string {
	return planner{b}.bucketSQL(column, w, bucket)
}

// TextSQL prints the value of a field as text, and the condition that a row has the field. The text is empty in rows without the
// field. The condition is empty for a field with several values in a row.
func TextSQL(b *sqlbuild.Builder, s Source, f Field) (text, present string) {
	of := planner{b}.field(s, f)
	if of.each != "" {
		return of.text(), ""
	}
	return of.text(), of.present
}

// Table is the table of the rows of traces, logs or product events.
func Table(s Source) string { return rowsOf(s).table }

// Layered prints a table of all rows of a window: whole hours and minutes from rollups, the rest from rows.
func Layered(b *sqlbuild.Builder, w Window, r RollupRead, filter sqlbuild.Conditions) string {
	return planner{b}.layered(w, r, filter)
}
