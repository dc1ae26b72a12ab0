package clilogin

import (
	"crypto/rand"
	"strings"
	"unicode"
)

// letters are the letters of user codes. They include no vowels, so a code spells no word, and no letter that looks like a digit
// (RFC 8628, 6.1).
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// codeLength gives 2.5 × 10^10 codes. Codes expire and wrong ones are counted, so guessing does not work.
const codeLength = 8

// newUserCode returns a random code, `BCDF-GHJK`.
func newUserCode() string {
	code := make([]byte, 0, codeLength)
	var random [1]byte
	for len(code) < codeLength {
		_, _ = rand.Read(random[:]) // it never returns an error; on a failure the program ends
		// A byte past the last whole multiple would make some letters more likely.
		if n := int(random[0]); n < 256-256%len(letters) {
			code = append(code, letters[n%len(letters)])
		}
	}
	return string(code[:4]) + "-" + string(code[4:])
}

// readUserCode reads a code as people type it, in either letter case, with or without dashes and spaces.
func readUserCode(text string) (code string, ok bool) {
	kept := strings.Map(func(r rune) rune {
		if r == '-' || r == '–' || r == '_' || r == '.' || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, text)
	if len(kept) != codeLength || strings.Trim(kept, letters) != "" {
		return "", false
	}
	return kept[:4] + "-" + kept[4:], true
}

// codeHash is the hash under which a code is stored. Its prefix makes it differ from the hashes of other secrets.
func (s *Service) codeHash(code string) string { return s.cfg.Hasher.Hash("cli user code " + code) }

// printable removes the characters of a name that could disturb a page, a terminal or the audit log.
func printable(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
}
