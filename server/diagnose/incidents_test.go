package diagnose

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

// noon is the begin of the day of these tests.
func noon() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }

// change is a symptom from a minute after noon to another.
func change(kind, service string, from, to int, score float64) symptom {
	return symptom{
		kind: kind, service: service, environment: "production", from: noon().Add(time.Duration(from) * time.Minute),
		to: noon().Add(time.Duration(to) * time.Minute), score: score, value: 10, usual: 1,
	}
}

// calls of a shop: web calls cart and search, cart calls payments.
func shopCalls() map[[2]string]bool {
	return map[[2]string]bool{{"web", "cart"}: true, {"web", "search"}: true, {"cart", "payments"}: true}
}

func TestClusters(t *testing.T) {
	failed := func(service string, from, to int, score float64) symptom {
		return change(errorRate, service, from, to, score)
	}
	sharing := change(dependencyLatency, "search", 11, 38, 60)
	sharing.subject = "postgresql orders"
	other := change(dependencyLatency, "reports", 12, 38, 50)
	other.subject = "postgresql orders"
	for name, c := range map[string]struct {
		symptoms []symptom
		// services are those of each incident, the one with the cause first.
		services [][]string
	}{
		"one service": {[]symptom{failed("cart", 10, 40, 100)}, [][]string{{"cart"}}},
		"callers fail with it": {[]symptom{
			failed("web", 11, 40, 300), failed("cart", 11, 40, 200),
			failed("payments", 10, 40, 100),
		}, [][]string{{"payments", "web", "cart"}}},
		"a weak change below is not a cause": {
			[]symptom{failed("cart", 10, 40, 300), change(latency, "payments", 10, 40, 21)},
			[][]string{{"cart", "payments"}},
		},
		"services that do not call each other": {
			[]symptom{failed("cart", 10, 40, 100), failed("mail", 10, 40, 90)},
			[][]string{{"cart"}, {"mail"}},
		},
		"hours apart": {
			[]symptom{failed("cart", 10, 40, 100), failed("cart", 300, 340, 90)},
			[][]string{{"cart"}, {"cart"}},
		},
		"one database": {[]symptom{sharing, other}, [][]string{{"search", "reports"}}},
		"a resource fills first": {
			[]symptom{failed("cart", 100, 140, 200), change(resource, "cart", 0, 140, 90)},
			[][]string{{"cart"}},
		},
		"an oddity":          {[]symptom{change(logRecords, "cart", 10, 40, 25)}, nil},
		"a flood of records": {[]symptom{change(logRecords, "cart", 10, 40, 500)}, [][]string{{"cart"}}},
	} {
		var got [][]string
		for _, found := range clusters(c.symptoms, shopCalls(), nil) {
			got = append(got, found.services())
		}
		if diff := cmp.Diff(c.services, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBound: the first symptom begins an incident, and the last one that callers feel ends it. Weak changes do not count.
func TestBound(t *testing.T) {
	i := &incident{cluster: cluster{symptoms: []symptom{
		change(errorRate, "cart", 12, 40, 400), change(resource, "cart", 10, 90, 200), change(latency, "web", 12, 44, 100),
		change(logRecords, "cart", 2, 200, 5),
	}}}
	i.bound()
	if i.first.kind != resource || !i.window.Start.Equal(noon().Add(10*time.Minute)) || !i.window.End.Equal(noon().Add(44*time.Minute)) ||
		i.open {
		t.Errorf("%s, %s to %s, open %v", i.first.kind, i.window.Start, i.window.End, i.open)
	}
	last := change(errorRate, "cart", 12, 60, 400)
	last.open = true
	i = &incident{cluster: cluster{symptoms: []symptom{last}}}
	if i.bound(); !i.open {
		t.Error("it is not open")
	}
}

// TestBefore: the time before an incident is compared with it, or the time after if there is none before.
func TestBefore(t *testing.T) {
	s := newSearch(Period{noon(), noon().Add(6 * time.Hour)}, Scope{})
	at := func(from, to int) *incident {
		return &incident{search: s, window: Period{noon().Add(time.Duration(from) * time.Minute), noon().Add(time.Duration(to) * time.Minute)}}
	}
	minutes := func(p Period) [2]int {
		return [2]int{int(p.Start.Sub(noon()).Minutes()), int(p.End.Sub(noon()).Minutes())}
	}
	for _, c := range []struct{ of, want [2]int }{
		{[2]int{100, 160}, [2]int{30, 90}},       // as long
		{[2]int{100, 105}, [2]int{60, 90}},       // at least half an hour
		{[2]int{-355, -300}, [2]int{-290, -235}}, // as old as the data: the time after it
	} {
		if got := minutes(at(c.of[0], c.of[1]).before()); got != c.want {
			t.Errorf("%v is compared with %v, want %v", c.of, got, c.want)
		}
	}
}

func TestIncidentMarker(t *testing.T) {
	i := &incident{service: "cart", names: []string{"cart", "web"}, window: Period{noon(), noon().Add(30 * time.Minute)}}
	add := func(id, kind, service string, minute int) {
		m := &svcv2.Marker{Id: id, Kind: kind, Title: id, OccurredAt: timestamppb.New(noon().Add(time.Duration(minute) * time.Minute))}
		if service != "" {
			m.ServiceName = &service
		}
		i.markers = append(i.markers, m)
	}
	for _, step := range []struct {
		id, kind, service string
		minute            int
		want              string
	}{
		{"a note", "note", "cart", -1, ""},
		{"too early", "deploy", "cart", -21, ""},
		{"too late", "deploy", "cart", 5, ""},
		{"for all", "configuration", "", -2, "for all"},
		{"of a caller", "deploy", "web", -10, "of a caller"},
		{"its own", "flag", "cart", -15, "its own"},
		{"its own, nearer", "deploy", "cart", -3, "its own, nearer"},
		{"its own, late", "deploy", "cart", 4, "its own, nearer"},
	} {
		add(step.id, step.kind, step.service, step.minute)
		if got := i.marker(); got.target != step.want {
			t.Errorf("after %q: %q, want %q", step.id, got.target, step.want)
		}
	}
}

// TestRanked: the figures of values, and the ones left out.
func TestRanked(t *testing.T) {
	sizes := reads.DifferenceSizesRow{Selected: 100, Other: 900, SelectedEstimated: 200, OtherEstimated: 900}
	d := reads.Difference{Source: query.Traces, SelectedShare: 1, OtherShare: 1}
	row := func(key, value string, selected, other uint64) reads.DifferenceRow {
		return reads.DifferenceRow{
			Key: key, Value: value, Selected: selected, Other: other, SelectedEstimated: 2 * float64(selected), OtherEstimated: float64(other),
			KeySelected: 200, KeyOther: 900, Values: 3,
		}
	}
	one := row("request.id", "r1", 3, 0)
	one.Values = 900
	got, left := ranked([]reads.DifferenceRow{
		row("region", "eu", 90, 90), row("zone", "eu-1", 90, 91), row("host", "a", 30, 270), row("host", "b", 12, 90),
		row("canary", "yes", 100, 0), one,
	}, sizes, d)
	if len(got) != 2 || got[0].GetKey() != "canary" || got[1].GetKey() != "region" {
		t.Fatalf("values: %v", got)
	}
	if v := got[0]; v.GetSelectedShare() != 1 || v.GetOtherShare() != 0 || v.GetRateWith() != 1 || v.GetRateWithout() != 0 || v.Lift != nil {
		t.Errorf("the value that all have: %v", v)
	}
	// 180 of 270 spans with the value are selected, 20 of 830 without it.
	v, with, without := got[1], 180.0/270, 20.0/830
	if v.GetSelectedShare() != 0.9 || v.GetOtherShare() != 0.1 || !near(v.GetRateWith(), with) || !near(v.GetRateWithout(), without) ||
		!near(v.GetLift(), with/without) {
		t.Errorf("the region: %v", v)
	}
	if diff := cmp.Diff([]string{"zone=eu-1"}, v.GetSameRows()); diff != "" {
		t.Errorf("same rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"request.id: 900 values, nearly one for each row"}, left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func near(x, y float64) bool { return x > y-1e-9 && x < y+1e-9 }

// TestPeriodsDoNotMeet: a span at the start of a period is not in the period before, since both include their ends.
func TestPeriodsDoNotMeet(t *testing.T) {
	p := Period{noon(), noon().Add(time.Hour)}
	if got := p.Before(); !got.End.Before(p.Start) || !got.Start.Equal(noon().Add(-time.Hour)) {
		t.Errorf("before %v is %v", p, got)
	}
}
