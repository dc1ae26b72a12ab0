package activity

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// ArrayCheck checks that a stream is a JSON array of objects in UTF-8. It keeps almost none of the stream in memory. It checks
// only whether the JSON is well-formed: keys may repeat, and an escape may be half of a surrogate pair. Its zero value is ready.
type ArrayCheck struct {
	state scanState
	// key is set within a text that is the key of an object.
	key bool
	// digits counts the digits of a \u escape. literal is the rest of true, false or null.
	digits  int
	literal string
	// depth is the number of open arrays and objects. objects has one bit for each of them, which is set for an object.
	depth   int
	objects [(maxNesting + 63) / 64]uint64
	// offset is the position where the current part begins.
	offset int64
	// split holds the incomplete character at the end of the last part, in splitLen bytes.
	split    [utf8.UTFMax]byte
	splitLen int
}

// maxNesting bounds the nesting of arrays and objects. A snapshot has two levels for each level of the document.
const maxNesting = limits.RecordingDepth

type scanState uint8

const (
	scanBegin scanState = iota
	scanFirst           // a value, or the end of its array
	scanValue
	scanFirstKey // a key, or the end of its object
	scanKey
	scanColon
	scanAfter // the byte after a value
	scanText
	scanEscape
	scanHex
	scanLiteral
	// In a number, after:
	scanMinus
	scanZero
	scanInteger
	scanPoint
	scanFraction
	scanExponent
	scanExponentSign
	scanExponentDigits
	scanDone
)

// Next checks the next part of the stream. After an error the check has ended.
func (a *ArrayCheck) Next(p []byte) error {
	if !a.validText(p) {
		return errors.New("it is not valid UTF-8")
	}
	for i := 0; i < len(p); {
		if a.state == scanText {
			if i += plainText(p[i:]); i == len(p) {
				break
			}
		}
		again, reason := a.step(p[i])
		if reason != "" {
			return fmt.Errorf("at byte %d %s", a.offset+int64(i), reason)
		}
		if !again {
			i++
		}
	}
	a.offset += int64(len(p))
	return nil
}

// End checks that the array is complete.
func (a *ArrayCheck) End() error {
	if a.state != scanDone {
		return errors.New("it ends before the array does")
	}
	return nil
}

// validText checks the encoding of the next part, which may begin and end within a character. It reads the part before the scan
// does, and reads ASCII eight bytes at a time. The scan's own loop thus has no extra cost.
func (a *ArrayCheck) validText(p []byte) bool {
	for ; a.splitLen > 0 && len(p) > 0; p = p[1:] {
		a.split[a.splitLen] = p[0]
		a.splitLen++
		if utf8.FullRune(a.split[:a.splitLen]) {
			if !utf8.Valid(a.split[:a.splitLen]) {
				return false
			}
			a.splitLen = 0
		}
	}
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				a.splitLen = copy(a.split[:], p[i:])
				p = p[:i]
			}
			break
		}
	}
	return utf8.Valid(p)
}

// plainText returns the number of bytes before the end of the text, an escape, or an invalid byte.
func plainText(p []byte) int {
	for i, c := range p {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(p)
}

// step takes one byte. The result again says that the byte ended a number and must be taken once more.
func (a *ArrayCheck) step(c byte) (again bool, reason string) {
	switch a.state {
	case scanText:
		switch c {
		case '"':
			a.state = scanAfter
			if a.key {
				a.state = scanColon
			}
		case '\\':
			a.state = scanEscape
		default:
			return false, "a text holds a control character"
		}
	case scanEscape, scanHex:
		return false, a.escape(c)
	case scanLiteral:
		if c != a.literal[0] {
			return false, "there is a word that is not true, false or null"
		}
		if a.literal = a.literal[1:]; a.literal == "" {
			a.state = scanAfter
		}
	case scanMinus, scanZero, scanInteger, scanPoint, scanFraction, scanExponent, scanExponentSign, scanExponentDigits:
		return a.number(c)
	default:
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			return false, ""
		}
		return false, a.token(c)
	}
	return false, ""
}

// token takes a byte between texts, numbers and words.
func (a *ArrayCheck) token(c byte) (reason string) {
	switch a.state {
	case scanBegin:
		if c != '[' {
			return "it does not begin with ["
		}
		return a.open(false)
	case scanFirst:
		if c == ']' {
			return a.close()
		}
		return a.value(c)
	case scanValue:
		return a.value(c)
	case scanFirstKey, scanKey:
		if c == '}' && a.state == scanFirstKey {
			return a.close()
		}
		if c != '"' {
			return "a key is expected"
		}
		a.state, a.key = scanText, true
	case scanColon:
		if c != ':' {
			return "a colon is expected"
		}
		a.state = scanValue
	case scanAfter:
		object := a.inObject()
		switch {
		case c == ',' && object:
			a.state = scanKey
		case c == ',':
			a.state = scanValue
		case c == '}' && object, c == ']' && !object:
			return a.close()
		default:
			return "a comma or the end of a list or object is expected"
		}
	default:
		return "something follows the array"
	}
	return ""
}

// value takes the first byte of a value.
func (a *ArrayCheck) value(c byte) (reason string) {
	if a.depth == 1 && c != '{' {
		return "an event is not an object"
	}
	switch c {
	case '{':
		return a.open(true)
	case '[':
		return a.open(false)
	case '"':
		a.state, a.key = scanText, false
	case '-':
		a.state = scanMinus
	case '0':
		a.state = scanZero
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		a.state = scanInteger
	case 't':
		a.state, a.literal = scanLiteral, "true"[1:]
	case 'f':
		a.state, a.literal = scanLiteral, "false"[1:]
	case 'n':
		a.state, a.literal = scanLiteral, "null"[1:]
	default:
		return "a value is expected"
	}
	return ""
}

func (a *ArrayCheck) open(object bool) (reason string) {
	if a.depth == maxNesting {
		return "it is nested too deeply"
	}
	word, bit := &a.objects[a.depth/64], uint64(1)<<(a.depth%64)
	a.depth++
	if object {
		*word |= bit
		a.state = scanFirstKey
	} else {
		*word &^= bit
		a.state = scanFirst
	}
	return ""
}

func (a *ArrayCheck) inObject() bool {
	return a.objects[(a.depth-1)/64]>>((a.depth-1)%64)&1 == 1
}

func (a *ArrayCheck) close() (reason string) {
	a.state = scanAfter
	if a.depth--; a.depth == 0 {
		a.state = scanDone
	}
	return ""
}

// escape takes a byte after a backslash.
func (a *ArrayCheck) escape(c byte) (reason string) {
	if a.state == scanHex {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return "a text holds a \\u that is not followed by four hexadecimal digits"
		}
		if a.digits++; a.digits == 4 {
			a.state = scanText
		}
		return ""
	}
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		a.state = scanText
	case 'u':
		a.state, a.digits = scanHex, 0
	default:
		return "a text holds an escape that there is not"
	}
	return ""
}

// number takes a byte after the first one of a number.
func (a *ArrayCheck) number(c byte) (again bool, reason string) {
	digit, exponent := isDigit(c), c == 'e' || c == 'E'
	switch {
	case digit && a.state == scanMinus && c == '0':
		a.state = scanZero
	case digit && a.state == scanMinus, digit && a.state == scanInteger:
		a.state = scanInteger
	case digit && (a.state == scanPoint || a.state == scanFraction):
		a.state = scanFraction
	case digit && a.state >= scanExponent:
		a.state = scanExponentDigits
	case c == '.' && (a.state == scanZero || a.state == scanInteger):
		a.state = scanPoint
	case exponent && (a.state == scanZero || a.state == scanInteger || a.state == scanFraction):
		a.state = scanExponent
	case (c == '+' || c == '-') && a.state == scanExponent:
		a.state = scanExponentSign
	case !digit && (a.state == scanZero || a.state == scanInteger || a.state == scanFraction || a.state == scanExponentDigits):
		a.state = scanAfter
		return true, ""
	default:
		return false, "a number is malformed"
	}
	return false, ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
