package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	endToken tokenKind = iota
	wordToken
	opToken
	bangToken
	openToken
	closeToken
	commaToken
)

type whereToken struct {
	kind tokenKind
	// text is the text of a word without its quotes.
	text string
	// quoted says that a word was quoted. Such a word is never a keyword.
	quoted bool
	at     int // offset in bytes
}

func (t whereToken) String() string {
	switch t.kind {
	case endToken:
		return "the end"
	case wordToken:
		return fmt.Sprintf("%q", t.text)
	default:
		return "`" + t.text + "`"
	}
}

type whereLexer struct {
	text string
	pos  int
}

func (l *whereLexer) errorAt(at int, format string, args ...any) error {
	return &WhereError{Position: utf8.RuneCountInString(l.text[:at]) + 1, Message: fmt.Sprintf(format, args...)}
}

// isKeyRune reports whether a character can be part of a bare word.
func isKeyRune(r rune) bool {
	switch r {
	case '(', ')', ',', '=', '!', '<', '>', '"', '\'', '\\', '`', utf8.RuneError:
		return false
	default:
		return !unicode.IsSpace(r) && unicode.IsPrint(r)
	}
}

func (l *whereLexer) next() (whereToken, error) {
	for l.pos < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[l.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		l.pos += n
	}
	at := l.pos
	if at == len(l.text) {
		return whereToken{kind: endToken, at: at}, nil
	}
	symbol := func(kind tokenKind, n int) (whereToken, error) {
		l.pos += n
		return whereToken{kind: kind, text: l.text[at:l.pos], at: at}, nil
	}
	rest := l.text[at:]
	for _, op := range []string{"==", "!=", "<>", ">=", "<=", "=", ">", "<"} {
		if strings.HasPrefix(rest, op) {
			return symbol(opToken, len(op))
		}
	}
	switch rest[0] {
	case '(':
		return symbol(openToken, 1)
	case ')':
		return symbol(closeToken, 1)
	case ',':
		return symbol(commaToken, 1)
	case '!':
		return symbol(bangToken, 1)
	}
	return l.word()
}

// word reads adjacent bare and quoted parts as one word, for example attr."my key".
func (l *whereLexer) word() (whereToken, error) {
	t := whereToken{kind: wordToken, at: l.pos}
	var b strings.Builder
	for l.pos < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[l.pos:])
		if r == '"' || r == '\'' {
			if err := l.quoted(&b, byte(r)); err != nil {
				return t, err
			}
			t.quoted = true
			continue
		}
		if !isKeyRune(r) {
			break
		}
		b.WriteRune(r)
		l.pos += n
	}
	if l.pos == t.at {
		r, _ := utf8.DecodeRuneInString(l.text[l.pos:])
		return t, l.errorAt(t.at, "the character %q is not understood; put values with special characters into quotes", r)
	}
	t.text = b.String()
	return t, nil
}

func (l *whereLexer) quoted(b *strings.Builder, quote byte) error {
	at := l.pos
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; c {
		case quote:
			l.pos++
			return nil
		case '\\':
			l.pos++
			if l.pos == len(l.text) {
				return l.errorAt(at, "the quoted text is not closed")
			}
			b.WriteByte(l.text[l.pos])
		default:
			b.WriteByte(c)
		}
	}
	return l.errorAt(at, "the quoted text is not closed")
}

// quoteWhere writes a text as a quoted word.
func quoteWhere(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
