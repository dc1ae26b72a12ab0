// Package outcome remembers the last answers to each ingest key, for whoever asks why data does not arrive.
//
// Of a key it keeps its last 100 answers. Successes would soon push out the refusals that explain a problem, so answers that were no
// clean success are kept beyond that: the last 10 of each sort, which is a signal with an error tag (or with a partial success), of the
// 8 sorts met last. A flood of one sort leaves the others in place.
//
// Answers are kept in memory for the keys used last, and saved to the store within seconds, so that API nodes and the next run of this
// node see them. What was not saved is lost in a crash.
package outcome

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/principal"
)

// Outcome is one answer.
type Outcome struct {
	At     time.Time
	Signal string
	// Door is "http" or "grpc".
	Door   string
	Status int
	// Tag names the error, empty for a success.
	Tag string
	// Accepted items were stored, Rejected ones could not be, Sampled ones were dropped by the organization's sampling policy.
	Accepted, Rejected, Sampled int
	// Cut counts what was shortened or left out of accepted items because it is beyond a limit.
	Cut int
	// Bytes is the body as it was sent, 0 when it was not read.
	Bytes int
	// Reason is the first thing that was wrong, in the words of the answer.
	Reason string
	// Agent is the sender's User-Agent.
	Agent string
}

// clean says that there is nothing to explain.
func (o *Outcome) clean() bool { return o.Tag == "" && o.Rejected == 0 && o.Reason == "" }

// Key names an ingest key.
type Key struct {
	Org principal.OrgID
	// ID is public.
	ID string
}

// History is what is known of a key on this node, oldest first.
type History struct {
	Key
	Outcomes []Outcome
}

// Store is where histories are saved. All methods are about those of one node, but for DeleteOutcomes.
type Store interface {
	// PutOutcomes replaces the histories of these keys.
	PutOutcomes(ctx context.Context, node string, all []History) error
	// Outcomes returns what was put last, oldest first.
	Outcomes(ctx context.Context, node string, key Key) ([]Outcome, error)
	// DeleteOutcomes deletes histories of any node that were not put since.
	DeleteOutcomes(ctx context.Context, before time.Time) error
}

// Bounds of the texts that come from senders, or quote them.
const (
	maxReason = 300
	maxAgent  = 120
)

// cut shortens a text to a bound, without halving a character, and lets go of the longer one.
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
