package wirejson

import (
	"errors"
	"regexp"
	"time"
)

const (
	minTimestamp = -62135596800 // 0001-01-01T00:00:00Z
	maxTimestamp = 253402300799 // 9999-12-31T23:59:59Z
)

var timestampForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]00:00)$`)

// ParseTime reads a time in the form that requests may use: RFC 3339 in UTC, `2026-01-31T09:30:00Z`. The error completes a sentence
// that begins with the name of the field.
func ParseTime(s string) (time.Time, error) {
	if !timestampForm.MatchString(s) {
		return time.Time{}, errors.New("must be a time in UTC such as `2026-01-31T09:30:00Z`")
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, errors.New("is a time that does not exist")
	}
	if t.Unix() < minTimestamp || t.Unix() > maxTimestamp {
		return time.Time{}, errors.New("must be a time between the years 1 and 9999")
	}
	return t.UTC(), nil
}
