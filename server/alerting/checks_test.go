package alerting

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestCheckSums compares the sums of random checks with those of a loop over them, for minutes and for hours that the range cuts.
func TestCheckSums(t *testing.T) {
	w, org := warehousetest.Shared(t), warehousetest.OrgID(t)
	rnd := rand.New(rand.NewPCG(3, 9))
	end := time.Now().UTC().Truncate(time.Hour)
	var checks []Check
	for range 5000 {
		value := float64(rnd.IntN(100))
		c := Check{
			Org: org, RuleID: "alrt_sums", At: end.Add(-time.Duration(rnd.IntN(50*60)) * time.Minute), GroupKey: fmt.Sprint("g", rnd.IntN(6)),
			Status:     []Status{Breached, Healthy, Skipped, Failed}[rnd.IntN(4)],
			Transition: []Transition{None, Opened, Continued, Resolved}[rnd.IntN(4)],
		}
		// The threshold of a minute is the same for all, so that the last one of a bucket is known.
		c.Threshold = float64(c.At.Unix() / 60)
		if rnd.IntN(3) > 0 {
			c.ObservedValue = &value
		}
		checks = append(checks, c)
	}
	waits := &waiting{failures: 1, groups: []store.AlertCheckGroup{{ID: uuid.New(), Batches: []store.AlertCheckBatch{pack(t, checks...)}}}}
	r := Recorder{Waiting: waits, Into: w}
	_ = r.Record(t.Context(), store.Fence{}) // dies after the insert, so that the next one repeats it
	if err := r.Record(t.Context(), store.Fence{}); err != nil {
		t.Fatal(err)
	}
	for _, span := range []reads.AlertCheckSpan{
		{Since: end.Add(-90 * time.Minute), Until: end, Bucket: time.Minute},
		{Since: end.Add(-47*time.Hour - 13*time.Minute), Until: end.Add(-7 * time.Minute), Bucket: time.Hour},
		{Since: end.Add(-40*time.Hour + time.Minute), Until: end.Add(-2 * time.Hour), Bucket: 4 * time.Hour, Group: "g1"},
		{Since: end.Add(-20 * time.Minute), Until: end.Add(-10 * time.Minute), Bucket: time.Hour},
	} {
		span.Rule = "alrt_sums"
		shown := []string{"g1", "g3"}
		got, err := read.All[reads.AlertCheckPointRow](t.Context(), w, org, reads.AlertCheckPoints(span, shown, "rest"))
		if err != nil {
			t.Fatal(err)
		}
		want := sumChecks(checks, span, shown)
		if len(got) != len(want) || len(want) == 0 {
			t.Errorf("%v: %d points, want %d", span, len(got), len(want))
		}
		for _, p := range got {
			text := fmt.Sprint(p.Bucket.Unix(), p.GroupKey)
			if want, is := want[text], pointText(p); want == nil || is != pointText(*want) {
				t.Errorf("%v: point %s is %s, want %v", span, text, is, want)
			}
		}
		groups, err := read.All[reads.AlertCheckGroupRow](t.Context(), w, org, reads.AlertCheckGroups(span, 3))
		if err != nil || len(groups) != 3 && span.Group == "" || len(groups) != 1 && span.Group != "" {
			t.Errorf("%v: groups %v, %v", span, groups, err)
		}
	}
}

func pointText(p reads.AlertCheckPointRow) string {
	lowest, highest := "-", "-"
	if p.Lowest != nil {
		lowest, highest = fmt.Sprint(*p.Lowest), fmt.Sprint(*p.Highest)
	}
	return fmt.Sprint(p.Checks, " ", p.Breached, " ", p.Healthy, " ", p.Skipped, " ", p.Errors, " ", p.Transitions, " ", lowest, " ",
		highest, " ", p.Threshold)
}

func sumChecks(checks []Check, span reads.AlertCheckSpan, shown []string) map[string]*reads.AlertCheckPointRow {
	out := map[string]*reads.AlertCheckPointRow{}
	for _, c := range checks {
		if c.At.Before(span.Since) || c.At.After(span.Until) || span.Group != "" && c.GroupKey != span.Group {
			continue
		}
		group := "rest"
		for _, s := range shown {
			if s == c.GroupKey {
				group = s
			}
		}
		key := fmt.Sprint(c.At.Truncate(span.Bucket).Unix(), group)
		p := out[key]
		if p == nil {
			p = &reads.AlertCheckPointRow{}
			out[key] = p
		}
		p.Checks++
		switch c.Status {
		case Breached:
			p.Breached++
		case Healthy:
			p.Healthy++
		case Skipped:
			p.Skipped++
		case Failed:
			p.Errors++
		}
		if c.Transition == Opened || c.Transition == Resolved {
			p.Transitions++
		}
		if v := c.ObservedValue; v != nil {
			if p.Lowest == nil || *v < *p.Lowest {
				p.Lowest = v
			}
			if p.Highest == nil || *v > *p.Highest {
				p.Highest = v
			}
		}
		p.Threshold = max(p.Threshold, c.Threshold)
	}
	return out
}
