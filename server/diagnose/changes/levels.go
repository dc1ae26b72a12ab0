package changes

import "math"

// Level has the conditions under which a difference counts as a change of a level.
type Level struct {
	// Ratio is the smallest change, as a factor. Distance is the smallest change in the unit of the figure.
	Ratio, Distance float64
	// Down finds runs below the usual level, too.
	Down bool
	// Noise is the least standard deviation of the logarithm of a figure.
	Noise float64
	// Gap is the number of buckets without a change that one run may contain. Shortest is the least length of a run.
	Gap, Shortest int
	// Few is the number of measurements below which a bucket tells little: if most buckets have fewer, some are taken together. 0 is none.
	Few float64
}

// Levels finds runs in which a level is far from usual, for example a latency or the memory of a process. x are the levels, NaN in
// buckets without one. n are the measurements behind each, nil if they count alike: a quantile of few measurements varies more.
func Levels(x, n []float64, l Level) []Change {
	out := levels(x, n, l)
	if l.Few == 0 || len(out) > 0 {
		return out
	}
	const most = 6
	together := int(math.Ceil(l.Few / max(median(n), 1)))
	if together < 2 {
		return nil
	}
	together = min(together, most)
	l.Gap = max(l.Gap/together, 1)
	out = levels(grouped(x, n, together), sums(n, together), l)
	for i := range out {
		out[i].From, out[i].To = out[i].From*together, min(out[i].To*together, len(x))
	}
	return out
}

// grouped takes buckets together: the geometric mean of the levels, by their measurements.
func grouped(x, n []float64, size int) []float64 {
	out := make([]float64, (len(x)+size-1)/size)
	for i := range out {
		t, of := 0.0, 0.0
		for j := i * size; j < min((i+1)*size, len(x)); j++ {
			if x[j] > 0 && n[j] > 0 {
				t, of = t+n[j]*math.Log(x[j]), of+n[j]
			}
		}
		out[i] = math.Exp(t / of) // NaN without a level
	}
	return out
}

func sums(n []float64, size int) []float64 {
	out := make([]float64, (len(n)+size-1)/size)
	for i, v := range n {
		out[i/size] += v
	}
	return out
}

func levels(x, n []float64, l Level) []Change {
	logs := make([]float64, len(x))
	known := 0
	for i, v := range x {
		logs[i] = math.NaN()
		if v > 0 && !math.IsInf(v, 0) {
			logs[i] = math.Log(v)
			known++
		}
	}
	if known < 12 {
		return nil // too short to know the usual
	}
	m := median(logs)
	// Differences of neighbours are the noise; the whole series also has its changes and the course of the day.
	sigma := max(noise(logs), 0.5*spread(logs), l.Noise)
	var out []Change
	for _, sign := range []float64{1, -1} {
		if sign < 0 && !l.Down {
			break
		}
		delta := max(math.Log(l.Ratio), 2.5*sigma)
		scores := make([]float64, len(x))
		for i := range x {
			if math.IsNaN(logs[i]) {
				continue
			}
			s := sigma
			if n != nil {
				s = sigma * math.Sqrt(1+20/max(n[i], 0.5))
			}
			scores[i] = delta / (s * s) * (sign*(logs[i]-m) - delta/2)
			scores[i] = max(min(scores[i], MinScore/3), -MinScore/3)
		}
		for _, r := range joined(strong(runs(scores)), l.Gap) {
			value := math.Exp(mean(logs[r.from:r.to]))
			base := math.Exp(m)
			if r.to-r.from < l.Shortest || math.Abs(value-base) < l.Distance || math.Abs(math.Log(value/base)) < math.Log(l.Ratio) {
				continue
			}
			r.from = onset(logs, r, m, sigma, sign)
			out = append(out, Change{r.from, r.to, r.score, value, base})
		}
	}
	return out
}

// noise is the standard deviation of a figure around its neighbours.
func noise(logs []float64) float64 {
	var d []float64
	last := math.NaN()
	for _, v := range logs {
		if math.IsNaN(v) {
			continue
		}
		if !math.IsNaN(last) {
			d = append(d, math.Abs(v-last))
		}
		last = v
	}
	return 1.4826 * median(d) / math.Sqrt2
}

// onset is the bucket in which a run began. A level that rises slowly passes the usual long before the run stands out: the begin is that
// of the line that fits the rise best, if a line fits better than a step. Memory that leaks rises by the same amount in each bucket, a
// queue that feeds itself by the same factor: the first is a line in the level, the second in its logarithm.
func onset(logs []float64, r run, m, sigma, sign float64) int {
	earliest := max(0, r.from-3*(r.to-r.from))
	peak := r.from
	for i := r.from; i < r.to; i++ {
		if !math.IsNaN(logs[i]) && sign*logs[i] > sign*logs[peak] {
			peak = i
		}
	}
	if peak-r.from < 4 {
		return r.from
	}
	level := mean(logs[r.from : peak+1])
	step := squares(logs, earliest, peak, func(i int) float64 {
		if i < r.from {
			return m
		}
		return level
	})
	best, at := step, r.from
	for from := earliest; from < peak-4; from++ {
		rise, length := mean(logs[max(from, peak-3):peak+1])-m, float64(peak-1-from)
		for _, model := range []func(part float64) float64{
			func(part float64) float64 { return m + rise*part },
			func(part float64) float64 { return m + math.Log(max(1+(math.Exp(rise)-1)*part, 0.01)) },
		} {
			line := squares(logs, earliest, peak, func(i int) float64 { return model(max(0, float64(i-from)) / length) })
			// A line has one more freedom than a step: it must be clearly better.
			if line < best-4*sigma*sigma && line < 0.7*step {
				best, at = line, from
			}
		}
	}
	return at
}

func squares(logs []float64, from, to int, model func(int) float64) float64 {
	t := 0.0
	for i := from; i <= to; i++ {
		if !math.IsNaN(logs[i]) {
			d := logs[i] - model(i)
			t += d * d
		}
	}
	return t
}

// mean is the mean of the numbers that are not NaN.
func mean(list []float64) float64 {
	t, n := 0.0, 0.0
	for _, x := range list {
		if !math.IsNaN(x) {
			t, n = t+x, n+1
		}
	}
	return t / n
}
