package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// NonNil returns an empty list instead of nil.
func NonNil[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func ShownOf(n int, more bool, noun string) string {
	switch {
	case n == 0:
		return ""
	case more:
		return fmt.Sprintf("Shown: the first %d %s; there are more. Raise limit to see them.", n, noun)
	default:
		return fmt.Sprintf("Shown: %d %s, which are all.", n, noun)
	}
}

// ClampWindow moves the start of a suggested call so that the other tool accepts the time range.
func ClampWindow(args map[string]any, w TimeRange, longest time.Duration) map[string]any {
	if w.Length() > longest {
		args["start_time"] = wording.Clock(w.To.Add(-longest))
	}
	return args
}

// NextCursor is nil on the last page and after a failure.
func NextCursor(res interface {
	GetHasMore() bool
	GetNextCursor() string
},
) *string {
	if !res.GetHasMore() {
		return nil
	}
	next := res.GetNextCursor()
	return &next
}

const (
	maxOffset = limits.SearchOffset
	// pageSize is the size of the API's largest page.
	pageSize = limits.LargestPage
)

// Pagination says which part of the whole list a result is.
type Pagination struct {
	Offset  int  `json:"offset"`
	Limit   int  `json:"limit"`
	HasMore bool `json:"hasMore"`
	// Total is the number of all rows, if it is known.
	Total      *int `json:"total,omitempty"`
	NextOffset *int `json:"nextOffset,omitempty"`
}

func NewPagination(offset, limit, shown int, more bool) Pagination {
	p := Pagination{Offset: offset, Limit: limit, HasMore: more}
	if next := offset + shown; more && next <= maxOffset {
		p.NextOffset = &next
	}
	if all := offset + shown; !more && (shown > 0 || offset == 0) { // a page beyond the end does not show where the end is
		p.Total = &all
	}
	return p
}

// Shown is the line of a text about its page.
func (p Pagination) Shown(n int, noun string) string {
	switch {
	case n == 0:
		return ""
	case p.NextOffset != nil:
		return fmt.Sprintf("Shown: %s %d to %d; there are more. Call again with offset=%d to go on.", noun, p.Offset+1, p.Offset+n, *p.NextOffset)
	case p.HasMore:
		return fmt.Sprintf("Shown: %s %d to %d; there are more. Narrow the time range or add a filter to see them.", noun, p.Offset+1, p.Offset+n)
	default:
		return fmt.Sprintf("Shown: %s %d to %d, which are the last.", noun, p.Offset+1, p.Offset+n)
	}
}

// Fetch reads one page of the API.
type Fetch[T any] func(ctx context.Context, limit int32, cursor *string) (rows []T, next *string, err error)

// Collect combines pages of the API. It skips the first skip rows and returns the next limit rows.
func Collect[T any](ctx context.Context, cursor *string, skip, limit int, get Fetch[T]) (rows []T, more bool, err error) {
	for {
		want := skip
		if skip == 0 {
			want = limit - len(rows)
		}
		page, next, err := get(ctx, int32(min(want, pageSize)), cursor)
		if err != nil {
			return nil, false, err
		}
		if skip > 0 {
			skip -= len(page)
		} else {
			rows = append(rows, page...)
		}
		if cursor = next; cursor == nil || len(rows) >= limit || len(page) == 0 {
			return rows, next != nil, nil
		}
	}
}

// Compared returns the arguments of compare_periods for a time range and the period of equal length before it.
func Compared(w TimeRange, service, environment *string) map[string]any {
	args := map[string]any{"current_start": w.Start, "current_end": w.End}
	for name, v := range map[string]*string{"service": service, "environment": environment} {
		if v != nil {
			args[name] = *v
		}
	}
	return args
}
