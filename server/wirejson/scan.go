package wirejson

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON text. After its first syntax error it stays in error and returns zero values.
type scanner struct {
	data []byte
	pos  int
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		line := 1 + bytes.Count(s.data[:s.pos], []byte{'\n'})
		s.err = fmt.Errorf("%s at line %d, byte %d", fmt.Sprintf(format, args...), line, s.pos-bytes.LastIndexByte(s.data[:s.pos], '\n'))
	}
}

// peek returns the first byte of the next token, 0 at the end.
func (s *scanner) peek() byte {
	for s.err == nil && s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// take reads the given byte or fails.
func (s *scanner) take(c byte) {
	if s.peek() != c {
		s.unexpected(fmt.Sprintf("%q", string(c)))
		return
	}
	s.pos++
}

func (s *scanner) unexpected(wanted string) {
	if s.pos >= len(s.data) {
		s.fail("the text ends where %s is expected", wanted)
		return
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	s.fail("%q stands where %s is expected", string(r), wanted)
}

// more moves to the next element of a list or object that closes with the given byte. It reports false at the end.
func (s *scanner) more(first bool, closing byte) bool {
	c := s.peek()
	switch {
	case s.err != nil:
		return false
	case c == closing:
		s.pos++
		return false
	case first:
		return true
	}
	s.take(',')
	if s.err == nil && s.peek() == closing {
		s.fail("a comma stands before %q", string(closing))
	}
	return s.err == nil
}

// literal reads true, false or null.
func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		s.unexpected("a value")
		return false
	}
	s.pos += len(word)
	return true
}

// number returns the text of a number.
func (s *scanner) number() string {
	start := s.pos
	digits := func() int {
		from := s.pos
		for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
			s.pos++
		}
		return s.pos - from
	}
	at := func(set string) bool { return s.pos < len(s.data) && bytes.IndexByte([]byte(set), s.data[s.pos]) >= 0 }
	if at("-") {
		s.pos++
	}
	zero := at("0")
	n := digits()
	if n == 0 || zero && n > 1 {
		s.pos = start
		s.fail("a number is malformed")
		return "0"
	}
	if at(".") {
		if s.pos++; digits() == 0 {
			s.fail("a number is malformed")
			return "0"
		}
	}
	if at("eE") {
		s.pos++
		if at("+-") {
			s.pos++
		}
		if digits() == 0 {
			s.fail("a number is malformed")
			return "0"
		}
	}
	return string(s.data[start:s.pos])
}

// text reads a string.
func (s *scanner) text() string {
	s.take('"')
	start := s.pos
	for s.err == nil && s.pos < len(s.data) { // the common case: nothing is escaped
		c := s.data[s.pos]
		if c == '"' {
			plain := s.data[start:s.pos]
			if !utf8.Valid(plain) {
				s.fail("a string is not valid UTF-8")
				return ""
			}
			s.pos++
			return string(plain)
		}
		if c == '\\' || c < ' ' {
			break
		}
		s.pos++
	}
	return s.escaped(start)
}

// escaped reads the rest of a string that holds escapes.
func (s *scanner) escaped(start int) string {
	out := append([]byte(nil), s.data[start:s.pos]...)
	for s.err == nil {
		if s.pos >= len(s.data) {
			s.fail("a string has no end")
			break
		}
		c := s.data[s.pos]
		switch {
		case c == '"':
			s.pos++
			if !utf8.Valid(out) {
				s.fail("a string is not valid UTF-8")
			}
			return string(out)
		case c < ' ':
			s.fail("a string holds a raw control character")
		case c == '\\':
			out = s.escape(out)
		default:
			out = append(out, c)
			s.pos++
		}
	}
	return ""
}

func (s *scanner) escape(out []byte) []byte {
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if s.pos+1 >= len(s.data) {
		s.fail("a string has no end")
		return out
	}
	c := s.data[s.pos+1]
	if i := bytes.IndexByte([]byte(from), c); i >= 0 {
		s.pos += 2
		return append(out, to[i])
	}
	r := s.unicode()
	if utf16.IsSurrogate(r) {
		r = utf16.DecodeRune(r, s.unicode())
		if r == utf8.RuneError {
			s.fail("a string holds half of a surrogate pair")
		}
	}
	return utf8.AppendRune(out, r)
}

// unicode reads \uXXXX.
func (s *scanner) unicode() rune {
	if s.pos+6 > len(s.data) || s.data[s.pos] != '\\' || s.data[s.pos+1] != 'u' {
		s.fail("a string holds an unknown escape")
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(s.data[s.pos+2:s.pos+6]), 16, 16)
	if err != nil {
		s.fail("a string holds an unknown escape")
		return utf8.RuneError
	}
	s.pos += 6
	return rune(n)
}
