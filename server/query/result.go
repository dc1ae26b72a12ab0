package query

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// SeriesRow is a row of a plan of a timeseries, in the order of its columns.
type SeriesRow struct {
	Bucket time.Time `ch:"Bucket"`
	// Group holds the value of each field of GroupBy; "" where a row has none.
	Group []string `ch:"GroupKey"`
	// Other is the row of all groups beyond the series limit.
	Other bool    `ch:"Other"`
	Value float64 `ch:"Value"` // NaN where there is none
}

// GroupRow is a row of a plan of a breakdown, in the order of its columns. There are at most as many as the limit, in the order of the Spec.
type GroupRow struct {
	Group []string `ch:"GroupKey"`
	Value float64  `ch:"Value"`
	// Total is the sum of the values of all groups, also of those beyond the limit.
	Total float64 `ch:"Total"`
	// Groups is how many groups there are.
	Groups uint64 `ch:"Groups"`
}

// Plan is the statement of one Spec: of SeriesRow rows for a timeseries, in no order, of GroupRow rows for a breakdown.
type Plan struct {
	sqlbuild.Statement
	// Quick is a statement of the same rows that reads them once instead of twice, with the same Args. It fails with ErrTooCostly, soon, or
	// gives more groups than SeriesLimit when there are more. Empty where there is none.
	Quick       string
	SeriesLimit int
	// Timeseries says which rows the statement has.
	Timeseries bool
	// Additive values can be summed over groups.
	Additive bool
	// Zero says that a bucket without rows has the value 0; else it has none.
	Zero bool
	// PerSecond values are still to be divided by the seconds of the window that are in the bucket.
	PerSecond bool
	// Reads is the table that the rows come from.
	Reads string
	// Warnings say what a reader of the result should know.
	Warnings []string
}

// Series is the values of one group of one query, or of a formula.
type Series struct {
	// Query is the name of the query or formula.
	Query string
	// Name is for people: legend and group.
	Name string
	// Group holds the value of each field of GroupBy, nil without one.
	Group []string
	// Other is the sum of the groups beyond the limit.
	Other bool
	// Values has one value for each bucket; NaN where there is none.
	Values []float64
	// Unseen says that there were no rows, neither in the window nor in that before: the values are the zeros of a count.
	Unseen bool
	// Previous and Change are for a comparison: values of the bucket one window earlier, and the change in percent. Nil without one.
	Previous, Change []float64
}

// Timeseries is the result of a Request over time.
type Timeseries struct {
	Window Window
	Bucket time.Duration
	// Buckets are their starts. The first is the one that the window's start falls into.
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
	// Values has one value for each column of the breakdown; NaN where there is none. Previous and Change as in Series.
	Values           []float64
	Previous, Change []float64
}

// Column is a query or formula of a breakdown.
type Column struct {
	Query string // its name
	Name  string // for people
}

// Breakdown is the result of a Request over the whole window.
type Breakdown struct {
	Window    Window
	Columns   []Column
	Groups    []Group
	Truncated bool
	Warnings  []string
}
