package changes

import (
	"math"
	"math/rand/v2"
	"testing"
)

// poisson draws from a Poisson distribution.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 200 {
		return math.Round(max(0, mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	limit, p, n := math.Exp(-mean), r.Float64(), 0
	for p > limit {
		p *= r.Float64()
		n++
	}
	return float64(n)
}

const day = 720 // buckets of two minutes

// traffic is the number of spans of a service in the buckets of a day: its course, and chance.
func traffic(r *rand.Rand, perBucket float64) []float64 {
	n := make([]float64, day)
	for i := range n {
		n[i] = poisson(r, perBucket*(1+0.6*math.Sin(2*math.Pi*float64(i)/day)))
	}
	return n
}

func TestSharesFindsFailures(t *testing.T) {
	missed, late, false0 := 0, 0, 0
	const seeds = 200
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := traffic(r, []float64{20, 100, 1000}[seed%3])
		usual, bad := []float64{0, 0.002, 0.02}[seed/3%3], 0.15
		from := 50 + r.IntN(day-150)
		to := from + 6 + r.IntN(40)
		k := make([]float64, day)
		for i := range k {
			p := usual
			if from <= i && i < to {
				p += bad
			}
			for range int(n[i]) {
				if r.Float64() < p {
					k[i]++
				}
			}
		}
		hit := false
		for _, c := range Shares(n, k, 5) {
			switch {
			case c.From < to && from < c.To:
				hit = true
				if abs(c.From-from) > 2 {
					late++
				}
				if c.Value < 0.03 || c.Baseline > 0.03 {
					t.Errorf("seed %d: share %.3f, before %.3f", seed, c.Value, c.Baseline)
				}
			default:
				false0++
			}
		}
		if !hit {
			missed++
		}
	}
	if missed > 4 || late > 20 || false0 > 2 { // a small service fails some buckets later, by chance
		t.Errorf("of %d faults %d missed, %d with a begin more than two buckets off, %d false", seeds, missed, late, false0)
	}
}

func TestCountsFindsBursts(t *testing.T) {
	missed, late, false0 := 0, 0, 0
	const seeds = 200
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 2))
		exposure := traffic(r, 300)
		usual := []float64{0, 0.02, 1, 20}[seed%4]
		bad := 3*usual + 3
		from := 50 + r.IntN(day-150)
		to := from + 8 + r.IntN(40)
		k := make([]float64, day)
		for i := range k {
			m := usual * exposure[i] / 300
			if from <= i && i < to {
				m += bad
			}
			k[i] = poisson(r, m)
		}
		hit := false
		for _, c := range Counts(k, exposure, 5) {
			if c.From < to && from < c.To {
				hit = true
				if abs(c.From-from) > 2 {
					late++
				}
				continue
			}
			false0++
		}
		if !hit {
			missed++
		}
	}
	if missed > 4 || late > 10 || false0 > 2 {
		t.Errorf("of %d bursts %d missed, %d with a begin more than two buckets off, %d false", seeds, missed, late, false0)
	}
}

var latency = Level{Ratio: 1.4, Distance: 5, Noise: 0.05, Gap: 5, Shortest: 3}

func TestLevelsFindsSlowness(t *testing.T) {
	missed, late, false0 := 0, 0, 0
	const seeds = 200
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := traffic(r, 60)
		from := 100 + r.IntN(day-300)
		to := from + 10 + r.IntN(100)
		gradual := seed%3 == 0
		x := make([]float64, day)
		for i := range x {
			level := math.Log(80)
			if from <= i && i < to {
				rise := math.Log(2.2)
				if gradual {
					rise = math.Log(4) * float64(i-from) / float64(to-from)
				}
				level += rise
			}
			x[i] = math.Exp(level + 0.15*r.NormFloat64())
		}
		hit := false
		for _, c := range Levels(x, n, latency) {
			if c.From < to && from < c.To {
				hit = true
				if off := abs(c.From - from); off > 2 && !gradual || off > max(3, (to-from)/4) {
					late++
				}
				continue
			}
			false0++
		}
		if !hit && !(gradual && to-from < 30) {
			missed++
		}
	}
	if missed > 4 || late > 14 || false0 > 2 {
		t.Errorf("of %d slow times %d missed, %d with a begin too far off, %d false", seeds, missed, late, false0)
	}
}

func TestQuietSeriesHaveNoChange(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := traffic(r, 5+float64(seed))
		k, x := make([]float64, day), make([]float64, day)
		for i := range k {
			k[i] = min(n[i], poisson(r, 0.005*n[i]))
			x[i] = math.Exp(4 + 0.1*math.Sin(float64(i)/100) + 0.2*r.NormFloat64()*math.Sqrt(1+20/max(n[i], 1)))
		}
		found += len(Shares(n, k, 5)) + len(Counts(k, n, 5)) + len(Levels(x, n, latency))
	}
	if found > 3 {
		t.Errorf("%d changes in 900 quiet series of a day", found)
	}
}

func TestRunsAreMaximal(t *testing.T) {
	got := runs([]float64{4, -5, 3, -3, 1, 2, -2, 2, -2, 1, 5})
	want := []run{{0, 1, 4}, {2, 3, 3}, {4, 11, 7}}
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("run %d is %v, not %v", i, got[i], want[i])
		}
	}
}

func TestSeriesWithoutData(t *testing.T) {
	empty := make([]float64, 30)
	nan := make([]float64, 30)
	for i := range nan {
		nan[i] = math.NaN()
	}
	for name, got := range map[string][]Change{
		"no trials": Shares(empty, empty, 5), "no events": Counts(empty, nil, 5), "no exposure": Counts(empty, empty, 5),
		"no level": Levels(nan, nil, latency), "nothing": Shares(nil, nil, 5), "no counts": Counts(nil, nil, 5),
		"no levels": Levels(nil, nil, latency),
	} {
		if len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func abs(i int) int { return max(i, -i) }
