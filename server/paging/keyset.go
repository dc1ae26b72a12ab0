package paging

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const (
	tracePrefix = "trc_"
	logPrefix   = "log_"
	// earliestPrefix is for cursors of log records with the earliest first.
	earliestPrefix = "loa_"
)

// TraceKey is the place of a trace in the order of a search: start, then trace id, both descending.
type TraceKey struct {
	Start   time.Time
	TraceID string
}

// FormatTrace writes the cursor that continues after a trace.
func FormatTrace(k TraceKey) string {
	return formatKey(tracePrefix, formatTime(k.Start), k.TraceID)
}

// ParseTrace reads a cursor of FormatTrace; nil means the first page.
func ParseTrace(cursor *string) (*TraceKey, error) {
	if cursor == nil {
		return nil, nil
	}
	parts, err := parseKey(tracePrefix, *cursor, 2)
	if err != nil {
		return nil, err
	}
	start, ok := parseTime(parts[0])
	if !ok || !isHex(parts[1], 16) {
		return nil, errKeyset()
	}
	return &TraceKey{Start: start, TraceID: parts[1]}, nil
}

// LogKey is the place of a log record in the order of a search. All parts descend, or all ascend, but equal records always count upwards.
type LogKey struct {
	Ascending bool
	Timestamp time.Time
	Service   string
	TraceID   string
	SpanID    string
	// Record is the hash of the whole record, 32 hexadecimal digits.
	Record string
	// Copy numbers records that are equal in every column, from 1.
	Copy uint64
}

// FormatLog writes the cursor that continues after a log record.
func FormatLog(k LogKey) string {
	prefix := logPrefix
	if k.Ascending {
		prefix = earliestPrefix
	}
	return formatKey(prefix, formatTime(k.Timestamp), k.Service, k.TraceID, k.SpanID, k.Record+"."+strconv.FormatUint(k.Copy, 10))
}

// ParseLog reads a cursor of FormatLog for a search in an order; nil means the first page.
func ParseLog(cursor *string, ascending bool) (*LogKey, error) {
	if cursor == nil {
		return nil, nil
	}
	prefix, other, order := logPrefix, earliestPrefix, "asc"
	if ascending {
		prefix, other, order = earliestPrefix, logPrefix, "desc"
	}
	if _, err := parseKey(other, *cursor, 5); err == nil {
		return nil, errSort(order)
	}
	parts, err := parseKey(prefix, *cursor, 5)
	if err != nil {
		return nil, err
	}
	at, ok := parseTime(parts[0])
	record, count, _ := strings.Cut(parts[4], ".")
	n, err := strconv.ParseUint(count, 10, 32)
	if !ok || err != nil || n == 0 || !isHex(record, 16) || parts[2] != "" && !isHex(parts[2], 16) || parts[3] != "" && !isHex(parts[3], 8) {
		return nil, errKeyset()
	}
	return &LogKey{Ascending: ascending, Timestamp: at, Service: parts[1], TraceID: parts[2], SpanID: parts[3], Record: record, Copy: n}, nil
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// parseTime refuses a time that 64 bits of nanoseconds since 1970 cannot hold: a read sends times to the warehouse in that form.
func parseTime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err == nil && t.Year() >= 1970 && t.Year() <= 2261
}

func isHex(s string, bytes int) bool {
	if len(s) != 2*bytes || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}
