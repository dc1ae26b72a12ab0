package alerting

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/store"
)

// step is one line of a script: the input of a minute, and the expected decision.
type step struct {
	in         Input
	minutes    int // since the evaluation before; 0 means 1
	status     Status
	skip       string
	transition Transition
	event      Event
	hold       Hold
}

func value(v, samples float64) Input {
	return Input{Present: true, Value: &v, Samples: samples, Weight: 1}
}

func weighted(v, samples, weight float64) Input {
	in := value(v, samples)
	in.Weight = weight
	return in
}

var (
	absent = Input{}
	failed = Input{Failed: true}
	bad    = value(9, 100)
	good   = value(1, 100)
)

func f(v float64) *float64 { return &v }

func condition(change func(*Condition)) *Condition {
	c := &Condition{
		Comparator: "gt", Threshold: 5, BreachesRequired: 2, HealthyRequired: 2, Renotify: 30 * time.Minute, NoData: NoDataSkips,
	}
	if change != nil {
		change(c)
	}
	return c
}

var scriptStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestStep plays scripts against one group.
func TestStep(t *testing.T) {
	for name, tc := range map[string]struct {
		c      *Condition
		script []step
	}{
		"healthy": {condition(nil), []step{
			{in: good, status: Healthy, transition: None}, {in: good, status: Healthy, transition: None},
		}},
		"opens after two breaches in a row": {condition(nil), []step{
			{in: bad, status: Breached, transition: None},
			{in: good, status: Healthy, transition: None},
			{in: bad, status: Breached, transition: None},
			{in: bad, status: Breached, transition: Opened, event: Trigger},
		}},
		"skips and failures keep the count": {condition(nil), []step{
			{in: bad, status: Breached, transition: None},
			{in: absent, status: Skipped, skip: SkipNoData, transition: None},
			{in: failed, status: Failed, transition: None},
			{in: bad, status: Breached, transition: Opened, event: Trigger},
		}},
		"resolves after two healthy values": {condition(func(c *Condition) { c.BreachesRequired = 1 }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: good, status: Healthy, transition: Continued},
			{in: bad, status: Breached, transition: Continued},
			{in: good, status: Healthy, transition: Continued},
			{in: good, status: Healthy, transition: Resolved, event: Resolve},
			{in: good, status: Healthy, transition: None},
		}},
		"reminds while it is open": {condition(func(c *Condition) { c.BreachesRequired = 1; c.Renotify = 3 * time.Minute }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: bad, status: Breached, transition: Continued},
			{in: bad, status: Breached, transition: Continued},
			{in: bad, status: Breached, transition: Continued, event: Renotify},
			{in: bad, status: Breached, transition: Continued},
			{in: absent, status: Skipped, skip: SkipNoData, transition: Continued, hold: HoldNoData},
			{in: absent, status: Skipped, skip: SkipNoData, transition: Continued, event: Renotify, hold: HoldNoData},
		}},
		"a resolve threshold of its own": {condition(func(c *Condition) { c.BreachesRequired = 1; c.ResolveThreshold = f(2) }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: value(3, 100), status: Healthy, transition: Continued},
			{in: value(3, 100), status: Healthy, transition: Continued},
			{in: good, status: Healthy, transition: Continued},
			{in: value(3, 100), status: Healthy, transition: Continued},
			{in: good, status: Healthy, transition: Continued},
			{in: good, status: Healthy, transition: Resolved, event: Resolve},
		}},
		"too few samples": {condition(func(c *Condition) { c.MinimumSamples = 50 }), []step{
			{in: value(9, 49), status: Skipped, skip: SkipSamples, transition: None},
			{in: value(9, 50), status: Breached, transition: None},
			{in: value(9, 49), status: Skipped, skip: SkipSamples, transition: None},
			{in: value(9, 50), status: Breached, transition: Opened, event: Trigger},
			{in: value(1, 10), status: Skipped, skip: SkipSamples, transition: None},
		}},
		"no value": {condition(nil), []step{
			{in: Input{Present: true, Samples: 4}, status: Skipped, skip: SkipNoValue, transition: None},
		}},
		"the volume collapsed": {
			condition(func(c *Condition) { c.BreachesRequired, c.HealthyRequired, c.Renotify = 1, 1, time.Hour }),
			[]step{
				{in: bad, status: Breached, transition: Opened, event: Trigger},
				{in: value(0, 9), status: Healthy, transition: Continued, hold: HoldVolume},
				{in: value(0, 9), minutes: 29, status: Healthy, transition: Continued, hold: HoldVolume},
				{in: value(0, 9), status: Healthy, transition: Resolved, event: Resolve},
			},
		},
		"the value is the volume": {condition(func(c *Condition) { c.BreachesRequired, c.HealthyRequired, c.Volume = 1, 1, true }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: value(0, 9), status: Healthy, transition: Resolved, event: Resolve},
		}},
		"nothing is counted any more": {
			condition(func(c *Condition) { c.BreachesRequired, c.HealthyRequired, c.Volume = 1, 2, true }),
			[]step{
				{in: bad, status: Breached, transition: Opened, event: Trigger},
				{in: absent, status: Healthy, transition: Continued},
				{in: absent, status: Healthy, transition: Resolved, event: Resolve},
				{in: absent, status: Skipped, skip: SkipNoData, transition: None},
			},
		},
		"the volume comes back": {condition(func(c *Condition) { c.BreachesRequired, c.HealthyRequired = 1, 1 }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: value(0, 9), status: Healthy, transition: Continued, hold: HoldVolume},
			{in: value(0, 10), status: Healthy, transition: Resolved, event: Resolve},
		}},
		"the sampling changed": {condition(func(c *Condition) { c.BreachesRequired, c.HealthyRequired = 1, 1 }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: weighted(0, 100, 2.1), status: Healthy, transition: Continued, hold: HoldSampling},
			{in: weighted(0, 100, 2.1), minutes: 14, status: Healthy, transition: Continued, hold: HoldSampling},
			{in: weighted(0, 100, 2.1), status: Healthy, transition: Resolved, event: Resolve},
		}},
		"the data is gone": {condition(func(c *Condition) { c.BreachesRequired, c.Renotify = 1, 1000*time.Hour }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: absent, status: Skipped, skip: SkipNoData, transition: Continued, hold: HoldNoData},
			{in: absent, minutes: 59, status: Skipped, skip: SkipNoData, transition: Continued, hold: HoldNoData},
			{in: absent, status: Skipped, skip: SkipNoData, transition: Resolved, event: Resolve},
		}},
		"a failing query holds for ever": {condition(func(c *Condition) { c.BreachesRequired, c.Renotify = 1, 1000*time.Hour }), []step{
			{in: bad, status: Breached, transition: Opened, event: Trigger},
			{in: failed, minutes: 600, status: Failed, transition: Continued, hold: HoldProbeFailed},
			{in: bad, status: Breached, transition: Continued},
		}},
		"muted": {condition(func(c *Condition) {
			c.BreachesRequired, c.HealthyRequired, c.MutedUntil = 1, 1, scriptStart.Add(4*time.Minute)
		}), []step{
			{in: bad, status: Breached, transition: Opened},
			{in: good, status: Healthy, transition: Resolved},
			{in: bad, status: Breached, transition: Opened},
			{in: bad, status: Breached, transition: Continued, event: Trigger},
			{in: good, status: Healthy, transition: Resolved, event: Resolve},
		}},
		"missing data is zero": {condition(func(c *Condition) { c.Comparator, c.NoData = "lt", NoDataZero }), []step{
			{in: absent, status: Breached, transition: None},
			{in: absent, status: Breached, transition: Opened, event: Trigger},
		}},
		"missing data is a breach for a day": {condition(func(c *Condition) { c.NoData = NoDataFires }), []step{
			{in: absent, status: Skipped, skip: SkipNoData, transition: None},
			{in: good, status: Healthy, transition: None},
			{in: absent, status: Breached, transition: None},
			{in: absent, status: Breached, transition: Opened, event: Trigger},
			{in: good, status: Healthy, transition: Continued},
			{in: good, status: Healthy, transition: Resolved, event: Resolve},
			{in: absent, minutes: 24*60 - 5, status: Breached, transition: None},
			{in: absent, minutes: 2, status: Skipped, skip: SkipNoData, transition: None},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var s State
			now := scriptStart
			for i, e := range tc.script {
				now = now.Add(time.Duration(max(1, e.minutes)) * time.Minute)
				var d Decision
				s, d = Step(tc.c, s, e.in, now)
				got := step{
					in: e.in, minutes: e.minutes, status: d.Status, skip: d.SkipReason, transition: d.Transition, event: d.Event,
					hold: s.Hold,
				}
				if got != e {
					t.Fatalf("evaluation %d: got %+v, want %+v", i+1, got, e)
				}
			}
		})
	}
}

// TestCompare tries every comparator around its thresholds.
func TestCompare(t *testing.T) {
	for comparator, want := range map[string][5]bool{
		"gt": {false, false, true, true, true}, "gte": {false, true, true, true, true},
		"lt": {true, false, false, false, false}, "lte": {true, true, false, false, false},
		"eq": {false, true, false, false, false}, "neq": {true, false, true, true, true},
		"between": {false, true, true, true, false}, "not_between": {true, false, false, false, true},
		"unknown": {},
	} {
		for i, v := range []float64{0, 1, 2, 3, 4} {
			if got := Compare(comparator, v, 1, f(3)); got != want[i] {
				t.Errorf("%v %s 1 (and 3) is %v", v, comparator, got)
			}
		}
	}
}

// TestEnd: an edit or a deletion resolves an open incident, and tells it only when its trigger was told.
func TestEnd(t *testing.T) {
	if s, d := End(State{Open: true, Told: true}, "disabled"); d.Event != Resolve || d.Transition != Resolved || d.Reason != "disabled" ||
		!s.Zero() {
		t.Errorf("a told incident: %+v", d)
	}
	if _, d := End(State{Open: true}, "disabled"); d.Event != NoEvent || d.Transition != Resolved {
		t.Errorf("an untold incident: %+v", d)
	}
	if _, d := End(State{Breaches: 1}, "disabled"); d.Transition != None {
		t.Errorf("no incident: %+v", d)
	}
}

// TestVolume: a count of things recovers when there are few of them.
func TestVolume(t *testing.T) {
	for draft, want := range map[string]bool{
		`{"dataSource":"logs","aggregation":"count"}`: true, `{"dataSource":"traces","aggregation":"p95"}`: false,
		`{"queries":[{"aggregation":"sum"},{"aggregation":"avg"}]}`: true, `{"dataSource":"traces","aggregation":"error_rate"}`: false,
	} {
		if got := ConditionOf(&store.AlertRule{SignalType: "builder_query", QueryBuilderDraft: []byte(draft)}).Volume; got != want {
			t.Errorf("%s: %v", draft, got)
		}
	}
	if !ConditionOf(&store.AlertRule{SignalType: "throughput"}).Volume || ConditionOf(&store.AlertRule{SignalType: "error_rate"}).Volume {
		t.Error("a throughput is a volume, an error rate is not")
	}
}
