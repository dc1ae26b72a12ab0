// Package query is the query language: sources, fields, filters, aggregations and formulas, how they are read from requests, and the planner
// that makes SQL of them. It does no I/O: package engine runs what it plans. Package reads has the statements that are not queries.
package query

import (
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Source is what a query reads.
type Source string

// Sources.
const (
	Traces        Source = "traces"
	Logs          Source = "logs"
	Metrics       Source = "metrics"
	ProductEvents Source = "product_events"
)

// OwnScope is how lists of attribute keys call the scope of a row's own attributes.
func (s Source) OwnScope() string {
	switch s {
	case Traces:
		return "span"
	case Logs:
		return "log"
	case Metrics:
		return "metric"
	default:
		return "event"
	}
}

// Spec is one query of the query language: a value for each group of rows of one source, over time (Timeseries) or over the whole window
// (Breakdown). A Spec that Validate accepts can be planned.
type Spec struct {
	Source      Source
	Aggregation Aggregation
	// Metric is what Metrics reads; the other sources have none.
	Metric Metric
	// Filter is the zero Filter when every row counts.
	Filter Filter
	// GroupBy makes one series or group for each combination of values; empty for one of everything.
	GroupBy []Field
	// Without makes one group of all rows but those of these groups, in the place of GroupBy's.
	Without [][]string
	// Having drops groups by their value: of the bucket in a timeseries, of the window in a breakdown. Limits count what is left.
	Having []Having
	// Order is of the groups of a breakdown, and of the series of a timeseries.
	Order Order
	// Limit is the most groups of a breakdown, SeriesLimit the most series of a timeseries; 0 for the default. What is beyond them is summed
	// up as one group more, and the result is Truncated.
	Limit, SeriesLimit int
	// Rollups is what the planner may read instead of rows. The engine sets it.
	Rollups Rollups
}

// Metric names what Metrics reads.
type Metric struct {
	Name string
	// Type is sum, gauge, histogram, exponential_histogram or summary.
	Type string
}

// Having is a condition on the value of a group: =, !=, >, <, >= or <=.
type Having struct {
	Op    Op
	Value float64
}

// Order is of groups and series: by value, the largest first, unless something else is said.
type Order struct {
	ByGroup   bool // by the label instead of the value
	Ascending bool
}

// Limits of a query.
const (
	MaxTimeseriesWindow = 31 * Day
	MaxBreakdownWindow  = 30 * Day
	// MaxUnfilteredBreakdown is the longest window of a breakdown whose filter does not narrow what is read.
	MaxUnfilteredBreakdown = Day
	MaxBuckets             = 1500
	MaxGroupBy             = limits.GroupBy
	MaxLimit               = 100
	MaxSeriesLimit         = 100
	DefaultLimit           = 10
	DefaultSeriesLimit     = 50
	MaxQueries             = limits.Queries
)

// Query is a Spec with the name by which formulas and series refer to it.
type Query struct {
	Spec
	Name string // a letter and letters, digits or underscores; unique in the request, letter case ignored
	// Legend is how its series are called in front of their group; the name when empty.
	Legend string
	// Hidden queries only feed formulas.
	Hidden bool
}

// Formula is a series, or a column of a breakdown, that is computed from those of queries and earlier formulas.
type Formula struct {
	Name       string
	Expression string
	Legend     string
	Hidden     bool
}

// Comparison says what the result is compared with.
type Comparison struct {
	// Previous adds the same queries over the window of the same length that ends where this one starts.
	Previous bool
	// Percent adds the change in percent.
	Percent bool
}

// Request is queries over one window, with formulas over their results.
type Request struct {
	Window Window
	// Bucket is the length of the buckets of a timeseries; 0 picks one for the window.
	Bucket     time.Duration
	Queries    []Query
	Formulas   []Formula
	Comparison Comparison
}
