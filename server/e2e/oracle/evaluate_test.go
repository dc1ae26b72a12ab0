package oracle_test

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// window includes both of its ends, as the contract says.
type window struct{ start, end time.Time }

func (w window) holds(at time.Time) bool { return !at.Before(w.start) && !at.After(w.end) }

func (w window) seconds() float64 { return w.end.Sub(w.start).Seconds() }

// bucket is the start of the bucket of a time, in seconds since 1970. The end of a window belongs to the bucket before it: one instant
// does not make a bucket.
func (w window) bucket(at time.Time, seconds int64) int64 {
	if at.Equal(w.end) && at.Nanosecond() == 0 && at.Unix()%seconds == 0 {
		return at.Unix() - seconds
	}
	return at.Unix() / seconds * seconds
}

// rowsIn are the rows of a window that meet a condition.
func rowsIn(rows []*row, w window, meets func(*row) bool) (out []*row) {
	for _, r := range rows {
		if w.holds(r.at) && meets(r) {
			out = append(out, r)
		}
	}
	return out
}

func by[T any, K comparable](rows []T, of func(T) K) map[K][]T {
	out := map[K][]T{}
	for _, r := range rows {
		out[of(r)] = append(out[of(r)], r)
	}
	return out
}

func weigh(rows []*row, of func(*row) float64) (total float64) {
	for _, r := range rows {
		total += r.weight * of(r)
	}
	return total
}

func estimated(rows []*row) float64 { return weigh(rows, func(*row) float64 { return 1 }) }

func failed(rows []*row) (out []*row) {
	for _, r := range rows {
		if r.failed {
			out = append(out, r)
		}
	}
	return out
}

func errorRate(rows []*row) float64 {
	if len(rows) == 0 {
		return 0
	}
	return estimated(failed(rows)) / estimated(rows)
}

func apdex(rows []*row, threshold float64) float64 {
	return weigh(rows, func(r *row) float64 {
		switch {
		case r.failed:
			return 0
		case r.milliseconds() < threshold:
			return 1
		case r.milliseconds() < 4*threshold:
			return 0.5
		}
		return 0
	}) / estimated(rows)
}

// bounds are the lowest and the highest right value of a figure.
type bounds struct{ low, high float64 }

func exactly(v float64) bounds { return bounds{v, v} }

// admits tells whether a figure is within bounds. The last digits of a sum of fractions depend on the order of the summands.
func (b bounds) admits(v float64) bool {
	slack := 1e-9 * max(1, math.Abs(b.low), math.Abs(b.high))
	return v >= b.low-slack && v <= b.high+slack
}

// digestSlack is the error of a digest: two percent of all ranks. A digest also interpolates between neighbours.
const digestSlack = 0.02

type observation struct{ value, weight float64 }

// quantile bounds a weighted quantile by the values at the ranks that the digest may confuse with its rank.
func quantile(list []observation, level float64) bounds {
	slices.SortFunc(list, func(a, b observation) int { return cmp.Compare(a.value, b.value) })
	total := 0.0
	for _, o := range list {
		total += o.weight
	}
	at := func(rank float64) int {
		seen := 0.0
		for n, o := range list {
			if seen += o.weight; seen >= rank*total-1e-9 {
				return n
			}
		}
		return len(list) - 1
	}
	first, last := at(level-digestSlack), at(level+digestSlack)
	// One neighbour on either side, past equal values.
	for low := list[first].value; first > 0 && list[first].value == low; {
		first--
	}
	for high := list[last].value; last < len(list)-1 && list[last].value == high; {
		last++
	}
	// A digest holds 32-bit floats.
	return bounds{list[first].value - 1e-6*math.Abs(list[first].value), list[last].value + 1e-6*math.Abs(list[last].value)}
}

func latency(rows []*row, level float64) bounds {
	var list []observation
	for _, r := range rows {
		list = append(list, observation{r.milliseconds(), r.weight})
	}
	return quantile(list, level)
}

// number reads an attribute as a number. Other text does not count.
func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// aggregate aggregates one or more rows. The result ok is false if no row has a value.
func aggregate(rows []*row, aggregation, field string, seconds float64) (b bounds, ok bool) {
	switch aggregation {
	case "count":
		return exactly(estimated(rows)), true
	case "rate":
		return exactly(estimated(rows) / seconds), true
	case "error_count":
		return exactly(estimated(failed(rows))), true
	case "error_rate":
		return exactly(errorRate(rows)), true
	case "apdex":
		score := apdex(rows, 500)
		return bounds{score - 0.00005, score + 0.00005}, true
	case "count_distinct":
		different := map[string]bool{}
		for _, r := range rows {
			if v, ok := attribute(r.attributes, field); ok {
				different[v] = true
			}
		}
		return exactly(float64(len(different))), true
	}
	var list []observation
	for _, r := range rows {
		if strings.HasSuffix(aggregation, "_duration") {
			list = append(list, observation{r.milliseconds(), r.weight})
			continue
		}
		if v, found := attribute(r.attributes, field); found {
			if n, ok := number(v); ok {
				list = append(list, observation{n, r.weight})
			}
		}
	}
	return summarize(list, strings.TrimSuffix(aggregation, "_duration"))
}

func summarize(list []observation, aggregation string) (b bounds, ok bool) {
	if len(list) == 0 {
		return bounds{}, false
	}
	total, weight, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for _, o := range list {
		total, weight = total+o.value*o.weight, weight+o.weight
		low, high = min(low, o.value), max(high, o.value)
	}
	switch aggregation {
	case "sum":
		return exactly(total), true
	case "avg":
		return exactly(total / weight), true
	case "min":
		return exactly(low), true
	case "max":
		return exactly(high), true
	}
	level, err := strconv.ParseFloat(strings.TrimPrefix(aggregation, "p"), 64)
	if err != nil {
		panic("the evaluation does not know " + aggregation)
	}
	return quantile(list, level/100), true
}
