package paging

import (
	"strconv"
	"time"
)

const spanPrefix = "spn_"

// SpanKey is the place of a span in the order of a trace: start, then span id, both ascending.
type SpanKey struct {
	Start  time.Time
	SpanID string
}

// FormatSpan writes the cursor that continues after a span.
func FormatSpan(k SpanKey) string {
	return formatKey(spanPrefix, formatTime(k.Start), k.SpanID)
}

// ParseSpan reads a cursor of FormatSpan; nil means the first part.
func ParseSpan(cursor *string) (*SpanKey, error) {
	if cursor == nil {
		return nil, nil
	}
	parts, err := parseKey(spanPrefix, *cursor, 2)
	if err != nil {
		return nil, err
	}
	start, ok := parseTime(parts[0])
	if !ok || !isHex(parts[1], 8) {
		return nil, errKeyset()
	}
	return &SpanKey{Start: start, SpanID: parts[1]}, nil
}

// SpanPlace is the place of a span in the order of a search: start, or duration and then start, then trace id and span id, all descending.
type SpanPlace struct {
	Sort     string
	Duration uint64
	Start    time.Time
	TraceID  string
	SpanID   string
}

// These are the orders of a search of spans.
const (
	ByStart    = "start_time"
	ByDuration = "duration"
)

const spanPlacePrefix = "sps_"

// FormatSpanPlace writes the cursor that continues a search after a span.
func FormatSpanPlace(k SpanPlace) string {
	return formatKey(spanPlacePrefix, k.Sort, strconv.FormatUint(k.Duration, 10), formatTime(k.Start), k.TraceID, k.SpanID)
}

// ParseSpanPlace reads a cursor of FormatSpanPlace for a search in an order; nil means the first page.
func ParseSpanPlace(cursor *string, sort string) (*SpanPlace, error) {
	if cursor == nil {
		return nil, nil
	}
	parts, err := parseKey(spanPlacePrefix, *cursor, 5)
	if err != nil {
		return nil, err
	}
	duration, badDuration := strconv.ParseUint(parts[1], 10, 64)
	start, ok := parseTime(parts[2])
	k := SpanPlace{Sort: parts[0], Duration: duration, Start: start, TraceID: parts[3], SpanID: parts[4]}
	if badDuration != nil || !ok || !isHex(k.TraceID, 16) || !isHex(k.SpanID, 8) || FormatSpanPlace(k) != *cursor {
		return nil, errKeyset()
	}
	if k.Sort != sort {
		return nil, errSort(k.Sort)
	}
	return &k, nil
}
