package issues

import (
	"time"

	"github.com/svc-observability/svc/server/store"
)

// live says whether somebody has the lease at a time.
func live(r *store.IssueRecord, at time.Time) bool {
	return r.LeaseHolderID != nil && r.LeaseExpiresAt != nil && r.LeaseExpiresAt.After(at)
}

func holds(r *store.IssueRecord, act *Act) bool {
	return live(r, act.At) && act.Actor != nil && *r.LeaseHolderID == *act.Actor
}

func conflict(r *store.IssueRecord) error {
	return &LeaseError{Holder: r.LeaseHolderID, Expires: *r.LeaseExpiresAt}
}

// lease takes the lease for an actor, or renews it. length is 0 for the length that the holder has, or the default.
func lease(r *store.IssueRecord, act *Act, length time.Duration) error {
	if act.Actor == nil {
		return nil
	}
	own := holds(r, act)
	if live(r, act.At) && !own {
		return conflict(r)
	}
	if !own {
		r.LeaseHolderID, r.ClaimedAt, r.LeaseSeconds = act.Actor, &act.At, int(defaultLease.Seconds())
	}
	if length > 0 {
		r.LeaseSeconds = int(length.Seconds())
	}
	extend(r, act.At)
	return nil
}

func extend(r *store.IssueRecord, at time.Time) {
	until := at.Add(time.Duration(r.LeaseSeconds) * time.Second)
	r.LeaseExpiresAt = &until
}

// renew renews the lease of an actor that acts on an issue, if it has the lease.
func renew(r *store.IssueRecord, act *Act) {
	if holds(r, act) {
		extend(r, act.At)
	}
}

func drop(r *store.IssueRecord) {
	r.LeaseHolderID, r.LeaseExpiresAt, r.ClaimedAt, r.LeaseSeconds = nil, nil, nil, 0
}

// Claim takes the lease of an issue, or renews it. An issue that waits for work moves to in_progress.
func Claim(r *store.IssueRecord, length time.Duration, act Act) error {
	if Closed(r.WorkflowState) {
		return &TransitionError{From: r.WorkflowState, To: store.IssueInProgress}
	}
	renewed := holds(r, &act)
	if err := lease(r, &act, length); err != nil {
		return err
	}
	payload := map[string]any{"lease_expires_at": r.LeaseExpiresAt.UTC().Format(time.RFC3339)}
	if renewed {
		payload["renewed"] = true
	}
	from, to := r.WorkflowState, ""
	switch from {
	case store.IssueTriage, store.IssueTodo, store.IssueRegressed:
		to = store.IssueInProgress
		enter(r, to, &act)
	default:
		from = ""
	}
	note(r, EventClaimed, from, to, &act, payload)
	return nil
}

// Heartbeat renews the lease of its holder.
func Heartbeat(r *store.IssueRecord, act Act) error {
	switch {
	case holds(r, &act):
		extend(r, act.At)
		return nil
	case live(r, act.At):
		return conflict(r)
	default:
		return &LeaseError{}
	}
}

// Release gives up the lease. to is the new state, empty for the usual one: an issue in progress moves to todo.
func Release(r *store.IssueRecord, to string, act Act) error {
	if live(r, act.At) && !holds(r, &act) {
		return conflict(r)
	}
	if to == "" {
		to = r.WorkflowState
		if to == store.IssueInProgress {
			to = store.IssueTodo
		}
	}
	from := r.WorkflowState
	if to != from && !Allowed(from, to, false) {
		return &TransitionError{From: from, To: to}
	}
	payload := map[string]any{}
	if r.LeaseHolderID != nil {
		payload["held"] = true
	}
	drop(r)
	if to == from {
		note(r, EventReleased, "", "", &act, payload)
		return nil
	}
	enter(r, to, &act)
	note(r, EventReleased, from, to, &act, payload)
	return nil
}

// Expire ends a lease that is over. It returns false if the lease is live, or no actor has one.
func Expire(r *store.IssueRecord, at time.Time) bool {
	if r.LeaseHolderID == nil || live(r, at) {
		return false
	}
	act := Act{At: at}
	payload := map[string]any{"holder": text(r.LeaseHolderID)}
	drop(r)
	from, to := "", ""
	if r.WorkflowState == store.IssueInProgress {
		from, to = r.WorkflowState, store.IssueTodo
		enter(r, to, &act)
	}
	note(r, EventLeaseExpired, from, to, &act, payload)
	return true
}

// Wake ends a pause that is over. It returns false if the issue does not pause, or goes on pausing.
func Wake(r *store.IssueRecord, at time.Time) bool {
	if r.WorkflowState != store.IssueWontfix || r.SnoozeUntil == nil || r.SnoozeUntil.After(at) {
		return false
	}
	act := Act{At: at}
	enter(r, store.IssueTriage, &act)
	note(r, EventUnsnoozed, store.IssueWontfix, store.IssueTriage, &act, nil)
	return true
}
