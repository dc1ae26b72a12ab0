package alerting

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestFiguresOfGaps compares the figures of many minutes, most of them without spans, with those of each minute alone. Rules about
// minutes of services are read with one statement. Of other rules, windows without spans are not read, and must give the same.
func TestFiguresOfGaps(t *testing.T) {
	w, org := warehousetest.Shared(t), warehousetest.OrgID(t)
	reader := read.NewReader(read.Config{Warehouse: w})
	source := NewSource(engine.New(engine.Config{Warehouse: reader, Rollups: query.AllRollups()}), reader, query.AllRollups())
	rnd := rand.New(rand.NewPCG(7, 13))
	end := time.Now().UTC().Truncate(time.Minute)
	for _, before := range []time.Duration{8 * time.Hour, 90 * time.Minute} {
		insertSpans(t, w, org, playSpans(rnd, 300, end.Add(-before), 12*time.Minute))
	}
	var asks []Ask
	for n := range 24 {
		var minutes []time.Time
		for at := end.Add(-10 * time.Hour); !at.After(end); at = at.Add(time.Duration(1+n%4) * time.Minute) {
			minutes = append(minutes, at)
		}
		r := playRule(rnd, n)
		if n%4 == 0 {
			r.SignalType, r.WindowMinutes = "apdex", 5
		}
		if n%4 == 0 || Together(r) { // each window of the others is read alone
			asks = append(asks, Ask{Rule: r, Minutes: minutes})
		}
	}
	got, err := source.Figures(t.Context(), org, asks)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for i, ask := range asks {
		minutes := ask.Minutes
		if got[i].Err != nil || len(got[i].Groups) != len(minutes) {
			t.Fatalf("%+v: %v", ask.Rule, got[i].Err)
		}
		p, err := compile(ask.Rule)
		if err != nil {
			t.Fatal(err)
		}
		void, err := source.void(t.Context(), org, ask)
		if err != nil {
			t.Fatal(err)
		}
		for n := i; n < len(minutes); n += len(minutes) / 13 {
			alone, _, err := source.evaluate(t.Context(), org, ask.Rule, p, minutes[n])
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("%s alone", text(ask.Rule, minutes[n])), got[i].Groups[n], alone, false)
		}
		if len(void) > 0 {
			kinds["void"]++
		}
		if source.inMinutes(ask.Rule, minutes) {
			kinds["together"]++
			measured, err := source.fromMinutes(t.Context(), org, []Ask{ask})
			if _, ok := gridOf(minutes); !ok || err != nil || len(measured) != 1 {
				t.Errorf("%s is not read with one statement: %v", text(ask.Rule, minutes[0]), err)
			}
		}
	}
	if kinds["void"] != 6 || kinds["together"] < 6 {
		t.Errorf("too few rules of each kind: %v", kinds)
	}
}
