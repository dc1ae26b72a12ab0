package query

import "strings"

// Units of the values that queries compute. The values of a metric have the unit that its senders give.
const (
	UnitMilliseconds = "ms"
	UnitRatio        = "ratio" // 0 to 1
	UnitPerSecond    = "1/s"
)

// Unit is the unit of the values that the query computes, or "" for counts and for attributes. metric is the unit of the query's
// metric, as its senders gave it.
func (q *Spec) Unit(metric string) string {
	a := q.Aggregation
	if metric = strings.TrimSpace(metric); metric == "1" {
		metric = ""
	}
	switch a.Func {
	case Count, ErrorCount, CountDistinct:
		return ""
	case ErrorRate, Apdex:
		return UnitRatio
	case Rate:
		if metric != "" {
			return metric + "/s"
		}
		return UnitPerSecond
	}
	if q.Source == Metrics {
		return metric
	}
	if v := a.Value; v != nil && v.Scope == Builtin {
		if f, ok := findBuiltin(q.Source, v.Key); ok && f.kind == durationField {
			return UnitMilliseconds
		}
	}
	return ""
}
