package paging

import (
	"strconv"
	"strings"
	"time"
)

const (
	sessionPrefix = "ses_"
	eventPrefix   = "pev_"
	chunkPrefix   = "chk_"
)

// SessionKey is the place of a session in the order of a search: start descending, then id ascending.
type SessionKey struct {
	Start     time.Time
	SessionID string
}

// FormatSession writes the cursor that continues after a session.
func FormatSession(k SessionKey) string {
	return formatKey(sessionPrefix, formatTime(k.Start), k.SessionID)
}

// ParseSession reads a cursor of FormatSession; nil means the first page.
func ParseSession(cursor *string) (*SessionKey, error) {
	if cursor == nil {
		return nil, nil
	}
	parts, err := parseKey(sessionPrefix, *cursor, 2)
	if err != nil {
		return nil, err
	}
	start, ok := parseTime(parts[0])
	if !ok || parts[1] == "" {
		return nil, errKeyset()
	}
	return &SessionKey{Start: start, SessionID: parts[1]}, nil
}

// EventKey is the place of a product event in the order of a search: time and record descending, equal records counted upwards.
type EventKey struct {
	Timestamp time.Time
	// Record is the hash of the whole event, 32 hexadecimal digits.
	Record string
	// Copy numbers events that are equal in every column, from 1.
	Copy uint64
}

// FormatEvent writes the cursor that continues after a product event.
func FormatEvent(k EventKey) string {
	return formatKey(eventPrefix, formatTime(k.Timestamp), k.Record+"."+strconv.FormatUint(k.Copy, 10))
}

// ParseEvent reads a cursor of FormatEvent; nil means the first page.
func ParseEvent(cursor *string) (*EventKey, error) {
	if cursor == nil {
		return nil, nil
	}
	parts, err := parseKey(eventPrefix, *cursor, 2)
	if err != nil {
		return nil, err
	}
	at, ok := parseTime(parts[0])
	record, count, _ := strings.Cut(parts[1], ".")
	n, err := strconv.ParseUint(count, 10, 32)
	if !ok || err != nil || n == 0 || !isHex(record, 16) {
		return nil, errKeyset()
	}
	return &EventKey{Timestamp: at, Record: record, Copy: n}, nil
}

// FormatChunk writes the cursor that continues a recording at a chunk number.
func FormatChunk(seq uint32) string { return chunkPrefix + strconv.FormatUint(uint64(seq), 36) }

// ParseChunk reads a cursor of FormatChunk; nil means the first chunk.
func ParseChunk(cursor *string) (uint32, error) {
	if cursor == nil {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(*cursor, chunkPrefix)
	n, err := strconv.ParseUint(digits, 36, 32)
	if !ok || err != nil || FormatChunk(uint32(n)) != *cursor {
		return 0, errCursor()
	}
	return uint32(n), nil
}
