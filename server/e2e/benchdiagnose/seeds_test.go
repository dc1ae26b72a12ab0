package benchdiagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/demo"
)

// Seeds for tuning are even, seeds for the figures in the documents odd. So no code was fitted to the faults that it is judged by.
const (
	tuning = "tuning"
	shown  = "shown"
	// faultSeeds is the number of seeds with a fault of each set, quietSeeds that of quiet days.
	faultSeeds, quietSeeds = 50, 4
)

const day = 24 * time.Hour

// run is one window with what was planted in it.
type run struct {
	seed uint64
	// kind is the kind of the fault, or demo.PlantNone.
	kind string
	// from is the begin of the telemetry, asked that of the window in which incidents are searched. Both end at to.
	from, asked, to time.Time
}

// runs reads a list of seeds: a set ("tuning", "shown"), the first seeds of a set ("tuning:13"), or seeds ("4,8"). The telemetry lies
// before a day. The n-th seed of a set always has the same kind and the same slot of the day, and no two seeds of a set share a slot.
func runs(list string, before time.Time, quiet int) ([]run, error) {
	var seeds []uint64
	name, first, cut := strings.Cut(list, ":")
	odd := uint64(0)
	switch name {
	case shown:
		odd = 1
		fallthrough
	case tuning:
		n := faultSeeds
		if cut {
			var err error
			if n, err = strconv.Atoi(first); err != nil || n < 0 || n > faultSeeds {
				return nil, fmt.Errorf("%q: a set has %d seeds", list, faultSeeds)
			}
		}
		for i := range uint64(n) {
			seeds = append(seeds, 2*i+odd)
		}
	default:
		for text := range strings.SplitSeq(list, ",") {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil || n >= 2*faultSeeds {
				return nil, fmt.Errorf("%q is no seed below %d and no set of seeds", text, 2*faultSeeds)
			}
			seeds, odd = append(seeds, n), n%2
		}
	}
	var out []run
	for _, seed := range seeds {
		n := seed / 2
		to := before.Add(-time.Duration(n) * demo.SlotLength)
		kinds := demo.Kinds()
		out = append(out, run{seed, kinds[n%uint64(len(kinds))], to.Add(-demo.SlotLength), to.Add(-demo.SlotLength / 2), to})
	}
	// Quiet days lie before all slots. Two hours before each day show the usual.
	for n := range min(quiet, quietSeeds) {
		to := before.Add(-faultSeeds*demo.SlotLength - time.Duration(2*n+1)*day)
		out = append(out, run{2*uint64(faultSeeds+n) + odd, demo.PlantNone, to.Add(-day - 2*time.Hour), to.Add(-day), to})
	}
	return out, nil
}

// TestSeeds: the sets are disjoint, windows do not overlap, and all lie within the time that a server takes in.
func TestSeeds(t *testing.T) {
	before := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	sets := map[string][]uint64{}
	for _, set := range []string{tuning, shown} {
		all, err := runs(set, before, quietSeeds)
		if err != nil || len(all) != faultSeeds+quietSeeds {
			t.Fatalf("%s: %d runs, %v", set, len(all), err)
		}
		kinds := map[string]int{}
		for i, r := range all {
			sets[set] = append(sets[set], r.seed)
			kinds[r.kind]++
			if r.to.Sub(r.from) < demo.SlotLength || !r.asked.After(r.from) || before.Add(day).Sub(r.from) > demo.MaxBack {
				t.Errorf("%s: seed %d from %s to %s", set, r.seed, r.from, r.to)
			}
			for _, o := range all[:i] {
				if r.from.Before(o.to) && o.from.Before(r.to) {
					t.Errorf("%s: the seeds %d and %d overlap", set, r.seed, o.seed)
				}
			}
		}
		if len(kinds) != len(demo.Kinds())+1 {
			t.Errorf("%s: %v", set, kinds)
		}
	}
	for _, seed := range sets[tuning] {
		if slices.Contains(sets[shown], seed) {
			t.Errorf("the seed %d is in both sets", seed)
		}
	}
	for _, bad := range []string{"", "x", "tuning:x", "shown:51", "100"} {
		if _, err := runs(bad, before, 0); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if some, err := runs("8,4", before, 0); err != nil || len(some) != 2 || some[0].kind != demo.Kinds()[4] {
		t.Errorf("%v, %v", some, err)
	}
}
