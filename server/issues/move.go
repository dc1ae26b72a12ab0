// Package issues has the rules of error issues: the states and the moves between them, the leases of actors that work on an issue, and the
// effect of occurrences. Its functions edit a record and note events; the store saves them in one transaction. Worker acts without a
// request: it applies occurrences, ends leases and pauses, and sends messages.
package issues

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Types of events.
const (
	EventCreated       = "created"
	EventMoved         = "state_change"
	EventAssigned      = "assignment"
	EventClaimed       = "claim"
	EventReleased      = "release"
	EventLeaseExpired  = "lease_expired"
	EventComment       = "comment"
	EventAgentNote     = "agent_note"
	EventFixProposed   = "fix_proposed"
	EventRegressed     = "regression"
	EventSnoozed       = "snooze"
	EventUnsnoozed     = "unsnooze"
	EventSeverity      = "severity_change"
	EventLinked        = "pr_linked"
	EventUnlinked      = "pr_unlinked"
	EventPullMerged    = "pr_merged"
	EventVerifying     = "verification_started"
	EventVerdict       = "verification_verdict"
	EventMerged        = "merged"
	EventSplit         = "split"
	reasonFirstSeen    = "first_seen"
	reasonRegression   = "regression"
	sourceAI           = "ai"
	sourceManual       = "manual"
	incidentResolved   = store.IncidentResolved
	incidentOpen       = store.IncidentOpen
	defaultLease       = limits.IssueLease
	graceWithoutName   = limits.IssueRegressionGrace
	staticVersionAfter = limits.IssueStaticVersion
)

// LinkAuto is the source of the link of a pull request that names the issue. The server makes it.
const LinkAuto = "auto"

// moves are the states that a caller may move an issue to.
func moves() map[string][]string {
	return map[string][]string{
		store.IssueTriage: {store.IssueTodo, store.IssueInProgress, store.IssueDone, store.IssueCancelled, store.IssueWontfix},
		store.IssueRegressed: {
			store.IssueTriage, store.IssueTodo, store.IssueInProgress, store.IssueDone, store.IssueCancelled,
			store.IssueWontfix,
		},
		store.IssueTodo: {store.IssueTriage, store.IssueInProgress, store.IssueDone, store.IssueCancelled, store.IssueWontfix},
		store.IssueInProgress: {
			store.IssueTriage, store.IssueTodo, store.IssueInReview, store.IssueVerifying, store.IssueDone,
			store.IssueCancelled, store.IssueWontfix,
		},
		store.IssueInReview: {
			store.IssueTriage, store.IssueInProgress, store.IssueVerifying, store.IssueDone, store.IssueCancelled,
			store.IssueWontfix,
		},
		store.IssueVerifying: {
			store.IssueTriage, store.IssueTodo, store.IssueInProgress, store.IssueInReview, store.IssueDone,
			store.IssueCancelled, store.IssueWontfix,
		},
		store.IssueDone: {
			store.IssueTriage, store.IssueRegressed, store.IssueInProgress, store.IssueVerifying, store.IssueCancelled,
			store.IssueWontfix,
		},
		store.IssueCancelled: nil,
		store.IssueWontfix:   {store.IssueTriage, store.IssueCancelled},
	}
}

// States lists the states of issues.
func States() []string { return slices.Sorted(maps.Keys(moves())) }

// TransitionError reports a move that is not allowed.
type TransitionError struct{ From, To string }

func (e *TransitionError) Error() string {
	if machine(e.To) {
		return fmt.Sprintf("only the server moves an issue to %s", e.To)
	}
	to := slices.DeleteFunc(moves()[e.From], machine)
	if len(to) == 0 {
		return fmt.Sprintf("an issue in %s never moves", e.From)
	}
	return fmt.Sprintf("an issue in %s cannot move to %s; it can move to %s", e.From, e.To, list(to))
}

func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		text := words[0]
		for _, w := range words[1 : n-1] {
			text += ", " + w
		}
		return text + " or " + words[n-1]
	}
}

// LeaseError reports that another actor has the lease of an issue, or that the caller has none.
type LeaseError struct {
	// Holder is nil if no actor has the lease.
	Holder  *uuid.UUID
	Expires time.Time
}

func (e *LeaseError) Error() string {
	if e.Holder == nil {
		return "the lease is over; claim the issue again"
	}
	return "another actor works on the issue until " + e.Expires.UTC().Format(time.RFC3339)
}

// ErrSnooze reports an end of a pause that is not in the future, or a pause of another state than wontfix.
var ErrSnooze = errors.New("snooze_until needs the state wontfix and a time in the future")

// machine says whether only the server moves an issue to a state.
func machine(state string) bool {
	return state == store.IssueRegressed || state == store.IssueVerifying
}

// Closed says whether an issue in a state cannot be claimed.
func Closed(state string) bool { return state == store.IssueDone || state == store.IssueCancelled }

// quiet says whether occurrences of an issue in a state open no incident and send no message.
func quiet(state string) bool { return state == store.IssueCancelled || state == store.IssueWontfix }

// Act is one act on an issue.
type Act struct {
	// Actor is nil for the server itself.
	Actor *uuid.UUID
	At    time.Time
	Note  string
	// Snooze is the end of a pause, with wontfix.
	Snooze *time.Time
	// Versions are the versions of the service that run, for a move to done.
	Versions []string
}

func (a *Act) payload(more map[string]any) map[string]any {
	out := maps.Clone(more)
	if out == nil {
		out = map[string]any{}
	}
	if a.Note != "" {
		out["note"] = a.Note
	}
	return out
}

// Allowed reports whether the table has a move. The server itself may also do the moves of regressed and verifying.
func Allowed(from, to string, server bool) bool {
	return (server || !machine(to)) && slices.Contains(moves()[from], to)
}

// Move moves an issue for a caller. A move to its state changes nothing. A move to in_progress takes the lease.
func Move(r *store.IssueRecord, to string, act Act) error {
	if act.Snooze != nil && (to != store.IssueWontfix || !act.Snooze.After(act.At)) {
		return ErrSnooze
	}
	if r.WorkflowState == to && !machine(to) {
		renew(r, &act)
		return nil
	}
	if !Allowed(r.WorkflowState, to, false) {
		return &TransitionError{From: r.WorkflowState, To: to}
	}
	if to == store.IssueInProgress {
		if err := lease(r, &act, 0); err != nil {
			return err
		}
	}
	from := r.WorkflowState
	enter(r, to, &act)
	more := map[string]any{}
	if r.SnoozeUntil != nil {
		more["snooze_until"] = r.SnoozeUntil.UTC().Format(time.RFC3339)
	}
	note(r, EventMoved, from, to, &act, more)
	switch {
	case to == store.IssueWontfix && r.SnoozeUntil != nil:
		note(r, EventSnoozed, "", "", &Act{Actor: act.Actor}, more)
	case from == store.IssueWontfix:
		note(r, EventUnsnoozed, "", "", &Act{Actor: act.Actor}, nil)
	}
	renew(r, &act)
	return nil
}

// enter makes a new state the present one, with its effects. It checks nothing.
func enter(r *store.IssueRecord, to string, act *Act) {
	from := r.WorkflowState
	r.WorkflowState = to
	supersede(r, act.At) // a verdict ends its check before it moves the issue
	if from == store.IssueDone {
		r.ResolvedAt = nil
	}
	if from == store.IssueWontfix {
		r.SnoozeUntil = nil
	}
	if Closed(to) {
		drop(r)
	}
	if to == store.IssueDone {
		r.ResolvedAt, r.LastResolvedAt = &act.At, &act.At
		r.ResolvedVersions = known(act.Versions, r.Versions)
	}
	if to == store.IssueWontfix {
		r.SnoozeUntil = act.Snooze
	}
	if (Closed(to) || quiet(to)) && r.Incident != nil {
		resolve(r.Incident, act.At)
	}
	if !Closed(to) {
		r.ArchivedAt = nil
	}
}

func resolve(in *store.ErrorIncident, at time.Time) { in.Status, in.ResolvedAt = incidentResolved, &at }

func note(r *store.IssueRecord, kind, from, to string, act *Act, payload map[string]any) {
	r.Events = append(r.Events, store.IssueEvent{Type: kind, Actor: act.Actor, From: from, To: to, Payload: act.payload(payload)})
}

// known are the names of both lists, without repetitions and without the empty one.
func known(lists ...[]string) []string {
	var out []string
	for _, name := range slices.Concat(lists...) {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
