package activity

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Lengths in bytes to which texts are cut.
const (
	maxID        = productevents.MaxID
	maxDimension = limits.SessionDimension
	maxText      = limits.SessionText
	maxURL       = productevents.MaxURL
)

// reader reads the lines of a body. The methods that read a field return its zero value if the field is missing or null.
type reader struct {
	stamp *otlp.Stamp
	set   *blocks.Set

	// lenient accepts half a surrogate pair.
	lenient bool

	line   int
	fields map[string]json.RawMessage
	// bad is the first unreadable field of the line. fail refuses the request.
	bad  *Error
	fail *Error
	// warnings and cut belong to the line. They count once the line is accepted.
	warnings []Note
	cuts     int
	result   Result
}

// next takes the next line that is not blank from the body and reads it as an object. It returns false at the end, or for a line
// that is not an object.
func (r *reader) next(body *[]byte) bool {
	for len(*body) > 0 {
		line, rest, _ := bytes.Cut(*body, []byte("\n"))
		*body = rest
		r.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		r.bad, r.warnings, r.cuts = nil, r.warnings[:0], 0
		if reason := r.parse(line); reason != "" {
			r.fail = &Error{Line: r.line, Reason: reason}
			return false
		}
		if loneSurrogate(line) {
			// Browsers write half a surrogate pair when they cut a text within a character. A session must not be lost because of
			// that.
			if !r.lenient {
				r.fail = &Error{Line: r.line, Reason: `is not valid JSON: bad \u escape`}
				return false
			}
			r.warn("", "holds half of a surrogate pair (\\ud800 to \\udfff), for which U+FFFD stands")
		}
		return true
	}
	return false
}

// parse reads an object. A repeated key keeps its last value.
func (r *reader) parse(line []byte) (reason string) {
	switch {
	case line[0] != '{':
		return "must be a JSON object: the body is NDJSON, one object to a line"
	case !utf8.Valid(line):
		return "is not valid UTF-8"
	}
	if r.fields == nil {
		r.fields = map[string]json.RawMessage{}
	}
	clear(r.fields)
	if err := json.Unmarshal(line, &r.fields); err != nil {
		return "is not valid JSON: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	return ""
}

// loneSurrogate reports whether a \u escape of valid JSON is half of a surrogate pair, and therefore not a character.
func loneSurrogate(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return false
		}
		b = b[i:]
		high := escaped(b)
		if high < 0 {
			b = b[2:]
			continue
		}
		b = b[6:]
		if !utf16.IsSurrogate(high) {
			continue
		}
		if utf16.DecodeRune(high, escaped(b)) == utf8.RuneError {
			return true
		}
		b = b[6:]
	}
}

// escaped returns the character of the \u escape at the beginning of b, or a negative number.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// value returns the JSON of a field, or nil if the field is missing or null.
func (r *reader) value(field string) json.RawMessage {
	v := r.fields[field]
	if string(v) == "null" {
		return nil
	}
	return v
}

// refuse records that a field cannot be read. The first such field of a line counts.
func (r *reader) refuse(field, reason string) {
	if r.bad == nil {
		r.bad = &Error{Line: r.line, Field: field, Reason: reason}
	}
}

// reject drops a well-formed line and adds the reason to the result.
func (r *reader) reject(field, problem string) bool {
	r.result.Rejected++
	add(&r.result.Reasons, Note{Line: r.line, Field: field, Problem: problem, Count: 1})
	return false
}

// warn records a change of the line.
func (r *reader) warn(field, problem string) {
	add(&r.warnings, Note{Line: r.line, Field: field, Problem: problem, Count: 1})
}

// warnCut records a value that was shortened or left out because it exceeds a limit.
func (r *reader) warnCut(field, problem string, n int) {
	r.cuts += n
	r.warn(field, problem)
}

// accept counts the line after its row was added.
func (r *reader) accept() {
	r.result.Accepted++
	r.result.Cut += r.cuts
	for _, n := range r.warnings {
		add(&r.result.Warnings, n)
	}
}

func add(notes *[]Note, more Note) {
	for i := range *notes {
		if n := &(*notes)[i]; n.Field == more.Field && n.Problem == more.Problem {
			n.Count += more.Count
			return
		}
	}
	*notes = append(*notes, more)
}

// text reads a text and cuts it to limit bytes.
func (r *reader) text(field string, limit int) string {
	s := r.whole(field)
	return r.cut(field, s, limit)
}

// whole reads a text of any length.
func (r *reader) whole(field string) string {
	v := r.value(field)
	if v == nil {
		return ""
	}
	var s string
	if v[0] != '"' || json.Unmarshal(v, &s) != nil {
		r.refuse(field, "must be a text")
		return ""
	}
	return s
}

func (r *reader) cut(field, s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	r.warnCut(field, "is longer than "+strconv.Itoa(limit)+" bytes and was cut", 1)
	return productevents.Cut(s, limit)
}

// characters reads a text and cuts it to a number of characters, of up to four bytes each.
func (r *reader) characters(field string, limit int) string {
	s := r.whole(field)
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			r.warnCut(field, "is longer than "+strconv.Itoa(limit)+" characters and was cut", 1)
			return s[:i]
		}
		n++
	}
	return s
}

// number reads a number from 0 to most and drops a fraction.
func (r *reader) number(field string, most uint64) uint64 {
	v := r.value(field)
	if v == nil {
		return 0
	}
	if n, err := strconv.ParseUint(string(v), 10, 64); err == nil && n <= most {
		return n
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < 0 || f > float64(most) || uint64(f) > most { // float64(most) may be more than most
		r.refuse(field, "must be a number from 0 to "+strconv.FormatUint(most, 10))
		return 0
	}
	return uint64(f)
}

// flag reads true, false, 1 or 0.
func (r *reader) flag(field string) bool {
	switch string(r.value(field)) {
	case "1", "true":
		return true
	case "0", "false", "":
		return false
	default:
		r.refuse(field, "must be 0 or 1")
		return false
	}
}

const timeReason = "must be a time, as in 2026-01-31T09:30:00.250Z or 2026-01-31 09:30:00.250 (UTC)"

// time reads a time in nanoseconds since 1970. ok is false when the field has no valid time.
func (r *reader) time(field string) (nano int64, ok bool) {
	s := r.whole(field)
	if s == "" {
		return 0, false
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime} { // both accept a fraction of the second
		t, err := time.ParseInLocation(layout, s, time.UTC)
		// The warehouse stores nanoseconds since 1970 in 64 bits.
		if err == nil && t.Year() >= 1970 && t.Year() <= 2261 {
			return t.UnixNano(), true
		}
	}
	r.refuse(field, timeReason)
	return 0, false
}

const (
	retention = limits.SessionRetention
	maxAhead  = limits.ClockAhead
)

// storable returns the reason why a time cannot be stored, or an empty text.
func (r *reader) storable(nano int64) (problem string) {
	switch received := r.stamp.ReceivedUnixNano; {
	case nano < received-int64(retention):
		return "is more than " + limits.Days(retention) + " back, which is the retention; check the sender's clock"
	case nano > received+int64(maxAhead):
		return "is more than " + limits.Lasts(maxAhead) + " ahead; check the sender's clock"
	default:
		return ""
	}
}

// sessionID reads the id of a session. It has the same form as the header of a chunk.
func (r *reader) sessionID() string {
	id := r.whole("session_id")
	if reason := sessionIDReason(id); reason != "" {
		r.refuse("session_id", reason)
	}
	return id
}

// readable refuses the request if a field of the line could not be read.
func (r *reader) readable() bool {
	r.fail = r.bad
	return r.fail == nil
}
