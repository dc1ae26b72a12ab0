// Package outcome remembers the last answers to each ingest key, so that people can find out why data does not arrive.
//
// It keeps the last 100 answers to a key. Successes would soon push out the refusals that explain a problem, so it keeps older problems
// longer: the last 10 of each sort, for the 8 sorts that occurred last. A sort is a signal with an error tag, or with a partial success. A
// flood of one sort leaves the others in place.
//
// Answers to recently used keys are in memory, and are saved to the store within seconds, so that API nodes and the next run of this node
// see them. A crash loses answers that are not saved yet.
package outcome

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Outcome is one answer.
type Outcome struct {
	At     time.Time
	Signal string
	// Door is "http" or "grpc".
	Door   string
	Status int
	// Tag names the error. It is empty for a success.
	Tag string
	// Accepted counts items that were stored, Rejected items that could not be stored, and Sampled items that the organization's
	// sampling policy dropped.
	Accepted, Rejected, Sampled int
	// Cut counts values of accepted items that were shortened or left out because they exceed a limit.
	Cut int
	// Bytes is the size of the body as sent, or 0 if the body was not read.
	Bytes int
	// Reason is the first problem, in the words of the response.
	Reason string
	// Agent is the sender's User-Agent.
	Agent string
}

// clean reports whether the outcome is a success without any problem.
func (o *Outcome) clean() bool { return o.Tag == "" && o.Rejected == 0 && o.Reason == "" }

// Key names an ingest key.
type Key struct {
	Org principal.OrgID
	// ID is the public id of the key.
	ID string
}

// History holds the known outcomes of a key on this node, oldest first.
type History struct {
	Key
	Outcomes []Outcome
}

// Store saves histories. All methods except DeleteOutcomes concern the histories of one node.
type Store interface {
	// PutOutcomes replaces the histories of these keys.
	PutOutcomes(ctx context.Context, node string, all []History) error
	// Outcomes returns the history of the key that was last put, oldest outcome first.
	Outcomes(ctx context.Context, node string, key Key) ([]Outcome, error)
	// DeleteOutcomes deletes the histories, of all nodes, that were last saved before the given time.
	DeleteOutcomes(ctx context.Context, before time.Time) error
}

// Bounds of texts that come from senders or quote them.
const (
	maxReason = limits.OutcomeReason
	maxAgent  = limits.OutcomeAgent
)

// cut shortens a text to a bound, at a character boundary. It copies the text, so that the longer one can be freed.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[:limit]
	for len(s) > 0 {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size != 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return strings.Clone(s) + "…"
}
