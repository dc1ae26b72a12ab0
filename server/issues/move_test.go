package issues

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/store"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func in(state string) *store.IssueRecord {
	r := &store.IssueRecord{ErrorIssue: store.ErrorIssue{WorkflowState: state}}
	if state == store.IssueDone {
		r.ResolvedAt = &start
	}
	return r
}

// TestMoves tries all moves of a caller and of the server. The table is written out here, so that a change of the code shows.
func TestMoves(t *testing.T) {
	order := []string{"triage", "regressed", "todo", "in_progress", "in_review", "verifying", "done", "cancelled", "wontfix"}
	// A letter is a move of a caller, M one of the server alone.
	table := []string{
		//       tri reg tod prog rev ver don can won
		"triage      . . c c . . c c c",
		"regressed   c . c c . . c c c",
		"todo        c . . c . . c c c",
		"in_progress c . c . c M c c c",
		"in_review   c . . c . M c c c",
		"verifying   c . c c c . c c c",
		"done        c M . c . M . c c",
		"cancelled   . . . . . . . . .",
		"wontfix     c . . . . . . c .",
	}
	if !slices.Equal(States(), slices.Sorted(slices.Values(order))) {
		t.Fatalf("states %v", States())
	}
	for i, line := range table {
		from, cells := order[i], line[len(line)-17:]
		for j, to := range order {
			cell := cells[2*j]
			if got := Allowed(from, to, false); got != (cell == 'c') {
				t.Errorf("a caller moves %s to %s: %v", from, to, got)
			}
			if got := Allowed(from, to, true); got != (cell != '.') {
				t.Errorf("the server moves %s to %s: %v", from, to, got)
			}
			actor := uuid.New()
			r := in(from)
			err := Move(r, to, Act{Actor: &actor, At: start})
			var refused *TransitionError
			switch {
			case from == to && !machine(to):
				if err != nil || len(r.Events) != 0 {
					t.Errorf("%s stays: %v, %d events", from, err, len(r.Events))
				}
			case cell == 'c':
				if err != nil || r.WorkflowState != to || len(r.Events) == 0 || r.Events[0].Type != EventMoved {
					t.Errorf("%s to %s: %v, now %s, events %v", from, to, err, r.WorkflowState, r.Events)
				}
			default:
				if !errors.As(err, &refused) || r.WorkflowState != from || len(r.Events) != 0 || r.LeaseHolderID != nil {
					t.Errorf("%s to %s is refused with %v; now %s", from, to, err, r.WorkflowState)
				}
			}
		}
	}
}

// TestEffects checks the effects of states.
func TestEffects(t *testing.T) {
	actor, later := uuid.New(), start.Add(time.Hour)
	r := in(store.IssueTodo)
	r.Versions = []string{"1.1"}
	must(t, Move(r, store.IssueInProgress, Act{Actor: &actor, At: start}))
	if r.LeaseHolderID == nil || *r.LeaseHolderID != actor || !r.LeaseExpiresAt.Equal(start.Add(30*time.Minute)) {
		t.Errorf("lease %v until %v", r.LeaseHolderID, r.LeaseExpiresAt)
	}
	r.Incident = &store.ErrorIncident{Status: store.IncidentOpen}
	must(t, Move(r, store.IssueDone, Act{Actor: &actor, At: start, Versions: []string{"1.2", "1.1", ""}}))
	if r.LeaseHolderID != nil || r.ResolvedAt == nil || !slices.Equal(r.ResolvedVersions, []string{"1.1", "1.2"}) ||
		r.Incident.Status != store.IncidentResolved {
		t.Errorf("done: %+v", r)
	}
	must(t, Move(r, store.IssueWontfix, Act{Actor: &actor, At: start, Snooze: &later}))
	if r.ResolvedAt != nil || r.LastResolvedAt == nil || !r.SnoozeUntil.Equal(later) || r.Events[len(r.Events)-1].Type != EventSnoozed {
		t.Errorf("wontfix: %+v", r)
	}
	if Wake(r, start) || !Wake(r, later) || r.WorkflowState != store.IssueTriage || r.SnoozeUntil != nil {
		t.Errorf("woken: %+v", r)
	}
	if err := Move(r, store.IssueWontfix, Act{At: start, Snooze: &start}); !errors.Is(err, ErrSnooze) {
		t.Errorf("a pause that is over: %v", err)
	}
	if err := Move(r, store.IssueTodo, Act{At: start, Snooze: &later}); !errors.Is(err, ErrSnooze) {
		t.Errorf("a pause in todo: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestLeases plays two agents and a clock against a model of the holder of the lease and its end.
func TestLeases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agents := []uuid.UUID{uuid.New(), uuid.New()}
		r, now := in(store.IssueTodo), start
		holder, until, length := -1, start, time.Duration(0)
		free := func() bool { return holder < 0 || !until.After(now) }
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			who := rapid.IntRange(0, 1).Draw(t, "agent")
			act := Act{Actor: &agents[who], At: now}
			mine := !free() && holder == who
			var err error
			var lease *LeaseError
			switch step := rapid.SampledFrom([]string{"claim", "heartbeat", "release", "comment", "fix", "wait", "tick"}).Draw(t, "step"); step {
			case "wait":
				now = now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "seconds")) * time.Second)
			case "tick":
				ended := Expire(r, now)
				if over := holder >= 0 && !until.After(now); ended != over {
					t.Fatalf("the lease ended: %v, and it is over: %v", ended, over)
				}
				if ended {
					holder = -1
				}
			case "claim":
				asked := time.Duration(rapid.IntRange(60, 7200).Draw(t, "length")) * time.Second
				err = Claim(r, asked, act)
				if free() || mine {
					if err != nil {
						t.Fatalf("claim of a free issue: %v", err)
					}
					holder, length, until = who, asked, now.Add(asked)
				} else if !errors.As(err, &lease) || lease.Holder == nil || *lease.Holder != agents[holder] || !lease.Expires.Equal(until) {
					t.Fatalf("claim of another's issue: %v", err)
				}
			case "heartbeat":
				if err = Heartbeat(r, act); (err == nil) != mine {
					t.Fatalf("heartbeat: %v, and the lease is its own: %v", err, mine)
				}
				if mine {
					until = now.Add(length)
				}
			case "release":
				if err = Release(r, "", act); (err == nil) != (free() || mine) {
					t.Fatalf("release: %v", err)
				}
				if err == nil {
					holder = -1
				}
			case "comment":
				Comment(r, "text", "internal", true, act)
				if mine {
					until = now.Add(length)
				}
			case "fix":
				err = Propose(r, Fix{Summary: "x"}, act)
				if (err == nil) != (free() || mine) {
					t.Fatalf("fix: %v", err)
				}
				if err == nil {
					if !mine {
						length = defaultLease
					}
					holder, until = who, now.Add(length)
					if r.WorkflowState != store.IssueInReview {
						t.Fatalf("after a fix the issue is in %s", r.WorkflowState)
					}
				}
			}
			if held := live(r, now); held == free() || held && (*r.LeaseHolderID != agents[holder] || !r.LeaseExpiresAt.Equal(until)) {
				t.Fatalf("the lease is %v until %v; the model says %d until %v at %v", r.LeaseHolderID, r.LeaseExpiresAt, holder, until, now)
			}
		}
		claims := 0
		for _, e := range r.Events {
			if e.Type == EventClaimed && e.From != "" && e.To != store.IssueInProgress {
				t.Fatalf("a claim moved to %s", e.To)
			}
			if e.Type == EventMoved {
				claims++
			}
		}
		if claims > 0 {
			t.Fatalf("%d events beside those of claims", claims)
		}
	})
}

// TestProposal checks the ways to in_review, and that a refusal writes nothing.
func TestProposal(t *testing.T) {
	for from, ok := range map[string]bool{
		"triage": true, "regressed": true, "todo": true, "in_progress": true, "in_review": true, "verifying": true, "done": true,
		"cancelled": false, "wontfix": false,
	} {
		actor := uuid.New()
		r := in(from)
		err := Propose(r, Fix{Summary: "x", URL: "https://github.com/a/b/pull/1"}, Act{Actor: &actor, At: start})
		if (err == nil) != ok {
			t.Errorf("%s: %v", from, err)
		}
		if ok && (r.WorkflowState != store.IssueInReview || r.LeaseHolderID == nil || len(r.Events) != 1 ||
			r.Events[0].Type != EventFixProposed) {
			t.Errorf("%s: %+v", from, r)
		}
		if !ok && (r.WorkflowState != from || len(r.Events) > 0 || r.LeaseHolderID != nil) {
			t.Errorf("%s is changed by a refusal: %+v", from, r)
		}
	}
}

// TestSeverity checks that a person's choice stays.
func TestSeverity(t *testing.T) {
	high, low := "high", "low"
	r := in(store.IssueTriage)
	if !SetSeverity(r, &low, SeverityBy(true), Act{At: start}) || *r.SeveritySource != "ai" {
		t.Error("an agent cannot set the severity")
	}
	if !SetSeverity(r, &high, SeverityBy(false), Act{At: start}) || *r.SeveritySource != "manual" {
		t.Error("a person cannot set the severity")
	}
	if SetSeverity(r, &low, SeverityBy(true), Act{At: start}) || *r.Severity != high || len(r.Events) != 2 {
		t.Errorf("an agent changed a person's choice: %+v", r)
	}
	if !SetSeverity(r, nil, SeverityBy(false), Act{At: start}) || r.Severity != nil || r.SeveritySource != nil {
		t.Errorf("not cleared: %+v", r)
	}
}
