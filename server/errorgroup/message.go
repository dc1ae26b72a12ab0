package errorgroup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxMessage is the number of bytes of a message that count.
const maxMessage = 200

// maxObject bounds a message that is a JSON object.
const maxObject = 16 << 10

// AppendNormal writes the normal form of a message: its first line, at most 200 bytes, with "#" for the parts that differ between errors of
// one cause. A JSON object becomes its keys in order, with their normal values.
func AppendNormal(dst []byte, message string) []byte {
	message = strings.TrimSpace(message)
	if strings.HasPrefix(message, "{") && len(message) <= maxObject {
		if out, ok := appendObject(dst, message); ok {
			return out
		}
	}
	if i := strings.IndexByte(message, '\n'); i >= 0 {
		message = message[:i]
	}
	return appendLine(dst, cut(strings.TrimSpace(message), maxMessage))
}

func appendObject(dst []byte, message string) ([]byte, bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(message), &object) != nil {
		return dst, false
	}
	from := len(dst)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if len(dst) > from {
			dst = append(dst, '|')
		}
		if len(dst)-from > 1000 {
			break
		}
		dst = append(append(dst, key...), '=')
		value := string(object[key])
		var text string
		if strings.HasPrefix(value, `"`) && json.Unmarshal(object[key], &text) == nil {
			value = text
		}
		dst = appendLine(dst, cut(value, maxMessage))
	}
	return dst, true
}

// cut returns at most n bytes of whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func appendLine(dst []byte, s string) []byte {
	from := len(dst)
	for i := 0; i < len(s); {
		c := s[i]
		if end := quoted(s, i); end > 0 {
			dst = appendMark(dst, from)
			i = end
			continue
		}
		if delimiter(c) {
			dst = append(dst, c)
			i++
			continue
		}
		end := i
		for end < len(s) && !delimiter(s[end]) && (end == i || quoted(s, end) == 0) {
			end++
		}
		if strings.Contains(s[i:end], "://") {
			for end < len(s) && (!delimiter(s[end]) || s[end] == '=' || s[end] == ';' || s[end] == ',' && end+1 < len(s) && s[end+1] != ' ') {
				end++
			}
		}
		// The sign at the end of a sentence is not part of the word.
		last := end
		for last > i && (s[last-1] == '.' || s[last-1] == ':' || s[last-1] == '!' || s[last-1] == '?') {
			last--
		}
		dst = appendWord(dst, s[i:last], from)
		dst = append(dst, s[last:end]...)
		i = end
	}
	return dst
}

// appendMark writes "#". A list of marks, which may be longer in another message, becomes one.
func appendMark(dst []byte, from int) []byte {
	end := len(dst)
	for end > from && (dst[end-1] == ' ' || dst[end-1] == ',') {
		end--
	}
	if end > from && dst[end-1] == '#' {
		return dst[:end]
	}
	return append(dst, '#')
}

func delimiter(c byte) bool {
	switch c {
	case ' ', '\t', ',', ';', '(', ')', '[', ']', '{', '}', '<', '>', '=', '|', '"', '\'', '`':
		return true
	}
	return false
}

// quoted returns the index behind a quoted text that begins at i, or 0. An apostrophe within a word begins none.
func quoted(s string, i int) int {
	c := s[i]
	if c != '"' && c != '\'' && c != '`' {
		return 0
	}
	if i > 0 && (isLetter(s[i-1]) || s[i-1] >= '0' && s[i-1] <= '9') {
		return 0
	}
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\':
			j++
		case s[j] == c && (j+1 == len(s) || !isLetter(s[j+1])):
			return j + 1
		case s[j] == '\'' && c == '`' && (j+1 == len(s) || !isLetter(s[j+1])): // `text'
			return j + 1
		}
	}
	return 0
}

// appendWord writes a word. Addresses of all kinds, paths, identifiers and numbers become "#".
func appendWord(dst []byte, s string, from int) []byte {
	number, at, slashes, dots := false, -1, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			number = true
		case c == '@':
			at = i
		case c == '/' || c == '\\':
			slashes++
		case c == '.' && i > at:
			dots++
		}
	}
	switch {
	case s == "":
		return dst
	case strings.Contains(s, "://"),
		at > 0 && dots > 0 && at < len(s)-1,
		slashes > 1, slashes == 1 && len(s) > 1 && (s[0] == '/' || s[0] == '~' || s[0] == '.'),
		slashes > 0 && len(s) > 2 && s[1] == ':',
		hexWord(s, number), number && quantity(s):
		return appendMark(dst, from)
	case !number:
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		if !isLetter(s[i]) && (s[i] < '0' || s[i] > '9') {
			dst = append(dst, s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && (isLetter(s[end]) || s[end] >= '0' && s[end] <= '9') {
			end++
		}
		dst = appendRun(dst, s[i:end])
		i = end
	}
	return dst
}

// hexWord reports a hexadecimal text of eight digits or more, maybe with the dashes of a UUID.
func hexWord(s string, number bool) bool {
	s = strings.TrimPrefix(s, "0x")
	n := 0
	for i := range len(s) {
		switch {
		case isHex(s[i]):
			n++
		case s[i] == '-' && i >= 8 && number:
		default:
			return false
		}
	}
	return n >= 8
}

// quantity reports a number, a time, an address of a host, a version, or a number with a unit of at most two letters.
func quantity(s string) bool {
	letters := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '.', c == ':', c == '-', c == '+', c == '%', c == '/', c == '$', c == '#':
			letters = 0
		case c == 'T' && i > 0 && s[i-1] >= '0' && s[i-1] <= '9', c == 'Z' && i == len(s)-1, c == 'x' && i == 1:
		case isLetter(c):
			if letters++; letters > 2 || i == 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// appendRun writes letters and digits. Mixed text of eight characters with two groups of digits is an identifier.
func appendRun(dst []byte, s string) []byte {
	groups, hex := 0, true
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' && (i == 0 || s[i-1] < '0' || s[i-1] > '9') {
			groups++
		}
		hex = hex && isHex(s[i])
	}
	if groups > 0 && len(s) >= 8 && (hex || groups > 1) {
		return append(dst, '#')
	}
	for i := range len(s) {
		switch {
		case s[i] < '0' || s[i] > '9':
			dst = append(dst, s[i])
		case i == 0 || s[i-1] < '0' || s[i-1] > '9':
			dst = append(dst, '#')
		}
	}
	return dst
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isLetter is true for letters of ASCII and for all characters beyond ASCII.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
