package query

import (
	"fmt"
	"strings"
	"time"
)

// admits reports whether a value passes every condition.
func admits(all []Having, v float64) bool {
	for _, h := range all {
		if !h.Admits(v) {
			return false
		}
	}
	return true
}

// Admits reports whether a value passes the condition. NaN never passes.
func (h Having) Admits(v float64) bool {
	switch h.Op {
	case OpEqual:
		return v == h.Value
	case OpNotEqual:
		return v < h.Value || v > h.Value
	case OpGreater:
		return v > h.Value
	case OpGreaterOrEqual:
		return v >= h.Value
	case OpLess:
		return v < h.Value
	case OpLessOrEqual:
		return v <= h.Value
	default:
		return false
	}
}

// having prints the conditions on a value of a group, joined by AND.
func (b planner) having(q *Spec, value string) string {
	var all []string
	for _, h := range q.Having {
		all = append(all, fmt.Sprintf("%s %s %s", value, h.Op, b.BindNumbered("having", "Float64", h.Value)))
	}
	return strings.Join(all, " AND ")
}

// passing prints a condition on the buckets of a group: at least one of them passes. Series are picked from such groups first. If
// zero is set, a bucket without rows has the value 0 and can pass with it.
func (q *Spec) passing(w Window, bucket time.Duration, condition string, zero bool) string {
	some := fmt.Sprintf("countIf(%s) > 0", condition)
	if buckets, err := Buckets(w, bucket); err == nil && zero && admits(q.Having, 0) {
		some = fmt.Sprintf("(%s OR count() < %d)", some, len(buckets))
	}
	return some
}

// readSeries is the number of series that the statement of a timeseries reads. With conditions it is one more than the limit, to
// detect whether more series pass.
func readSeries(q *Spec) int {
	if len(q.Having) > 0 {
		return seriesLimit(q) + 1
	}
	return seriesLimit(q)
}
