package query

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SeriesRow is a row of a timeseries, in the order of the plan's columns.
type SeriesRow struct {
	Bucket time.Time `ch:"Bucket"`
	// Group holds the value of each field of GroupBy. It is "" for a field that the row does not have.
	Group []string `ch:"GroupKey"`
	// Other marks the row of all groups beyond the series limit.
	Other bool    `ch:"Other"`
	Value float64 `ch:"Value"` // NaN if there is no value
}

// GroupRow is a row of a breakdown, in the order of the plan's columns. There are at most as many rows as the limit, in the order
// of the Spec.
type GroupRow struct {
	Group []string `ch:"GroupKey"`
	Value float64  `ch:"Value"`
	// Total is the sum of the values of all groups, including groups beyond the limit.
	Total float64 `ch:"Total"`
	// Groups is the number of groups.
	Groups uint64 `ch:"Groups"`
}

// Plan is the statement of one Spec. A timeseries gives SeriesRow rows in no order, a breakdown gives GroupRow rows.
type Plan struct {
	sqlbuild.Statement
	// Quick is a statement for the same rows, with the same Args, that reads them once instead of twice. With more groups than
	// SeriesLimit it soon fails with ErrTooCostly or gives more groups than the limit. It is empty if the plan has no such
	// statement.
	Quick       string
	SeriesLimit int
	// Timeseries says which kind of rows the statement gives.
	Timeseries bool
	// Additive says that values can be summed over groups.
	Additive bool
	// Zero says that a bucket without rows has the value 0. Otherwise it has no value.
	Zero bool
	// PerSecond says that values must still be divided by the seconds of the bucket that are in the window.
	PerSecond bool
	// Reads is the table from which the rows come.
	Reads string
	// Warnings tell readers of the result what they should know.
	Warnings []string
}

// Series is the values of one group of one query, or of a formula.
type Series struct {
	// Query is the name of the query or formula.
	Query string
	// Name is for people. It has the legend and the group.
	Name string
	// Group holds the value of each field of GroupBy. It is nil without groups.
	Group []string
	// Other marks the sum of the groups beyond the limit.
	Other bool
	// Unit is the unit of the values, as Spec.Unit gives it. It is "" for a formula.
	Unit string
	// Values has one value for each bucket, NaN if there is no value.
	Values []float64
	// Unseen says that there were no rows in the window and in the window before it. The values are then the zeros of a count.
	Unseen bool
	// Previous and Change are for a comparison: the value of the bucket one window earlier, and the change in percent. They are
	// nil without a comparison.
	Previous, Change []float64
}

// Timeseries is the result of a Request over time.
type Timeseries struct {
	Window Window
	Bucket time.Duration
	// Buckets are the starts of the buckets. The first bucket contains the window's start.
	Buckets []time.Time
	Series  []Series
	// Truncated says that there were more groups than the limit.
	Truncated bool
	Warnings  []string
}

// Group is a row of a breakdown.
type Group struct {
	// Name is for people: the values of the group.
	Name  string
	Group []string
	Other bool
	// Values has one value for each column of the breakdown, NaN if there is no value. Previous and Change are as in Series.
	Values           []float64
	Previous, Change []float64
}

// Column is a query or formula of a breakdown.
type Column struct {
	Query string // its name
	Name  string // for people
	Unit  string // of the values, as in Series
}

// Breakdown is the result of a Request over the whole window.
type Breakdown struct {
	Window    Window
	Columns   []Column
	Groups    []Group
	Truncated bool
	Warnings  []string
}
