// Package changes finds the parts of a series in which it was not like itself: a share of failures, a count, or a level such as a latency.
// It reads nothing and knows no telemetry: a series is a list of figures in buckets of equal length.
//
// Each bucket gets a score: the logarithm of how much better a changed series explains it than an unchanged one (a likelihood ratio). A
// run of buckets whose scores add up to much is a change. It begins and ends where the sum is greatest, so one bad bucket of a quiet
// series and an hour of a noisy one are found by the same rule.
package changes

import (
	"math"
	"slices"
)

// Change is a run of buckets that differ from the rest of their series.
type Change struct {
	// From and To are the first bucket and the one after the last.
	From, To int
	// Score says how much better the change explains the run: a natural logarithm.
	Score float64
	// Value is the figure of the run, Baseline that of the rest.
	Value, Baseline float64
}

// Up says whether the run lies above the baseline.
func (c Change) Up() bool { return c.Value > c.Baseline }

// MinScore is the score below which a run counts as chance. A day has some hundred series with some hundred buckets each, so a run can
// begin in about 10^5 places. In every second day, one of these runs reaches a score of 12 by chance.
const MinScore = 14

// run is a part of a list of scores, with their sum.
type run struct {
	from, to int
	score    float64
}

// runs returns the maximal scoring runs of a list. A run is maximal when adding or removing elements at its ends does not raise its sum.
// It is the algorithm of Ruzzo and Tompa (1999), in linear time.
func runs(scores []float64) []run {
	type candidate struct {
		run
		left, right float64 // sums of all scores up to the begin and up to the end
	}
	var list []candidate
	sum := 0.0
	for i, s := range scores {
		before := sum
		sum += s
		if s <= 0 {
			continue
		}
		c := candidate{run{i, i + 1, s}, before, sum}
		for {
			j := len(list) - 1
			for j >= 0 && list[j].left >= c.left {
				j--
			}
			if j < 0 || list[j].right >= c.right {
				list = append(list, c)
				break
			}
			c = candidate{run{list[j].from, c.to, c.right - list[j].left}, list[j].left, c.right}
			list = list[:j]
		}
	}
	out := make([]run, len(list))
	for i, c := range list {
		out[i] = c.run
	}
	return out
}

// sharpened searches each run again, now with the change that was found in it in place of the least one that counts. A great change ends
// where few failures remain, although those would be a small change by themselves. scores makes the scores of such a search.
func sharpened(list []run, scores func(run) func(int) float64) []run {
	var out []run
	for _, r := range list {
		of := scores(r)
		within := make([]float64, r.to-r.from)
		for i := range within {
			within[i] = min(of(r.from+i), 0.8*MinScore)
		}
		parts := strong(runs(within))
		if len(parts) == 0 {
			out = append(out, r)
		}
		for _, p := range parts {
			out = append(out, run{r.from + p.from, r.from + p.to, p.score})
		}
	}
	return out
}

// joined joins runs with a short gap between them: an incident that pauses is one.
func joined(list []run, gap int) []run {
	var out []run
	for _, r := range list {
		if n := len(out); n > 0 && r.from-out[n-1].to <= gap {
			out[n-1] = run{out[n-1].from, r.to, out[n-1].score + r.score}
			continue
		}
		out = append(out, r)
	}
	return out
}

// strong keeps the runs that are more than chance.
func strong(list []run) []run {
	return slices.DeleteFunc(list, func(r run) bool { return r.score < MinScore })
}

// median is the middle of the numbers that are not NaN. It is NaN without one.
func median(list []float64) float64 {
	var v []float64
	for _, x := range list {
		if !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}

// spread estimates the standard deviation from the median distance to the median, which outliers do not move.
func spread(list []float64) float64 {
	m := median(list)
	d := make([]float64, len(list))
	for i, x := range list {
		d[i] = math.Abs(x - m)
	}
	return 1.4826 * median(d)
}
