package pack

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// longLine is how much of a line an expression looks at. Package regexp cannot be stopped within a line, and its time grows with the line
// and the expression.
const longLine = 16 << 10

// term is one term of a query, ready to be found.
type term struct {
	// literal is the text to find, in lower case if fold is set. It is empty for an expression.
	literal needle
	fold    bool
	// expression finds an expression, or a literal in a text for which the folding of ASCII is not enough.
	expression   *regexp.Regexp
	automaton    *automaton
	instructions int
	// needed are texts that a matching line holds; scan is the best of them for finding lines, or nil.
	needed []clause
	scan   []needle
	// name is a literal in lower case, to be compared with paths.
	name string
}

// compile makes the term. Its expression may have that many instructions.
func (w writtenTerm) compile(fold bool, room int) (*term, error) {
	if w.expression {
		return w.compileExpression(fold, room)
	}
	t := &term{literal: newNeedle(w.text), name: strings.ToLower(w.text), needed: []clause{{w.text}}}
	cased, beyond := false, false
	for _, r := range w.text {
		if unicode.SimpleFold(r) != r {
			cased = true
			beyond = beyond || r >= utf8.RuneSelf
		}
	}
	if t.fold = fold && cased; !t.fold {
		return t, nil
	}
	if !beyond {
		if strings.ContainsAny(w.text, "ks") {
			t.expression = regexp.MustCompile("(?i)" + regexp.QuoteMeta(w.text))
		}
		return t, nil
	}
	w.text = regexp.QuoteMeta(w.text)
	e, err := w.compileExpression(true, room)
	if err == nil {
		e.name = t.name
	}
	return e, err
}

func (w writtenTerm) compileExpression(fold bool, room int) (*term, error) {
	problem := func(text string) error { return &QueryError{Position: w.at, Message: text} }
	flags, prefix := syntax.Perl, ""
	if fold {
		flags, prefix = flags|syntax.FoldCase, "(?i)"
	}
	tree, err := syntax.Parse(w.text, flags)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return nil, problem(fmt.Sprintf("the regular expression has an error: %s: `%s`", e.Code, e.Expr))
		}
		return nil, problem("the regular expression has an error: " + err.Error())
	}
	t := &term{fold: fold || folds(tree), instructions: instructions(tree)}
	if t.instructions > room {
		return nil, problem(fmt.Sprintf("the regular expression is too large: it has about %d steps, and all of a query may have %d",
			t.instructions, limits.SourceProgram))
	}
	if t.expression, err = regexp.Compile(prefix + w.text); err != nil {
		return nil, problem("the regular expression has an error: " + err.Error())
	}
	if t.expression.MatchString("") {
		return nil, problem("the regular expression matches the empty text, and so every line")
	}
	tree = tree.Simplify()
	program, err := syntax.Compile(tree)
	if err != nil {
		return nil, problem("the regular expression has an error: " + err.Error())
	}
	t.automaton = newAutomaton(program)
	t.needed = clauses(tree, t.fold)
	var best clause
	for _, c := range t.needed {
		if c.shortest() > 1 || len(c) == 1 && !isWord(c[0][0]) && c[0] != " " {
			if c.better(best) {
				best = c
			}
		}
	}
	for _, text := range best {
		t.scan = append(t.scan, newNeedle(text))
	}
	return t, nil
}

// instructions estimates the size of the program of an expression, before any memory is spent on it.
func instructions(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture:
		n = 2
	case syntax.OpConcat, syntax.OpRepeat:
		n = 0
	}
	for _, sub := range re.Sub {
		n = min(n+instructions(sub), 1<<20)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 1<<20)
}

// folds reports whether a part of an expression ignores case.
func folds(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	for _, sub := range re.Sub {
		if folds(sub) {
			return true
		}
	}
	return false
}

// blocks returns the blocks that may hold the term.
func (t *term) blocks(x index, blocks []part) blockSet {
	set := allBlocks(8 * x.width)
	for _, c := range t.needed {
		either := make(blockSet, len(set))
		for _, text := range c {
			for i, b := range x.with(text) {
				either[i] |= b
			}
		}
		for i, b := range either {
			set[i] &= b
		}
	}
	if t.fold && t.expression != nil {
		for i, b := range blocks {
			if b.foldsBeyond7 {
				set[i/8] |= 1 << (i % 8)
			}
		}
	}
	return set
}

// find calls each for every line of a file that matches, in order, until each returns false. It calls going for every line that costs
// time, and ends when going returns false.
func (t *term) find(f *fileText, going func(bytes int) bool, each func(hit) bool) {
	switch {
	case len(t.literal.text) > 0 && (t.expression == nil || !f.foldsBeyond7):
		t.findLiteral(f, going, each)
	case t.scan != nil && !(t.fold && f.foldsBeyond7):
		t.findCandidates(f, going, each)
	default:
		t.findLines(f, going, each)
	}
}

func (t *term) findLiteral(f *fileText, going func(bytes int) bool, each func(hit) bool) {
	text := f.text
	if t.fold {
		text = f.lower()
	}
	for pos := 0; pos < len(text); {
		at := t.literal.in(text, pos)
		if at < 0 || !going(0) {
			return
		}
		h := hit{from: at, to: at + len(t.literal.text)}
		h.start, h.end, pos = f.line(h.from)
		if !each(h) {
			return
		}
	}
}

// findCandidates looks at the lines that hold one of the texts of scan.
func (t *term) findCandidates(f *fileText, going func(bytes int) bool, each func(hit) bool) {
	text := f.text
	if t.fold {
		text = f.lower()
	}
	at := make([]int, len(t.scan)) // where each of the texts occurs next
	for i := range at {
		at[i] = -1
	}
	for pos := 0; pos < len(text); {
		first := len(text)
		for i := range t.scan {
			if at[i] < pos {
				if at[i] = t.scan[i].in(text, pos); at[i] < 0 {
					at[i] = len(text)
				}
			}
			first = min(first, at[i])
		}
		if first == len(text) {
			return
		}
		var h hit
		h.start, h.end, pos = f.line(first)
		if !going(min(h.end-h.start, longLine)) {
			return
		}
		if t.matches(f, &h) && !each(h) {
			return
		}
	}
}

func (t *term) findLines(f *fileText, going func(bytes int) bool, each func(hit) bool) {
	for pos := 0; pos < len(f.text); {
		h := hit{start: pos}
		h.end, pos = f.endOfLine(pos)
		if !going(min(h.end-h.start, longLine)) {
			return
		}
		if t.matches(f, &h) && !each(h) {
			return
		}
	}
}

// matches looks at one line and sets the place of the first match.
func (t *term) matches(f *fileText, h *hit) bool {
	line := f.text[h.start:h.end]
	if len(line) > longLine {
		line = line[:longLine]
		f.long++
	}
	if t.automaton != nil && t.automaton.line(line) == no {
		return false
	}
	loc := t.expression.FindIndex(line)
	if loc == nil {
		return false
	}
	h.from, h.to = h.start+loc[0], h.start+loc[1]
	return true
}
