package paging

import "time"

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
