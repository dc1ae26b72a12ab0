package logpush

import (
	"bytes"
	"strconv"
	"time"
)

// time returns the time when the CDN received the request, else the time when it had answered, else now. In the last case hasTime
// is false.
func (c *converter) time(r *request) (nano int64, hasTime bool) {
	field, value := fieldStart, r.start
	if value == nil {
		field, value = fieldEnd, r.end
	}
	if value == nil {
		return c.received, false
	}
	nano, ok := instant(scalar(value))
	if !ok {
		c.refuse(field, "must be a time: RFC 3339, or Unix seconds or nanoseconds")
		return 0, true
	}
	if problem := c.storable(nano); problem != "" {
		c.refuse(field, problem)
	}
	return nano, true
}

// instant reads a time in any format that a customer may choose for a push job. The size of a Unix time shows its unit, which is
// unambiguous for the years from 1973 to 5138.
func instant(s []byte) (nano int64, ok bool) {
	if len(s) == 0 {
		return 0, false
	}
	if bytes.ContainsAny(s, "T:") {
		t, err := time.Parse(time.RFC3339Nano, string(s))
		// The warehouse stores nanoseconds since 1970 in 64 bits.
		if err != nil || t.Year() < 1970 || t.Year() > 2261 {
			return 0, false
		}
		return t.UnixNano(), true
	}
	whole, fraction, _ := bytes.Cut(s, []byte("."))
	n, err := strconv.ParseUint(string(whole), 10, 63)
	if err != nil {
		return 0, false
	}
	unit := uint64(1)
	switch {
	case n < 1e11:
		unit = 1e9
	case n < 1e14:
		unit = 1e6
	case n < 1e17:
		unit = 1e3
	}
	if n > (1<<63-1)/unit {
		return 0, false
	}
	n *= unit
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, false
		}
		unit /= 10
		n += uint64(c-'0') * unit
	}
	return int64(n), n < 1<<63
}
