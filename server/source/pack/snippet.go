package pack

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const (
	// lineCharacters bounds each line of an answer, in characters.
	lineCharacters = 2000
	// contextBytes ends the context lines of one file, which may have long lines only.
	contextBytes = 64 << 10
)

// Match is a line that matches.
type Match struct {
	// Line and Column count from 1. Column is the place in the whole line of the first match, in characters; Length its length.
	Line, Column, Length int
	// Text is the line, without its end. If it has more than lineCharacters, it is cut around the match: First is the column of the first
	// character of Text. Bytes that are not UTF-8 are replaced by U+FFFD.
	Text  string
	First int
	// Before and After are the lines around it, each cut at the end. When those of a file have contextBytes, later matches have none.
	Before, After []string
	// Definition says that the line looks as if it defines the name.
	Definition bool
}

// match makes the answer of a hit. The line has the number line.
func (f *fileText) match(h hit, line int) Match {
	text := f.text[h.start:h.end]
	from, to := h.from-h.start, h.to-h.start
	m := Match{
		Line: line, Column: utf8.RuneCount(text[:from]) + 1, Length: utf8.RuneCount(text[from:to]),
		Definition: definition(text, from, to), First: 1,
	}
	m.Text, m.First = cutAround(text, from)
	return m
}

// addContext adds the lines around a hit and returns their bytes.
func (f *fileText) addContext(m *Match, h hit, context int) (size int) {
	start := h.start
	for range context {
		if start == 0 {
			break
		}
		end := start - 1
		start = bytes.LastIndexByte(f.text[:end], '\n') + 1
		line := cutEnd(bytes.TrimSuffix(f.text[start:end], []byte{'\r'}))
		m.Before = append(m.Before, line)
		size += len(line)
	}
	for i, j := 0, len(m.Before)-1; i < j; i, j = i+1, j-1 {
		m.Before[i], m.Before[j] = m.Before[j], m.Before[i]
	}
	_, next := f.endOfLine(h.start)
	for range context {
		if next >= len(f.text) {
			break
		}
		end, after := f.endOfLine(next)
		line := cutEnd(f.text[next:end])
		m.After = append(m.After, line)
		size += len(line)
		next = after
	}
	return size
}

// cutAround cuts a line so that the match at a byte is in it, and returns the column of the first character.
func cutAround(line []byte, at int) (string, int) {
	if len(line) <= lineCharacters || utf8.RuneCount(line) <= lineCharacters {
		return clean(line), 1
	}
	// A tenth of the room is for the text before the match.
	start := at
	for range lineCharacters / 10 {
		if start == 0 {
			break
		}
		_, size := utf8.DecodeLastRune(line[:start])
		start -= size
	}
	return cutEnd(line[start:]), utf8.RuneCount(line[:start]) + 1
}

func cutEnd(line []byte) string {
	if len(line) <= lineCharacters {
		return clean(line)
	}
	end := 0
	for range lineCharacters {
		if end == len(line) {
			break
		}
		_, size := utf8.DecodeRune(line[end:])
		end += size
	}
	return clean(line[:end])
}

// clean replaces each byte that is not UTF-8 by one character, so that columns stay right.
func clean(line []byte) string {
	if utf8.Valid(line) {
		return string(line)
	}
	var b strings.Builder
	for _, r := range string(line) {
		b.WriteRune(r)
	}
	return b.String()
}
