package callhours

import (
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// Block is the longest part of a window.
	Block = 6 * time.Hour
	// SliceSpans is the number of spans in which calls are searched at once. It bounds the memory of a read, however long the window and
	// however busy an hour is.
	SliceSpans = 3_000_000
)

// Part is a piece of a window. It is whole if the window does not cut it. Another window with the same hours then has the same
// piece.
type Part struct {
	query.Window
	Whole bool
}

// Parts cuts a window into pieces that hold about SliceSpans spans and lie in one block. It leaves out hours without spans. A
// piece is several whole hours, or an equal part of an hour that holds more. No instant is in two pieces.
func Parts(w query.Window, hours []reads.SpanHourRow) []Part {
	var out []Part
	var held uint64
	for _, h := range hours {
		pieces := int64(max(1, (h.Spans+SliceSpans-1)/SliceSpans))
		for i := range pieces {
			p := Part{
				Whole: true, Window: query.Window{
					Start: h.Hour.Add(time.Duration(i * int64(time.Hour) / pieces)), End: h.Hour.Add(time.Duration((i+1)*int64(time.Hour)/pieces) - 1),
				},
			}
			if p.Start.Before(w.Start) {
				p.Start, p.Whole = w.Start, false
			}
			if p.End.After(w.End) {
				p.End, p.Whole = w.End, false
			}
			if p.End.Before(p.Start) {
				continue // the window does not reach this piece
			}
			spans := h.Spans / uint64(pieces)
			if n := len(out); n > 0 && held+spans <= SliceSpans && out[n-1].End.Add(1).Equal(p.Start) && !p.Start.Equal(p.Start.Truncate(Block)) {
				out[n-1].End, out[n-1].Whole = p.End, out[n-1].Whole && p.Whole
				held += spans
				continue
			}
			out, held = append(out, p), spans
		}
	}
	return out
}
