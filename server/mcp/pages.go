package mcp

import (
	"context"
	"fmt"
	"strings"
)

const (
	maxOffset = 10_000
	// pageSize is the largest page of the API.
	pageSize = 100
)

// pagination says where in the whole list a result is.
type pagination struct {
	Offset  int  `json:"offset" jsonschema:"rows that were skipped"`
	Limit   int  `json:"limit" jsonschema:"rows that were asked for"`
	HasMore bool `json:"hasMore" jsonschema:"whether further rows exist"`
	// Total is how many rows there are in all, where that is known.
	Total      *int `json:"total,omitempty" jsonschema:"rows in all, where known"`
	NextOffset *int `json:"nextOffset,omitempty" jsonschema:"offset of the next page"`
}

func newPagination(offset, limit, shown int, more bool) pagination {
	p := pagination{Offset: offset, Limit: limit, HasMore: more}
	if next := offset + shown; more && next <= maxOffset {
		p.NextOffset = &next
	}
	if all := offset + shown; !more && (shown > 0 || offset == 0) { // a page beyond the end does not say where that is
		p.Total = &all
	}
	return p
}

// shown is the page line of a text.
func (p pagination) shown(n int, noun string) string {
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

// fetch reads one page of the API.
type fetch[T any] func(ctx context.Context, limit int32, cursor *string) (rows []T, next *string, err error)

// collect puts pages of the API together: limit rows after the first skip.
func collect[T any](ctx context.Context, cursor *string, skip, limit int, get fetch[T]) (rows []T, more bool, err error) {
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

// values turns the filters of a call into the pairs of its scope line.
func (a *arguments) scope(w timeRange, names ...string) []pair {
	scope := []pair{w.label()}
	for _, name := range names {
		if v, ok := a.values[name]; ok {
			scope = append(scope, pair{name, fmt.Sprint(v)})
		}
	}
	return scope
}

// again is the call of this result with other arguments.
func (a *arguments) again(w timeRange, more map[string]any, names ...string) map[string]any {
	args := map[string]any{"start_time": w.Start, "end_time": w.End}
	for _, name := range names {
		if v, ok := a.values[name]; ok {
			args[name] = v
		}
	}
	for name, v := range more {
		args[name] = v
	}
	return args
}

// compared are the arguments of compare_periods for a time range and the equally long time before it.
func (a *arguments) compared(w timeRange) map[string]any {
	args := map[string]any{"current_start": w.Start, "current_end": w.End}
	for _, name := range []string{"service", "environment"} {
		if v := a.text(name); v != nil {
			args[name] = *v
		}
	}
	return args
}

// echo is what of the named arguments a call gave, by the names of fields: event_type as eventType. Times are not among them.
func (a *arguments) echo(names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		v, ok := a.values[name]
		if !ok {
			continue
		}
		words := strings.Split(name, "_")
		for i, w := range words[1:] {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
		out[strings.Join(words, "")] = v
	}
	return out
}
