package changes

import (
	"math"
	"slices"
)

// Shares finds runs in which a greater share of trials has an outcome, for example failed of all spans. n are the trials and k those with
// the outcome, in each bucket. gap is the number of buckets without a change that one run may contain.
func Shares(n, k []float64, gap int) []Change {
	had := make([]float64, len(k))
	for i := range k {
		had[i] = min(k[i], n[i])
	}
	var found []run
	var u usual
	for range refinements {
		u = usualOf(had, n, found)
		p0 := min((u.events+0.5)/(u.exposure+1), 0.9)
		// The tested alternative: clearly more than usual. A greater change scores higher by itself.
		p1 := min(max(2.5*p0, p0+0.01), (1+p0)/2)
		won, lost := math.Log(p1/p0), math.Log((1-p1)/(1-p0))
		scores := make([]float64, len(n))
		for i := range n {
			scores[i] = (had[i]*won + (n[i]-had[i])*lost) / u.dispersion
			scores[i] = min(scores[i], oneBucket)
		}
		next := strong(runs(scores))
		if slices.Equal(next, found) {
			break
		}
		found = next
	}
	found = sharpened(found, func(r run) func(int) float64 {
		p0 := min((u.events+0.5)/(u.exposure+1), 0.9)
		p1 := max(sum(had[r.from:r.to])/sum(n[r.from:r.to]), 1.5*p0, p0+0.005)
		p1 = min(p1, (1+p0)/2+0.49*(1-p0))
		won, lost := math.Log(p1/p0), math.Log((1-p1)/(1-p0))
		return func(i int) float64 { return (had[i]*won + (n[i]-had[i])*lost) / u.dispersion }
	})
	var out []Change
	for _, r := range joined(found, gap) {
		tried, k := sum(n[r.from:r.to]), sum(had[r.from:r.to])
		share, before := k/max(tried, 1), u.events/max(u.exposure, 1)
		if k >= 5 && share >= 2*before && share-before >= 0.005 {
			out = append(out, Change{r.from, r.to, r.score, share, before})
		}
	}
	return out
}

const (
	// oneBucket is the highest score of a bucket: one alone decides nothing. It may be a burst of one caller, or a trace with many failures.
	oneBucket = 0.8 * MinScore
	// refinements bounds how often the usual is computed again without the runs that were found.
	refinements = 6
)

// Counts finds runs in which something happens more often than usual for the exposure, for example one error for the spans of its service.
// A nil exposure is constant.
func Counts(k, exposure []float64, gap int) []Change {
	expected := make([]float64, len(k))
	mean := sum(exposure) / float64(max(len(exposure), 1))
	for i := range k {
		expected[i] = 1
		if mean > 0 {
			expected[i] = max(exposure[i]/mean, 0.1)
		}
	}
	var found []run
	var u usual
	for range refinements {
		u = usualOf(k, expected, found)
		rate := (u.events + 0.5) / max(u.exposure, 1)
		// Ratios from small to large: a lasting rise is found by the first, a short burst of something new by the last.
		var next []run
		for _, ratio := range []float64{2, 6, 30} {
			scores := make([]float64, len(k))
			for i := range k {
				scores[i] = min((k[i]*math.Log(ratio)-rate*expected[i]*(ratio-1))/u.dispersion, oneBucket)
			}
			for _, r := range strong(runs(scores)) {
				next = merged(next, r)
			}
		}
		if slices.Equal(next, found) {
			break
		}
		found = next
	}
	found = sharpened(found, func(r run) func(int) float64 {
		rate := (u.events + 0.5) / max(u.exposure, 1)
		ratio := max(sum(k[r.from:r.to])/(rate*sum(expected[r.from:r.to])), 2)
		return func(i int) float64 { return (k[i]*math.Log(ratio) - rate*expected[i]*(ratio-1)) / u.dispersion }
	})
	var out []Change
	for _, r := range joined(found, gap) {
		had, before := sum(k[r.from:r.to]), u.events/max(u.exposure, 1)*sum(expected[r.from:r.to])
		if had >= 5 && had >= 2*before && had-before >= 2.5*math.Sqrt(had*u.dispersion) {
			length := float64(r.to - r.from)
			out = append(out, Change{r.from, r.to, r.score, had / length, before / length})
		}
	}
	return out
}

// usual is the behaviour of a series outside of its changes.
type usual struct {
	events, exposure float64
	// dispersion says how many times more the events vary than independent ones do. It is at least 1.
	dispersion float64
}

// usualOf sums up the buckets outside of runs.
func usualOf(k, exposure []float64, without []run) usual {
	inside := make([]bool, len(k))
	for _, r := range without {
		for i := r.from; i < r.to; i++ {
			inside[i] = true
		}
	}
	var u usual
	for i := range k {
		if !inside[i] {
			u.events, u.exposure = u.events+k[i], u.exposure+exposure[i]
		}
	}
	rate := (u.events + 0.5) / max(u.exposure, 1)
	// Neighbours are taken together until some events are expected: of rare events, a single bucket has none or one.
	var squared []float64
	var had, exposed float64
	for i := range k {
		if inside[i] {
			had, exposed = 0, 0
			continue
		}
		if had, exposed = had+k[i], exposed+exposure[i]; rate*exposed >= 4 {
			d := had - rate*exposed
			squared = append(squared, d*d/(rate*exposed))
			had, exposed = 0, 0
		}
	}
	u.dispersion = 1
	// A rate that still counts a change is too high for all other buckets: their distances to it say nothing.
	if len(squared) >= 5 && len(without) > 0 {
		// The median of the square of a standard normal variable is 0.455: a change does not move it.
		u.dispersion = min(max(1, median(squared)/0.455), 50)
	}
	return u
}

// merged adds a run to a list in the order of time. Of runs that overlap, that with the higher score stays.
func merged(list []run, r run) []run {
	overlaps := func(o run) bool { return o.from < r.to && r.from < o.to }
	for _, o := range list {
		if overlaps(o) && o.score >= r.score {
			return list
		}
	}
	list = append(slices.DeleteFunc(list, overlaps), r)
	slices.SortFunc(list, func(x, y run) int { return x.from - y.from })
	return list
}

func sum(list []float64) float64 {
	t := 0.0
	for _, x := range list {
		t += x
	}
	return t
}
