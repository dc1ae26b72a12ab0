package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// ErrInvalid means that the input breaks a rule; the error is an *InvalidError. Nothing was written.
var ErrInvalid = errors.New("invalid input")

// Violation is one rule that the input breaks.
type Violation struct {
	// Field is a path in the spelling of the API, as in `resource_attributes[0].key`.
	Field  string
	Reason string
}

// InvalidError lists all violations of an input.
type InvalidError struct{ Violations []Violation }

func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.Field + " " + v.Reason
	}
	return strings.Join(parts, "; ")
}

// Is makes errors.Is match ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// Signals that a key may be allowed to send, and that usage is counted by.
const (
	SignalTraces   = "traces"
	SignalLogs     = "logs"
	SignalMetrics  = "metrics"
	SignalSessions = "sessions"
	SignalEvents   = "events"
)

// Signals lists all signals in the order in which they are shown.
func Signals() []string {
	return []string{SignalTraces, SignalLogs, SignalMetrics, SignalSessions, SignalEvents}
}

// Bounds on texts from operators and users. Lengths are in characters, as in the API.
const (
	maxNameLength  = limits.NameLength
	maxTextLength  = limits.DescriptionLength
	maxAttributes  = limits.KeyAttributes
	maxKeyLength   = limits.KeyAttributeKeyLength
	maxValueLength = limits.KeyAttributeValueLength
)

// checker collects violations.
type checker struct{ violations []Violation }

func (c *checker) fail(field, format string, args ...any) {
	c.violations = append(c.violations, Violation{Field: field, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) err() error {
	if len(c.violations) == 0 {
		return nil
	}
	return &InvalidError{Violations: c.violations}
}

// name trims and checks a name chosen by a person.
func (c *checker) name(field string, text *string) {
	*text = strings.TrimSpace(*text)
	if *text == "" {
		c.fail(field, "must not be empty")
		return
	}
	c.line(field, *text, maxNameLength)
}

// line checks a text of one line. Neither database stores NUL, and other control characters break the programs that show them.
func (c *checker) line(field, text string, longest int) {
	switch {
	case !utf8.ValidString(text):
		c.fail(field, "is not valid UTF-8")
	case utf8.RuneCountInString(text) > longest:
		c.fail(field, "has %d characters; at most %d are allowed", utf8.RuneCountInString(text), longest)
	case strings.ContainsFunc(text, unicode.IsControl):
		c.fail(field, "contains a control character")
	}
}

// text checks a text of one or more lines.
func (c *checker) text(field, text string, longest int) {
	switch {
	case !utf8.ValidString(text):
		c.fail(field, "is not valid UTF-8")
	case utf8.RuneCountInString(text) > longest:
		c.fail(field, "has %d characters; at most %d are allowed", utf8.RuneCountInString(text), longest)
	case strings.ContainsRune(text, 0):
		c.fail(field, "contains a NUL character")
	}
}

// oneLine trims and checks a line that must not be empty.
func (c *checker) oneLine(field string, text *string, longest int) {
	if *text = strings.TrimSpace(*text); *text == "" {
		c.fail(field, "must not be empty")
	}
	c.line(field, *text, longest)
}

// optionalLine trims a line. An empty one becomes nil.
func (c *checker) optionalLine(field string, text **string, longest int) {
	if *text = trimmed(*text); *text != nil {
		c.line(field, **text, longest)
	}
}

// optionalText trims a text of several lines. An empty one becomes nil.
func (c *checker) optionalText(field string, text **string, longest int) {
	if *text = trimmed(*text); *text != nil {
		c.text(field, **text, longest)
	}
}

// attributeKey checks the name of an attribute that is written to telemetry.
func (c *checker) attributeKey(field, key string, longest int) {
	if strings.TrimSpace(key) == "" {
		c.fail(field, "must not be empty")
		return
	}
	if strings.TrimSpace(key) != key {
		c.fail(field, "begins or ends with white space")
	}
	c.line(field, key, longest)
	if lower := strings.ToLower(key); strings.HasPrefix(lower, "svc_") || lower == "org_id" {
		c.fail(field, "is reserved: names that begin with svc_, and org_id, are written by the server")
	}
}

// choice checks a value that must be one of a few.
func choice[T ~string](c *checker, field string, value T, values []T) {
	if !slices.Contains(values, value) {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = string(v)
		}
		c.fail(field, "must be one of %s, not %q", strings.Join(texts, ", "), value)
	}
}

func (c *checker) signal(field, signal string) {
	if !slices.Contains(Signals(), signal) {
		c.fail(field, "%q is not a signal; use %s", signal, strings.Join(Signals(), ", "))
	}
}

// plainText makes any text fit a column: it has no control characters, no broken UTF-8, and at most the given length.
func plainText(text string, longest int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= longest {
		return text
	}
	for longest > 0 && !utf8.RuneStart(text[longest]) {
		longest--
	}
	return text[:longest]
}
