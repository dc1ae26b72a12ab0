package pack

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// Query asks for files. A zero takes the default of DefaultQuery, except for Text and Path.
type Query struct {
	// Text has words, "phrases" and /regular expressions/, separated by spaces. A file must hold all of them, each within a line. \" and \\
	// stand for " and \ in a phrase, \/ for / in an expression. An expression has the syntax of RE2; ^ and $ match at the ends of a line.
	//
	// If the text has no capital letter, case is ignored, as (?i) does. Capital letters of escapes such as \S do not count.
	Text string
	// Path limits the search to a file, to a folder and all below it, or, with * ? [ or {, to the files that match a glob. * and ? do not
	// match /, and ** does. A glob without / matches names in all folders.
	Path string
	// Files bounds the files of the answer, PerFile the lines of each, Context the lines before and after each line.
	Files, PerFile, Context int
	// NoContext asks for no context lines, since a zero of Context takes the default.
	NoContext bool
	// Time, Bytes and Matches bound the search: its duration, the text that it reads, and the lines that match. Matching lines count even
	// when the answer leaves them out.
	Time    time.Duration
	Bytes   int64
	Matches int
}

// DefaultQuery fits a caller that waits for the answer.
func DefaultQuery() Query {
	return Query{
		Files: limits.SourceFiles, PerFile: 5, Context: limits.SourceContext, Time: time.Second, Bytes: 1 << 30, Matches: limits.SourceMatches,
	}
}

// Bounds of the requests of a caller of Search. Those of a query are in limits.
const (
	maxFiles   = 100
	maxPerFile = 50
	maxContext = 10
)

func (q Query) withDefaults() Query {
	d := DefaultQuery()
	for _, f := range []struct {
		have            *int
		otherwise, most int
	}{
		{&q.Files, d.Files, maxFiles},
		{&q.PerFile, d.PerFile, maxPerFile},
		{&q.Context, d.Context, maxContext},
		{&q.Matches, d.Matches, d.Matches},
	} {
		if *f.have <= 0 {
			*f.have = f.otherwise
		}
		*f.have = min(*f.have, f.most)
	}
	if q.NoContext {
		q.Context = 0
	}
	if q.Time <= 0 {
		q.Time = d.Time
	}
	if q.Bytes <= 0 {
		q.Bytes = d.Bytes
	}
	return q
}

// QueryError says which part of a query cannot be understood.
type QueryError struct {
	// Path says that the error is in Path instead of Text.
	Path bool
	// Position counts characters from 1. Zero stands for the whole.
	Position int
	Message  string
}

func (e *QueryError) Error() string {
	switch {
	case e.Path:
		return "path: " + e.Message
	case e.Position > 0:
		return fmt.Sprintf("query, character %d: %s", e.Position, e.Message)
	default:
		return "query: " + e.Message
	}
}

// Check returns a *QueryError if Search would not understand the query. Callers check before they fetch a pack.
func (q Query) Check() error {
	_, err := compile(q)
	return err
}

// plan is a query that is understood.
type plan struct {
	Query
	terms []*term
	path  pathFilter
}

func compile(q Query) (*plan, error) {
	q = q.withDefaults()
	written, err := split(q.Text)
	if err != nil {
		return nil, err
	}
	p := &plan{Query: q}
	fold := true
	for _, w := range written {
		fold = fold && !w.hasCapital()
	}
	room := limits.SourceProgram
	seen := map[writtenTerm]bool{}
	for _, w := range written {
		key := writtenTerm{text: w.text, expression: w.expression}
		if seen[key] {
			continue
		}
		seen[key] = true
		t, err := w.compile(fold, room)
		if err != nil {
			return nil, err
		}
		room -= t.instructions
		p.terms = append(p.terms, t)
	}
	p.path, err = newPathFilter(q.Path)
	return p, err
}

// writtenTerm is a term as the user wrote it, without quotes and slashes.
type writtenTerm struct {
	text       string
	expression bool
	at         int // in characters, from 1
}

// split finds the terms of a query.
func split(text string) ([]writtenTerm, error) {
	if !utf8.ValidString(text) {
		return nil, &QueryError{Message: "it is not UTF-8"}
	}
	if n := utf8.RuneCountInString(text); n > limits.SourceQuery {
		return nil, &QueryError{Message: fmt.Sprintf("it has %d characters; at most %d are allowed", n, limits.SourceQuery)}
	}
	var terms []writtenTerm
	for pos := 0; pos < len(text); {
		r, size := utf8.DecodeRuneInString(text[pos:])
		if unicode.IsSpace(r) {
			pos += size
			continue
		}
		t, end, err := next(text, pos)
		t.at = utf8.RuneCountInString(text[:pos]) + 1
		if err == "" && strings.ContainsFunc(t.text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			err = "control characters cannot be searched"
		}
		if err != "" {
			return nil, &QueryError{Position: t.at, Message: err}
		}
		if terms = append(terms, t); len(terms) > limits.SourceTerms {
			return nil, &QueryError{Position: t.at, Message: fmt.Sprintf("at most %d terms are allowed", limits.SourceTerms)}
		}
		pos = end
	}
	if len(terms) == 0 {
		return nil, &QueryError{Message: "it is empty; give a word, a \"phrase\" or a /regular expression/"}
	}
	return terms, nil
}

// next returns the term at a position and the end of it.
func next(text string, pos int) (t writtenTerm, end int, problem string) {
	switch text[pos] {
	case '"':
		return phrase(text, pos)
	case '/':
		if body, end, ok := expression(text, pos); ok {
			return writtenTerm{text: body, expression: true}, end, ""
		}
	}
	end = len(text)
	if n := strings.IndexFunc(text[pos:], unicode.IsSpace); n >= 0 {
		end = pos + n
	}
	t.text = text[pos:end]
	for _, qualifier := range []string{"repo:", "org:", "user:"} {
		if len(t.text) > len(qualifier) && strings.HasPrefix(t.text, qualifier) {
			return t, end, "`" + qualifier + "` is not understood here: the parameter `repository` says where to search. Put the word into" +
				" quotes to search for it"
		}
	}
	return t, end, ""
}

// phrase reads a quoted text. A quote in the middle of a word needs no backslash: only a quote before a space or the end closes it.
func phrase(text string, pos int) (t writtenTerm, end int, problem string) {
	var b strings.Builder
	for i := pos + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		case c == '"' && endsAt(text, i+1):
			if b.Len() == 0 {
				return t, 0, "the phrase is empty"
			}
			return writtenTerm{text: b.String()}, i + 1, ""
		default:
			b.WriteByte(c)
		}
	}
	return t, 0, "the phrase is not closed: a quote and a space, or the end of the query, close it"
}

// expression reads a regular expression. Text that only begins with a slash, such as /v2/users or //, is a word.
func expression(text string, pos int) (body string, end int, ok bool) {
	var b strings.Builder
	for i := pos + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '/' {
				b.WriteByte('\\')
			}
			b.WriteByte(text[i])
		case c == '/' && endsAt(text, i+1):
			return b.String(), i + 1, b.Len() > 0
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

func endsAt(text string, pos int) bool {
	r, _ := utf8.DecodeRuneInString(text[pos:])
	return pos == len(text) || unicode.IsSpace(r)
}

// hasCapital reports whether the user wrote a capital letter. Those of escapes and of names of groups do not count.
func (w writtenTerm) hasCapital() bool {
	text := w.text
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case w.expression && r == '\\' && len(text) > 1:
			size = escapeSize(text)
		case w.expression && (strings.HasPrefix(text, "(?P<") || strings.HasPrefix(text, "(?<")):
			if n := strings.IndexByte(text, '>'); n > 0 {
				size = n
			}
		case unicode.IsUpper(r):
			return true
		}
		text = text[size:]
	}
	return false
}

// escapeSize returns the length of an escape: \S, \pL, \p{Greek}, \x{10FFFF}, \x4F.
func escapeSize(text string) int {
	switch text[1] {
	case 'p', 'P', 'x':
		if len(text) > 2 && text[2] == '{' {
			if n := strings.IndexByte(text, '}'); n > 0 {
				return n + 1
			}
		}
		if text[1] == 'x' {
			return min(4, len(text))
		}
		return min(3, len(text))
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	return 1 + size
}
