package errorevents

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

// TestBurst plants occurrences in some minutes of a day.
func TestBurst(t *testing.T) {
	start := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	day := query.Window{Start: start, End: start.Add(24 * time.Hour)}
	every := func(counts map[int]uint64, from, to, step int, n uint64) {
		for m := from; m < to; m += step {
			counts[m] += n
		}
	}
	for name, tc := range map[string]struct {
		plant       func(counts map[int]uint64)
		first, last int // minutes of the day; -1 without a burst
		count       float64
	}{
		"strays before a burst": {func(c map[int]uint64) { c[865], c[200] = 1, 1; every(c, 1000, 1030, 1, 5) }, 1000, 1030, 150},
		"a burst with a pause":  {func(c map[int]uint64) { every(c, 600, 610, 1, 4); every(c, 617, 625, 1, 4) }, 600, 625, 72},
		"two bursts":            {func(c map[int]uint64) { every(c, 100, 110, 1, 3); every(c, 900, 910, 1, 9) }, 900, 910, 90},
		"one long burst":        {func(c map[int]uint64) { every(c, 560, 650, 2, 3); every(c, 0, 1440, 60, 1) }, 560, 649, 136},
		"always":                {func(c map[int]uint64) { every(c, 0, 1440, 7, 1) }, -1, -1, 0},
		"by chance": {func(c map[int]uint64) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 400 {
				c[r.IntN(1440)]++
			}
		}, -1, -1, 0},
		"few":  {func(c map[int]uint64) { c[3], c[4] = 2, 2 }, -1, -1, 0},
		"none": {func(map[int]uint64) {}, -1, -1, 0},
	} {
		counts := map[int]uint64{}
		tc.plant(counts)
		var minutes []reads.ErrorPointRow
		for m, n := range counts {
			minutes = append(minutes, reads.ErrorPointRow{Bucket: start.Add(time.Duration(m) * time.Minute), Count: n})
		}
		slices.SortFunc(minutes, func(x, y reads.ErrorPointRow) int { return x.Bucket.Compare(y.Bucket) })
		b := burst(day, minutes)
		first, last, count := -1, -1, 0.0
		if b != nil {
			first, last, count = int(b.GetStartTime().AsTime().Sub(start).Minutes()), int(b.GetEndTime().AsTime().Sub(start).Minutes()), b.GetCount()
		}
		if first != tc.first || last != tc.last || count != tc.count {
			t.Errorf("%s: from %d to %d with %v, want from %d to %d with %v", name, first, last, count, tc.first, tc.last, tc.count)
		}
	}
}
