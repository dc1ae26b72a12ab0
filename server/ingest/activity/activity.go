// Package activity turns payloads other than OTLP into warehouse rows: recorded sessions, the chunks of their recordings, the
// events on their timelines, and product events. All but the chunks are NDJSON, with one JSON object on each line.
//
// The rows depend only on the body, the chunk's headers and the stamp: a body read back from the durable queue gives the same
// rows in the same order.
package activity

import (
	"cmp"
	"context"
	"fmt"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Kind is the kind of a request's rows. Kinds are named after their tables.
type Kind uint8

// The kinds. The zero Kind is invalid.
const (
	// SessionReplays are rows about sessions, each with a version that replaces lower ones.
	SessionReplays Kind = iota + 1
	// SessionReplayEvents is one chunk of a recording.
	SessionReplayEvents
	// SessionEvents are events on the timelines of sessions.
	SessionEvents
	// ProductEvents are events that servers and mobile applications name themselves.
	ProductEvents
)

// String returns the signal of the kind: sessions or events. Custom keys allow signals, and metrics count them.
func (k Kind) String() string {
	//exhaustive:enforce
	switch k {
	case SessionReplays, SessionReplayEvents, SessionEvents:
		return "sessions"
	case ProductEvents:
		return "events"
	default:
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
}

// Error names the bad line of a body, or the bad header when Line is 0, with the reason.
type Error struct {
	Line int
	// Field is empty if the whole line is at fault.
	Field string
	// Reason continues the sentence after the field's name: "must be …".
	Reason string
}

func (e *Error) Error() string { return place(e.Line, e.Field) + e.Reason }

func place(line int, field string) string {
	s := ""
	if line > 0 {
		s = fmt.Sprintf("line %d: ", line)
	}
	if field != "" {
		s += field + " "
	}
	return s
}

// Result is the result for the lines of a well-formed request.
type Result struct {
	Accepted, Rejected int
	// Cut counts the shortened texts and the entries left out of accepted lines because they exceed a limit.
	Cut int
	// Reasons has the reasons of rejected lines. Warnings has the changes of accepted lines. Each kind of problem appears once.
	Reasons, Warnings []Note
}

// Note is one kind of problem.
type Note struct {
	// Line is the first line with the problem.
	Line           int
	Field, Problem string
	Count          int
}

// String returns the note as one line of text.
func (n Note) String() string {
	s := place(n.Line, n.Field) + n.Problem
	if n.Count > 1 {
		s += fmt.Sprintf(" (%d times in this request)", n.Count)
	}
	return s
}

// linesBetween is the number of lines between two checks of the context.
const linesBetween = 1024

// Walk appends the rows of an NDJSON body to set. On an error the set is unchanged. The error is an *Error, otlp.ErrTooLarge, or
// the error of the context. Well-formed lines that cannot be stored are counted in the result.
func Walk(ctx context.Context, kind Kind, body []byte, stamp *otlp.Stamp, set *blocks.Set) (Result, error) {
	var row func(*reader) bool
	var bytes func() int
	switch kind {
	case SessionReplays:
		row, bytes = (*reader).sessionReplay, set.SessionReplays().Bytes
	case SessionEvents:
		row, bytes = (*reader).sessionEvent, set.SessionEvents().Bytes
	case ProductEvents:
		row, bytes = (*reader).productEvent, set.ProductEvents().Bytes
	default:
		return Result{}, fmt.Errorf("activity: %s does not come in lines", kind)
	}
	limit := cmp.Or(stamp.MaxBytes, otlp.DefaultMaxBytes)
	mark := set.Mark()
	r := &reader{stamp: stamp, set: set, lenient: stamp.Acknowledged || kind != ProductEvents}
	for r.next(&body) {
		if row(r) {
			r.accept()
		}
		if r.fail != nil {
			break
		}
		if bytes() > limit {
			set.Truncate(mark)
			return Result{}, otlp.ErrTooLarge
		}
		if r.line%linesBetween == 0 && ctx.Err() != nil {
			set.Truncate(mark)
			return Result{}, ctx.Err()
		}
	}
	if r.fail != nil {
		set.Truncate(mark)
		return Result{}, r.fail
	}
	return r.result, nil
}
