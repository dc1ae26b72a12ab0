package stacktrace

import "strings"

// trimLeft and trimRight remove blanks. They run on each line, and cost a third of those of package strings.
func trimLeft(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	return s
}

func trimRight(s string) string {
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\r') {
		s = s[:len(s)-1]
	}
	return s
}

func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	return trimRight(s)
}

// messageRange returns the place of a message of several lines in the text. Its first line may also be the line of the error's type.
func messageRange(text, message string) (from, to int) {
	message = strings.TrimRight(message, " \t\r\n")
	if at := strings.Index(text, message); at >= 0 {
		return at, at + len(message)
	}
	return 0, 0
}

// isLetter is true for letters of ASCII and for all other characters beyond ASCII.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads the digits at the start of s.
func number(s string) (n uint32, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) && i < 9 {
		n = n*10 + uint32(s[i]-'0')
		i++
	}
	return n, s[i:]
}

// location splits "file:line" or "file:line:column" from the right.
func location(s string) (file string, line, column uint32, ok bool) {
	head, last, ok := lastNumber(s)
	if !ok {
		return s, 0, 0, false
	}
	if file, line, ok := lastNumber(head); ok {
		return file, line, last, true
	}
	return head, last, 0, true
}

// lastNumber splits ":digits" from the end.
func lastNumber(s string) (head string, n uint32, ok bool) {
	i := len(s)
	for i > 0 && isDigit(s[i-1]) {
		i--
	}
	if i == len(s) || i < 2 || s[i-1] != ':' {
		return s, 0, false
	}
	n, _ = number(s[i:])
	return s[:i-1], n, true
}

// matching returns the index of the bracket that s ends with closes, or -1.
func matching(s string, open, shut byte) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case shut:
			depth++
		case open:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// typeName reports whether s can be the name of an error's type: letters, digits and the separators of names, beginning with a letter.
func typeName(s string) bool {
	if s == "" || len(s) > 200 || !isLetter(s[0]) && s[0] != '_' && s[0] != '*' && s[0] != '\\' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c), isDigit(c):
		case c == '.', c == '_', c == '$', c == ':', c == '\\', c == '/', c == '`', c == '*', c == '-', c == '+':
		default:
			return false
		}
	}
	return true
}

// errorType returns the type at the start of a line "type: message", or an empty text.
func errorType(line string) string {
	name := line
	if i := strings.Index(line, ": "); i >= 0 {
		name = line[:i]
	}
	name = strings.TrimSuffix(strings.TrimRight(name, " {"), ":")
	// Node adds the code of its own errors: "TypeError [ERR_INVALID_URL]".
	if i := strings.Index(name, " ["); i > 0 && strings.HasSuffix(name, "]") {
		name = name[:i]
	}
	if !typeName(name) {
		return ""
	}
	return name
}
