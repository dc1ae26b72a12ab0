package clilogin

import (
	"crypto/rand"
	"strings"
	"unicode"
)

// letters are those of user codes: no vowels, so that no words come out, and nothing that is mistaken for a digit (RFC 8628, 6.1).
const letters = "BCDFGHJKLMNPQRSTVWXZ"

// codeLength gives 2.5 × 10^10 codes; with their lifetime and the bound on wrong ones, guessing is hopeless.
const codeLength = 8

// newUserCode returns a random code, `BCDF-GHJK`.
func newUserCode() string {
	code := make([]byte, 0, codeLength)
	var random [1]byte
	for len(code) < codeLength {
		_, _ = rand.Read(random[:]) // never fails: the program ends instead
		// Bytes past the last whole multiple would make some letters likelier.
		if n := int(random[0]); n < 256-256%len(letters) {
			code = append(code, letters[n%len(letters)])
		}
	}
	return string(code[:4]) + "-" + string(code[4:])
}

// readUserCode reads what a person typed: case, dashes and spaces do not matter.
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

// codeHash is the hash by which a code is found: no other secret has it.
func (s *Service) codeHash(code string) string { return s.cfg.Hasher.Hash("cli user code " + code) }

// printable is a name without what could disturb the page, the terminal or the audit log that shows it.
func printable(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
}
