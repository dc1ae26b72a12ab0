package confine

import (
	"strings"
	"unicode/utf8"
)

// Kind is the sort of a token.
type Kind int

// Kinds of token.
const (
	Space  Kind = iota // blanks and comments
	Word               // keyword, name or number
	Text               // '…'
	Quoted             // "…" or `…`, a name
	Dollar             // $… : a macro or a variable, never SQL
	Symbol             // any other single character
)

// Token is a part of a statement. The concatenated tokens of a statement are the statement.
type Token struct {
	Kind Kind
	Text string
	At   int // offset in bytes
}

// Is reports whether the token is the given word, in any case, or the given symbol.
func (t Token) Is(word string) bool {
	return (t.Kind == Word || t.Kind == Symbol) && strings.EqualFold(t.Text, word)
}

// Lex splits a statement. It is stricter than the engine: it refuses everything that the two could read differently, such as
// heredocs, and non-ASCII characters outside of comments and quotes.
func Lex(sql string) ([]Token, *Refusal) {
	if len(sql) > MaxLength {
		return nil, refuse(ResourceLimit, "The statement has %d bytes; at most %d are allowed.", len(sql), MaxLength)
	}
	if !utf8.ValidString(sql) {
		return nil, refuse(Syntax, "The statement is not valid UTF-8.")
	}
	var tokens []Token
	for at := 0; at < len(sql); {
		kind, n, r := next(sql, at)
		if r != nil {
			return nil, r
		}
		tokens = append(tokens, Token{kind, sql[at : at+n], at})
		at += n
	}
	return tokens, nil
}

func next(sql string, at int) (Kind, int, *Refusal) {
	rest := sql[at:]
	c := rest[0]
	switch {
	case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
		n := 1
		for n < len(rest) && strings.IndexByte(" \t\n\r\f\v", rest[n]) >= 0 {
			n++
		}
		return Space, n, nil
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			return Space, end + 1, nil
		}
		return Space, len(rest), nil
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return 0, 0, refuse(Syntax, "A comment that begins at %s is never closed.", position(sql, at))
		}
		return Space, end + 4, nil
	case c == '\'':
		n, ok := quotedLength(rest)
		if !ok {
			return 0, 0, refuse(Syntax, "A text that begins at %s is never closed.", position(sql, at))
		}
		return Text, n, nil
	case c == '"' || c == '`':
		n, ok := quotedLength(rest)
		switch {
		case !ok:
			return 0, 0, refuse(Syntax, "A quoted name that begins at %s is never closed.", position(sql, at))
		case n-2 > maxQuoted:
			return 0, 0, refuse(ResourceLimit, "A quoted name at %s is longer than %d bytes.", position(sql, at), maxQuoted)
		case strings.ContainsFunc(rest[:n], func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }):
			// The engine prints names without escaping, and one node of the tree on each line.
			return 0, 0, refuse(Syntax, "A quoted name at %s holds a control character or a backslash.", position(sql, at))
		}
		return Quoted, n, nil
	case c == '$':
		n := 1
		for n < len(rest) && isNameByte(rest[n]) {
			n++
		}
		if n < len(rest) && rest[n] == '$' {
			return 0, 0, refuse(DisallowedStatement, "The statement has text between $ signs at %s; use single quotes.", position(sql, at))
		}
		return Dollar, n, nil
	case isNameByte(c):
		n := 1
		for n < len(rest) && isNameByte(rest[n]) {
			n++
		}
		if n < len(rest) && rest[n] == '$' {
			return 0, 0, refuse(Syntax, "The statement has a $ within a name at %s.", position(sql, at+n))
		}
		return Word, n, nil
	case c >= 0x80:
		r, _ := utf8.DecodeRuneInString(rest)
		return 0, 0, refuse(Syntax, "The character %q (%U) at %s is only allowed within quotes and comments.", r, r, position(sql, at))
	case c < ' ' || c == 0x7f:
		return 0, 0, refuse(Syntax, "The statement has a control character at %s.", position(sql, at))
	case c == '\\':
		return 0, 0, refuse(Syntax, "The statement has a backslash outside of quotes at %s.", position(sql, at))
	}
	return Symbol, 1, nil
}

// quotedLength is the length of a quoted text with its quotes. A quote inside the text is doubled or has a backslash before it.
func quotedLength(s string) (int, bool) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// solid drops blanks and comments.
func solid(tokens []Token) []Token {
	out := make([]Token, 0, len(tokens))
	for _, t := range tokens {
		if t.Kind != Space {
			out = append(out, t)
		}
	}
	return out
}

// Name is the name that a word or a quoted name stands for. A doubled quote stands for a single quote.
func (t Token) Name() string {
	if t.Kind != Quoted {
		return t.Text
	}
	quote := t.Text[:1]
	return strings.ReplaceAll(t.Text[1:len(t.Text)-1], quote+quote, quote)
}
