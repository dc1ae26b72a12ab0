package benchdiagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/demo"
)

const (
	// late is the largest distance between a right begin and the fault.
	late = 5 * time.Minute
	// aftermath is the time around a fault in which an incident belongs to it: an average needs some minutes to calm down.
	aftermath = 15 * time.Minute
)

// verdict is the answer about one fault.
type verdict struct {
	seed uint64
	// plan is the kind that was planted: that of the fault, or two at once.
	plan  string
	fault demo.Fault
	// answer is the incident that comes nearest to the fault, nil without one at its time.
	answer *svcv2.Incident
	// service and cause say which parts of it are right; off is the distance of its begin from the fault.
	service, cause bool
	off            time.Duration
}

func (v verdict) right() bool { return v.service && v.cause && v.inTime() }

func (v verdict) inTime() bool { return v.service && v.off.Abs() <= late }

// points orders the incidents that may answer a fault.
func (v verdict) points() int {
	n := 0
	for i, good := range []bool{v.inTime(), v.cause, v.service} {
		if good {
			n += 1 << i
		}
	}
	return n
}

// judge compares the incidents of a run with its faults. False incidents lie at another time than all of them.
func judge(r run, faults []demo.Fault, incidents []*svcv2.Incident) (list []verdict, wrong []*svcv2.Incident) {
	used := map[*svcv2.Incident]bool{}
	for _, f := range faults {
		best := verdict{seed: r.seed, plan: r.kind, fault: f}
		for _, i := range incidents {
			if !near(i, f) {
				continue
			}
			v := verdict{seed: r.seed, plan: r.kind, fault: f, answer: i}
			v.service = slices.Contains(f.Truth.Services, i.GetServiceName())
			v.cause = v.service && slices.ContainsFunc(f.Truth.Causes, func(c demo.Cause) bool { return agrees(i.GetCause(), c) })
			v.off = distance(i.GetStartTime().AsTime(), f.Start, f.Truth.Felt)
			if best.answer == nil || v.points() > best.points() {
				best = v
			}
		}
		used[best.answer] = true
		list = append(list, best)
	}
	for _, i := range incidents {
		if !used[i] && !slices.ContainsFunc(faults, func(f demo.Fault) bool { return near(i, f) }) {
			wrong = append(wrong, i)
		}
	}
	return list, wrong
}

// near tells whether an incident lies in the time of a fault.
func near(i *svcv2.Incident, f demo.Fault) bool {
	end := i.GetStartTime().AsTime().Add(time.Minute)
	if i.EndTime != nil {
		end = i.GetEndTime().AsTime()
	}
	return end.After(f.Start.Add(-aftermath)) && i.GetStartTime().AsTime().Before(f.End.Add(aftermath))
}

func agrees(got *svcv2.IncidentCause, want demo.Cause) bool {
	said := strings.Join([]string{got.GetTarget(), got.GetAttributeKey(), got.GetAttributeValue(), got.GetStatement()}, "\n")
	return got.GetKind() == want.Kind && strings.Contains(strings.ToLower(said), strings.ToLower(want.Contains))
}

// distance is how far a time is from the span between two others: negative before it, 0 in it.
func distance(at, from, to time.Time) time.Duration {
	switch {
	case at.Before(from):
		return at.Sub(from)
	case at.After(to):
		return at.Sub(to)
	}
	return 0
}

func TestJudge(t *testing.T) {
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	fault := demo.Fault{Name: demo.KindQuery, Start: minute(10), End: minute(60), Truth: &demo.Truth{
		Services: []string{"catalog"}, Causes: []demo.Cause{{Kind: "dependency", Contains: "orders"}}, Felt: minute(20),
	}}
	incident := func(service, kind, target string, from, to int) *svcv2.Incident {
		return &svcv2.Incident{
			ServiceName: service, StartTime: timestamppb.New(minute(from)), EndTime: timestamppb.New(minute(to)),
			Cause: &svcv2.IncidentCause{Kind: kind, Target: &target},
		}
	}
	for name, c := range map[string]struct {
		incident                     *svcv2.Incident
		service, cause, right, wrong bool
		off                          time.Duration
	}{
		"right":                {incident("catalog", "dependency", "orders", 15, 60), true, true, true, false, 0},
		"a little early":       {incident("catalog", "dependency", "orders", 6, 60), true, true, true, false, -4 * time.Minute},
		"late":                 {incident("catalog", "dependency", "orders", 26, 60), true, true, false, false, 6 * time.Minute},
		"another cause":        {incident("catalog", "dependency", "cache", 15, 60), true, false, false, false, 0},
		"another kind":         {incident("catalog", "error", "orders", 15, 60), true, false, false, false, 0},
		"another service":      {incident("cart", "dependency", "orders", 15, 60), false, false, false, false, 0},
		"at another time":      {incident("catalog", "dependency", "orders", -100, -60), false, false, false, true, 0},
		"long after it":        {incident("catalog", "dependency", "orders", 80, 90), false, false, false, true, 0},
		"shortly after it":     {incident("cart", "latency", "", 65, 80), false, false, false, false, 45 * time.Minute},
		"the end of it, alone": {incident("catalog", "dependency", "orders", 55, 65), true, true, false, false, 35 * time.Minute},
	} {
		list, wrong := judge(run{}, []demo.Fault{fault}, []*svcv2.Incident{c.incident})
		v := list[0]
		if v.service != c.service || v.cause != c.cause || v.right() != c.right || v.off != c.off || len(wrong) == 1 != c.wrong {
			t.Errorf("%s: %+v, right %v, %d wrong", name, v, v.right(), len(wrong))
		}
	}
	two := []*svcv2.Incident{incident("cart", "error", "", 12, 60), incident("catalog", "dependency", "orders", 12, 60)}
	list, wrong := judge(run{}, []demo.Fault{fault}, two)
	if !list[0].right() || len(wrong) != 0 {
		t.Errorf("of two incidents the worse is taken: %+v, %d wrong", list[0], len(wrong))
	}
	if list, wrong := judge(run{}, nil, []*svcv2.Incident{incident("cart", "error", "", 12, 60)}); len(list) != 0 || len(wrong) != 1 {
		t.Errorf("on a quiet day: %v, %v", list, wrong)
	}
}
