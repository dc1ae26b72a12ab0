package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Func is the function that an aggregation computes.
type Func string

// These are the functions. In every function a row of traces counts as often as its sampling says (SampleRate).
const (
	Count         Func = "count"          // rows
	Rate          Func = "rate"           // rows, or the increase of a counter, per second
	Increase      Func = "increase"       // the increase of a counter, aware of resets; metrics only
	ErrorCount    Func = "error_count"    // rows with an error
	ErrorRate     Func = "error_rate"     // the share of rows with an error, 0 to 1
	Apdex         Func = "apdex"          // the Apdex score of durations
	Sum           Func = "sum"            // of Value
	Avg           Func = "avg"            // of Value
	Min           Func = "min"            // of Value
	Max           Func = "max"            // of Value
	Quantile      Func = "quantile"       // of Value
	CountDistinct Func = "count_distinct" // distinct values of Value; within about one percent, exact for product events
)

// Aggregation is the figure that a query computes for each group.
type Aggregation struct {
	Func Func
	// Value is the field to compute with, for example duration, in milliseconds. It is nil for metrics: a data point has its own
	// value.
	Value *Field
	// Level is the quantile, between 0 and 1.
	Level float64
	// Threshold is for Apdex. Durations below it are satisfied, durations below four times it are tolerated. Failed spans are
	// neither.
	Threshold time.Duration
}

// quantileLevels are the names of quantiles.
func quantileLevels() map[string]float64 {
	return map[string]float64{"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
}

// Additive reports whether the values of groups can be summed to the value of all groups.
func (a Aggregation) Additive() bool {
	switch a.Func {
	case Count, Rate, Increase, ErrorCount, Sum:
		return true
	default:
		return false
	}
}

// countLike reports whether a bucket without rows has the value 0.
func (a Aggregation) countLike() bool {
	switch a.Func {
	case Count, Rate, Increase, ErrorCount, CountDistinct:
		return true
	default:
		return false
	}
}

func quantileNames() []string { return []string{"p50", "p75", "p90", "p95", "p99"} }

// distinctNames are the aggregations that count the sessions and people of product events.
func distinctNames() []string { return []string{"sessions", "persons", "users", "visitors"} }

// Counting lists the aggregations that count rows or distinct values. Their results have no unit and are never negative.
func Counting() []string {
	return append([]string{string(Count), string(Rate), string(ErrorCount)}, distinctNames()...)
}

// AggregationsOfField lists the aggregations of a field that the query names.
func AggregationsOfField() []string {
	return slices.Concat([]string{"sum", "avg", "min", "max"}, quantileNames(), []string{"count_distinct"})
}

// Aggregations lists the names that ParseAggregation reads for a source. Those of AggregationsOfField come last.
func Aggregations(s Source) []string {
	var own []string
	switch s {
	case Traces:
		own = []string{"count", "rate", "error_count", "error_rate", "apdex", "avg_duration", "min_duration", "max_duration"}
		for _, q := range quantileNames() {
			own = append(own, q+"_duration")
		}
	case Logs:
		own = []string{"count", "rate", "error_count", "error_rate"}
	case Metrics:
		return append([]string{"avg", "sum", "min", "max", "count", "rate", "increase"}, quantileNames()...)
	case ProductEvents:
		own = append([]string{"count", "rate"}, distinctNames()...)
	default:
		return nil
	}
	return append(own, AggregationsOfField()...)
}

// ParseAggregation reads the name of an aggregation. value is the numeric field for aggregations that need one
// (`attr.cart.size`). threshold is for apdex, and 0 means the default. The error is an *Invalid of `aggregation` or `value_field`
// under path.
func ParseAggregation(path string, s Source, name, value string, threshold time.Duration) (Aggregation, error) {
	at := func(field string) string {
		if path == "" {
			return field
		}
		return path + "." + field
	}
	if !slices.Contains(Aggregations(s), name) {
		if len(Aggregations(s)) == 0 {
			return Aggregation{}, invalid(at("source"), "must be traces, logs, metrics or product_events")
		}
		return Aggregation{}, invalid(at("aggregation"), "must be one of %s, not %q", strings.Join(Aggregations(s), ", "), name)
	}
	a := Aggregation{}
	word, ofDuration := strings.CutSuffix(name, "_duration")
	if level, ok := quantileLevels()[word]; ok {
		a.Func, a.Level = Quantile, level
	} else {
		a.Func = Func(word)
	}
	distinct := func(key string) { a.Func, a.Value = CountDistinct, &Field{Key: key} }
	switch name {
	case "sessions":
		distinct("session.id")
	case "persons":
		distinct("person")
	case "users":
		distinct("known.user")
	case "visitors":
		distinct("known.visitor")
	case "apdex":
		if a.Threshold = threshold; threshold == 0 {
			a.Threshold = limits.DefaultApdex
		}
	}
	if ofDuration {
		a.Value = &Field{Key: "duration"}
	}
	if a.Func != Apdex && threshold != 0 {
		return Aggregation{}, invalid(at("apdex_threshold_ms"), "can be given only with the aggregation apdex")
	}
	needs := a.needsValue(s) && a.Value == nil
	switch {
	case needs && value == "":
		return Aggregation{}, invalid(at("value_field"), "is required for %s: the field to compute with, for example attr.cart.size", name)
	case !needs && value != "":
		return Aggregation{}, invalid(at("value_field"), "does not belong to %s", name)
	case needs:
		f, err := ParseField(s, value)
		if err != nil {
			return Aggregation{}, invalid(at("value_field"), "cannot be read: %s", err)
		}
		a.Value = &f
	}
	return a, nil
}

func (a Aggregation) needsValue(s Source) bool {
	switch a.Func {
	case Sum, Avg, Min, Max, Quantile, CountDistinct:
		return s != Metrics
	default:
		return false
	}
}

func (a Aggregation) validate(at func(string) string, s Source, m Metric) error {
	if s == Metrics {
		if m.Name == "" {
			return invalid(at("metric.name"), "is required for metrics")
		}
		return nil // the metric planner checks which aggregations fit the type of a metric
	}
	if m != (Metric{}) {
		return invalid(at("metric"), "belongs to the source metrics")
	}
	switch a.Func {
	case Count, Rate, Sum, Avg, Min, Max, CountDistinct:
	case ErrorCount, ErrorRate:
		if s == ProductEvents {
			return invalid(at("aggregation"), "cannot be %s: product events have no errors", a.Func)
		}
	case Apdex:
		if s != Traces || a.Threshold <= 0 {
			return invalid(at("aggregation"), "apdex needs traces and a threshold above 0")
		}
	case Quantile:
		if !(a.Level >= 0 && a.Level <= 1) {
			return invalid(at("aggregation"), "is a quantile that is not between 0 and 1")
		}
	default:
		return invalid(at("aggregation"), "must be one of %s, not %q", strings.Join(Aggregations(s), ", "), a.Func)
	}
	if (a.Value != nil) != a.needsValue(s) {
		return invalid(at("value_field"), "is needed for sums, averages, extremes, quantiles and count_distinct, and only for them")
	}
	if a.Value == nil {
		return nil
	}
	m1 := Match{Field: *a.Value, Op: OpExists}
	if f, ok := findBuiltin(s, a.Value.Key); a.Value.Scope == Builtin && ok {
		if f.kind == numberField || f.kind == durationField {
			return nil
		}
		if a.Func != CountDistinct || f.kind != textField {
			return invalid(at("value_field"), "`%s` is not a number", a.Value)
		}
	}
	if a.Value.Scope == EventAttribute {
		return invalid(at("value_field"), "`%s` belongs to events, and a span can have several events", a.Value)
	}
	if problem := m1.check(s); problem != "" {
		return invalid(at("value_field"), "cannot be read: %s", problem)
	}
	return nil
}

// String is the name of the aggregation, in the form that ParseAggregation reads if it has one.
func (a Aggregation) String() string {
	name := string(a.Func)
	if a.Func == Quantile {
		name = fmt.Sprintf("p%g", a.Level*100)
	}
	if a.Value != nil && a.Value.Scope == Builtin && a.Value.Key == "duration" {
		return name + "_duration"
	}
	return name
}
