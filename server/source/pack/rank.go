package pack

import (
	"bytes"
	"path"
	"strings"
)

// Points of a file. The best line counts most, then the path. A definition with the exact word beats any number of uses.
const (
	pointsDefinition = 40
	pointsPart       = 15 // the match is a part of the name that is defined
	pointsWord       = 20
	pointsOtherTerm  = 15 // for each further term in the same line
	pointsNear       = 15 // all terms within nearBytes
	pointsName       = 50 // the file is called like a term
	pointsInName     = 25
	pointsInFolder   = 8
	pointsSegment    = -1 // for each folder, down to mostSegments
	pointsTest       = -30
	pointsGenerated  = -25
	pointsVendored   = -60

	mostSegments = 12
	nearBytes    = 800
)

// points rates a line by its match.
func (h hit) points(text []byte) int {
	n := 0
	whole := wholeWord(text, h.from, h.to)
	if whole {
		n += pointsWord
	}
	if definition(text[h.start:h.end], h.from-h.start, h.to-h.start) {
		if whole {
			n += pointsDefinition
		} else {
			n += pointsPart
		}
	}
	for others := h.terms & (h.terms - 1); others != 0; others &= others - 1 {
		n += pointsOtherTerm
	}
	return n
}

// points rates a file by its path.
func (p *plan) points(e *entry) int {
	n := pointsSegment * min(strings.Count(e.path, "/"), mostSegments)
	if e.has(flagTest) {
		n += pointsTest
	}
	if e.has(flagGenerated) {
		n += pointsGenerated
	}
	if e.has(flagVendored) {
		n += pointsVendored
	}
	folder, name := path.Split(strings.ToLower(e.path))
	for _, t := range p.terms {
		base, _, _ := strings.Cut(name, ".")
		switch {
		case t.name == "":
		case t.name == base || t.name == name:
			n += pointsName
		case strings.Contains(name, t.name):
			n += pointsInName
		case strings.Contains(folder, t.name):
			n += pointsInFolder
		}
	}
	return n
}

func wholeWord(text []byte, from, to int) bool {
	wordAt := func(i int) bool { return i >= 0 && i < len(text) && (isWord(text[i]) || text[i] >= 0x80) }
	return !(wordAt(from-1) && wordAt(from)) && !(wordAt(to-1) && wordAt(to))
}

// near reports whether lines of all terms lie close to each other. The hits are sorted by place.
func near(hits []hit, all uint32) bool {
	var last [32]int
	var seen uint32
	for _, h := range hits {
		for t := range last {
			if h.terms>>t&1 != 0 {
				last[t] = h.start
			}
		}
		if seen |= h.terms; seen != all {
			continue
		}
		oldest := h.start
		for t := range last {
			if all>>t&1 != 0 {
				oldest = min(oldest, last[t])
			}
		}
		if h.start-oldest <= nearBytes {
			return true
		}
	}
	return false
}

// definition reports whether a line looks as if it defines the name that a match is in. It knows no language: it looks for a keyword
// before the name, a parameter list and a body behind it, or a constant that gets its value.
func definition(line []byte, from, to int) bool {
	// The name is the last word of the match, with the rest of the word around it.
	to = min(to, len(line))
	if from >= to || isComment(line) {
		return false
	}
	if n := bytes.IndexByte(line[from:to], ' '); n > 0 && isKeyword(line[from:from+n]) {
		return true // the match has the keyword itself
	}
	if n := bytes.LastIndexByte(bytes.TrimRight(line[from:to], " \t"), ' '); n >= 0 {
		from += n + 1
	}
	for from > 0 && isWord(line[from-1]) {
		from--
	}
	for from < len(line) && !isWord(line[from]) {
		from++
	}
	to = from
	for to < len(line) && isWord(line[to]) {
		to++
	}
	if from == to || to-from > 200 || from > 400 {
		return false
	}
	before, after := bytes.TrimSpace(line[:from]), bytes.TrimSpace(line[to:])
	word := lastWord(before)
	switch {
	case from > 0 && (line[from-1] == ' ' || line[from-1] == '\t') && isKeyword(word):
		return true
	case bytes.HasPrefix(before, []byte("func (")) && bytes.HasSuffix(before, []byte(")")) && bytes.HasPrefix(after, []byte("(")):
		return true
	case len(before) == 0 && line[from]-'A' < 26 && bytes.HasPrefix(after, []byte("=")) && !bytes.HasPrefix(after, []byte("==")):
		return true
	}
	return function(before, after)
}

// function recognizes `int name(…) {` and `name(…) {` in a class.
func function(before, after []byte) bool {
	if !bytes.HasPrefix(after, []byte("(")) || after[len(after)-1] != '{' ||
		bytes.Count(after, []byte{'('}) != bytes.Count(after, []byte{')'}) {
		return false // a list that is open is that of a call: run(func() {
	}
	if len(before) == 0 {
		return true
	}
	if last := before[len(before)-1]; !isWord(last) && !bytes.ContainsRune([]byte("*&>]"), rune(last)) {
		return false
	}
	first := before
	if n := bytes.IndexAny(before, " \t("); n > 0 {
		first = before[:n]
	}
	switch string(first) {
	case "if", "for", "while", "switch", "return", "else", "}", "catch", "case", "await", "throw", "new", "go", "defer", "assert", "foreach":
		return false
	}
	return !bytes.ContainsAny(before, "=.(\"'")
}

// isComment reports whether a line begins as a comment does.
func isComment(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	for _, mark := range []string{"//", "/*", "*", "--", "# ", ";"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return false
}

func lastWord(text []byte) []byte {
	at := len(text)
	for at > 0 && isWord(text[at-1]) {
		at--
	}
	return text[at:]
}

// isKeyword reports whether a word stands before a name that it defines, in the languages of most repositories.
func isKeyword(word []byte) bool {
	var small [12]byte
	if len(word) == 0 || len(word) > len(small) {
		return false
	}
	lowerASCII(small[:len(word)], word)
	switch string(small[:len(word)]) {
	case "func", "type", "const", "var", "class", "def", "fn", "struct", "enum", "interface", "trait", "module", "function", "message",
		"service", "rpc", "let", "define", "macro", "namespace", "record", "object", "protocol", "typedef", "union", "table",
		"view", "procedure", "val", "static", "impl", "defmodule", "defp", "sub", "index", "trigger":
		return true
	}
	return false
}
