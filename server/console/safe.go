package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// safe makes text of telemetry harmless for a terminal, on one line: a control character becomes its escape, such as \x1b. So no text can
// move the cursor, change colours, write to the clipboard, begin a line of its own or turn the reading direction of the text that follows.
func safe(text string) string {
	if !strings.ContainsFunc(text, steers) && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteByte(' ')
		case !steers(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// steers reports whether a terminal does anything but show the character.
func steers(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // directions
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separators
		return true
	}
	return false
}

// escapeControls writes the characters of JSON that steer a terminal as \u escapes, which mean the same. JSON has them only in texts.
func escapeControls(text []byte) []byte {
	if !strings.ContainsFunc(string(text), func(r rune) bool { return r >= 0x7f && steers(r) }) {
		return text
	}
	out := make([]byte, 0, len(text)+32)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r >= 0x7f && steers(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}
