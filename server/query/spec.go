// Package query is the query language: sources, fields, filters, aggregations and formulas. It reads them from requests, and its
// planner translates them to SQL. It does no I/O: package engine runs the plans. Package reads has the statements that are not
// queries.
package query

import (
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Source is the kind of data that a query reads.
type Source string

// These are the sources.
const (
	Traces        Source = "traces"
	Logs          Source = "logs"
	Metrics       Source = "metrics"
	ProductEvents Source = "product_events"
	// Sessions are not in Sources: only differences read them. Their own attributes are the traits of the user.
	Sessions Source = "sessions"
)

// Sources lists the sources.
func Sources() []Source { return []Source{Traces, Logs, Metrics, ProductEvents} }

// OwnScope is the scope of a row's own attributes in lists of attribute keys.
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
	// Metric is the metric to read. Only the source Metrics uses it.
	Metric Metric
	// Filter selects rows. The zero Filter selects every row.
	Filter Filter
	// GroupBy makes one series or group for each combination of values. Without it there is one for all rows.
	GroupBy []Field
	// Without excludes these groups and makes one group of all other rows, instead of the groups of GroupBy.
	Without [][]string
	// Having drops groups by their value: the value of the bucket in a timeseries, of the window in a breakdown. Limits count the
	// groups that remain.
	Having []Having
	// Order is the order of the groups of a breakdown and of the series of a timeseries.
	Order Order
	// Limit is the highest number of groups of a breakdown, SeriesLimit the highest number of series of a timeseries. 0 means the
	// default. The groups beyond the limit are summed up as one more group, and the result is Truncated.
	Limit, SeriesLimit int
	// Groups is the largest Limit that is allowed; 0 means limits.BreakdownRows. Alert rules read more groups than a request may ask for.
	Groups int
	// Rollups says which rollups the planner may read instead of rows. The engine sets it.
	Rollups Rollups
}

func (q *Spec) mostGroups() int { return orDefault(q.Groups, limits.BreakdownRows) }

// Widest is the query with all groups that it may have.
func (q *Spec) Widest() *Spec {
	wide := *q
	wide.Limit = q.mostGroups()
	return &wide
}

// Metric names the metric that Metrics reads.
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

// Order is the order of groups and series. The default is by value, largest first.
type Order struct {
	ByGroup   bool // by the label instead of the value
	Ascending bool
}

// Query is a Spec with the name by which formulas and series refer to it.
type Query struct {
	Spec
	Name string // a letter and letters, digits or underscores; unique in the request, letter case ignored
	// Legend is the name of the query's series, before their group. The default is the query's name.
	Legend string
	// Hidden queries only feed formulas.
	Hidden bool
}

// Formula is a series, or a column of a breakdown, that is computed from queries and earlier formulas.
type Formula struct {
	Name       string
	Expression string
	Legend     string
	Hidden     bool
}

// Comparison selects figures that compare the result with the period before.
type Comparison struct {
	// Previous adds the same queries over the window of equal length that ends where this one starts.
	Previous bool
	// Percent adds the change in percent.
	Percent bool
}

// Request is queries over one window, with formulas over their results.
type Request struct {
	Window Window
	// Bucket is the length of the buckets of a timeseries. 0 picks one for the window.
	Bucket     time.Duration
	Queries    []Query
	Formulas   []Formula
	Comparison Comparison
}
