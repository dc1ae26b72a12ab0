package drain

import (
	"net/netip"
	"strings"
)

// These texts replace values.
const (
	maskUUID   = "<uuid>"
	maskIP     = "<ip>"
	maskHex    = "<hex>"
	maskEmail  = "<email>"
	maskNumber = "<num>"
)

// Words splits a message at white space and replaces the values that vary by nature.
func Words(message string) []string {
	words := strings.Fields(message)
	if len(words) > maxWords {
		words = append(words[:maxWords:maxWords], Wildcard)
	}
	for i, w := range words {
		words[i] = mask(w)
	}
	return words
}

// mask replaces the values in a word. A value ends at the first character that cannot be part of it: in `took=12ms,` it is
// `12ms`.
func mask(word string) string {
	if !strings.ContainsAny(word, "0123456789@") && !strings.Contains(word, "::") && !longHex(word) {
		return word
	}
	core := strings.Trim(word, `"'(){}<>,;.`)
	for _, whole := range []string{core, strings.Trim(core, "[]")} { // the brackets may belong to an address
		if m := maskWhole(whole); m != "" {
			return strings.Replace(word, whole, m, 1)
		}
	}
	var b strings.Builder
	for i := 0; i < len(word); {
		if !isValue(word[i]) {
			b.WriteByte(word[i])
			i++
			continue
		}
		end := i
		for end < len(word) && isValue(word[end]) {
			end++
		}
		b.WriteString(maskPart(word[i:end]))
		i = end
	}
	return b.String()
}

// longHex reports whether a word is long enough to be checked for a hexadecimal number. Shorter words of letters alone are
// skipped.
func longHex(word string) bool { return len(word) >= 16 }

func isValue(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '.' || c == '_' || c == '+' || c == '@' ||
		c == '%' ||
		c >= 0x80
}

// maskWhole names the kind of value that a whole word is, or returns nothing. The separators in such a value belong to it.
func maskWhole(s string) string {
	if isEmail(s) {
		return maskEmail
	}
	if strings.Count(s, ":") >= 2 || strings.Count(s, ".") == 3 {
		if _, err := netip.ParseAddr(s); err == nil {
			return maskIP
		}
		if _, err := netip.ParseAddrPort(s); err == nil {
			return maskIP
		}
		if _, err := netip.ParsePrefix(s); err == nil {
			return maskIP
		}
	}
	return ""
}

// maskPart replaces a run of characters that can form a value.
func maskPart(s string) string {
	core := strings.TrimRight(s, ".-_")
	tail := s[len(core):]
	switch {
	case core == "":
		return s
	case isUUID(core):
		return maskUUID + tail
	case isEmail(core):
		return maskEmail + tail
	case strings.Count(core, ".") == 3 && isIP(core):
		return maskIP + tail
	case isNumber(core):
		return maskNumber + tail
	case isHex(core):
		return maskHex + tail
	}
	// If a value follows a name, as in `order-1042` or `node_7f3a9c21`, the name stays.
	for i := len(core) - 1; i > 0; i-- {
		if core[i] == '-' || core[i] == '_' || core[i] == '.' {
			switch last := core[i+1:]; {
			case isNumber(last):
				return core[:i+1] + maskNumber + tail
			case isHex(last):
				return core[:i+1] + maskHex + tail
			}
			break
		}
	}
	return s
}

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHexDigit(s[i]) {
			return false
		}
	}
	return true
}

// isHex accepts 0x… and eight or more hexadecimal digits. At least one of them must be a decimal digit.
func isHex(s string) bool {
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok && rest != "" {
		return allHex(rest)
	}
	return len(s) >= 8 && allHex(s) && strings.ContainsAny(s, "0123456789")
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHexDigit(s[i]) {
			return false
		}
	}
	return true
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isNumber accepts digits with a sign and points, followed by a unit of at most three letters or by a percent sign.
func isNumber(s string) bool {
	s = strings.TrimLeft(s, "+-")
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || i > 0 && s[i] == '.') {
		i++
	}
	if i == 0 {
		return false
	}
	unit := s[i:]
	if len(unit) > 3 && unit != "\u00b5s" {
		return false
	}
	for _, c := range unit {
		if c >= '0' && c <= '9' || c == '-' || c == '_' || c == '@' || c == '+' || c == '.' {
			return false
		}
	}
	return true
}

func isEmail(s string) bool {
	at := strings.IndexByte(s, '@')
	if at <= 0 || strings.Count(s, "@") != 1 {
		return false
	}
	host := s[at+1:]
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || dot == len(host)-1 {
		return false
	}
	for i := range len(s) {
		if !isValue(s[i]) {
			return false
		}
	}
	return true
}
