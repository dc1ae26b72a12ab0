package outcome

import (
	"container/list"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

const (
	recentOutcomes = limits.ShownOutcomes
	problemSorts   = limits.ShownProblems
	problemsOfSort = limits.ProblemExamples
)

// history is the known outcomes of one key.
type history struct {
	key    Key
	recent ring
	// problems are older than all outcomes in recent.
	problems []sort

	// seeded says that the outcomes saved earlier were read, so that saving does not overwrite them.
	seeded  bool
	unsaved changes
	// place is the position in the order of use.
	place *list.Element
	// agent and reason are the last texts that were stored. Senders often repeat themselves, so the texts are reused.
	agent, reason string
}

// changes describes unsaved outcomes: since is the time of the first, and problem says whether one was a problem.
type changes struct {
	since   time.Time
	problem bool
}

func (c changes) any() bool { return !c.since.IsZero() }

// sort holds the problems of one signal with one tag.
type sort struct {
	signal, tag string
	ring        ring
}

// ring holds the last outcomes, up to a bound. It grows with use.
type ring struct {
	all  []Outcome
	next int
}

// put adds an outcome and returns the one that it replaces.
func (r *ring) put(o *Outcome, limit int) (old Outcome, full bool) {
	if len(r.all) < limit {
		r.all = append(r.all, *o)
		return old, false
	}
	old = r.all[r.next]
	r.all[r.next] = *o
	if r.next++; r.next == limit {
		r.next = 0
	}
	return old, true
}

// appendTo appends the outcomes, oldest first.
func (r *ring) appendTo(all []Outcome) []Outcome {
	return append(append(all, r.all[r.next:]...), r.all[:r.next]...)
}

func (h *history) add(o *Outcome) {
	if old, full := h.recent.put(o, recentOutcomes); full && !old.clean() {
		h.keep(&old)
	}
}

// keep stores a problem that newer outcomes have pushed out of recent. Problems arrive in the order of time.
func (h *history) keep(o *Outcome) {
	i := slices.IndexFunc(h.problems, func(s sort) bool { return s.tag == o.Tag && s.signal == o.Signal })
	if i < 0 {
		if len(h.problems) == problemSorts {
			h.dropSort()
		}
		h.problems = append(h.problems, sort{signal: o.Signal, tag: o.Tag})
		i = len(h.problems) - 1
	}
	h.problems[i].ring.put(o, problemsOfSort)
}

// dropSort removes the sort that occurred least recently.
func (h *history) dropSort() {
	longest := 0
	for i := range h.problems {
		if h.problems[i].ring.last().Before(h.problems[longest].ring.last()) {
			longest = i
		}
	}
	h.problems = slices.Delete(h.problems, longest, longest+1)
}

func (r *ring) last() time.Time {
	if r.next == 0 {
		return r.all[len(r.all)-1].At
	}
	return r.all[r.next-1].At
}

// list returns all outcomes, oldest first.
func (h *history) list() []Outcome {
	n := len(h.recent.all)
	for i := range h.problems {
		n += len(h.problems[i].ring.all)
	}
	all := make([]Outcome, 0, n)
	for i := range h.problems {
		all = h.problems[i].ring.appendTo(all)
	}
	// The problems of one sort are in order, and all of them are older than the recent outcomes.
	slices.SortStableFunc(all, func(x, y Outcome) int { return x.At.Compare(y.At) })
	return h.recent.appendTo(all)
}

// seed inserts the outcomes that an earlier run saved before the newer ones.
func (h *history) seed(earlier []Outcome) {
	since := h.list()
	h.recent, h.problems, h.seeded = ring{}, nil, true
	for _, all := range [][]Outcome{earlier, since} {
		for i := range all {
			h.add(&all[i])
		}
	}
}
