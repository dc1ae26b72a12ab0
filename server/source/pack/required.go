package pack

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// clause is a set of texts. A line that matches an expression holds one of them.
type clause []string

// maxAlternatives bounds the texts of a clause. Beyond, a clause excludes next to no block.
const maxAlternatives = 16

// shortest returns the length of the shortest text.
func (c clause) shortest() int {
	n := len(c[0])
	for _, s := range c {
		n = min(n, len(s))
	}
	return n
}

// better reports whether a clause excludes more than another one, which may be nil.
func (c clause) better(than clause) bool {
	if than == nil {
		return true
	}
	// One more byte excludes more than half as many alternatives do.
	return c.shortest()*2-len(c) > than.shortest()*2-len(than)
}

// clauses finds texts that each match of an expression must hold. With fold they are in lower case, and hold for text in lower case
// that has none of the characters of foldsBeyond7.
func clauses(re *syntax.Regexp, fold bool) []clause {
	r := required{fold: fold}
	texts, needed := r.of(re)
	if c, ok := r.clause(texts); ok {
		needed = append(needed, c)
	}
	return needed
}

// required walks an expression. Each method returns either all the texts that a part of the expression matches, or nil and the clauses
// that its matches fulfil.
type required struct{ fold bool }

func (r required) of(re *syntax.Regexp) (texts []string, needed []clause) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		return []string{""}, nil
	case syntax.OpLiteral:
		return r.literal(re.Rune)
	case syntax.OpCharClass:
		return r.class(re.Rune), nil
	case syntax.OpCapture:
		return r.of(re.Sub[0])
	case syntax.OpQuest:
		if texts, _ = r.of(re.Sub[0]); texts != nil && len(texts) < maxAlternatives {
			return unique(append(texts, "")), nil
		}
		return nil, nil
	case syntax.OpPlus:
		texts, needed = r.of(re.Sub[0])
		if c, ok := r.clause(texts); ok {
			needed = append(needed, c)
		}
		return nil, needed
	case syntax.OpConcat:
		return r.concat(re.Sub)
	case syntax.OpAlternate:
		return r.alternate(re.Sub)
	default: // OpStar, OpAnyChar, OpNoMatch, …; Simplify has taken OpRepeat out
		return nil, nil
	}
}

// literal splits a text at characters that have more than one form in bytes.
func (r required) literal(runes []rune) ([]string, []clause) {
	var parts []string
	var b strings.Builder
	for _, c := range runes {
		if !r.plain(c) {
			parts = append(parts, b.String())
			b.Reset()
			continue
		}
		b.WriteRune(r.lower(c))
	}
	parts = append(parts, b.String())
	if len(parts) == 1 {
		return parts, nil
	}
	var needed []clause
	for _, p := range parts {
		if p != "" {
			needed = append(needed, clause{p})
		}
	}
	return nil, needed
}

// plain reports whether a character has one form in bytes. Bytes that are not UTF-8 match as U+FFFD.
func (r required) plain(c rune) bool { return c < utf8.RuneSelf || !r.fold && c != utf8.RuneError }

func (r required) lower(c rune) rune {
	if r.fold && c < utf8.RuneSelf {
		return rune(lower(byte(c)))
	}
	return c
}

func (r required) class(ranges []rune) []string {
	var texts []string
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			if r.fold && (c == '\u017F' || c == '\u212A') {
				continue // texts with these take another way
			}
			if !r.plain(c) {
				return nil
			}
			if texts = append(texts, string(r.lower(c))); len(texts) > 2*maxAlternatives {
				return nil
			}
		}
	}
	if texts = unique(texts); len(texts) > maxAlternatives {
		return nil
	}
	return texts
}

func (r required) concat(parts []*syntax.Regexp) ([]string, []clause) {
	open := []string{""} // the texts that the parts since the last gap match
	var needed []clause
	whole := true
	for _, part := range parts {
		texts, below := r.of(part)
		if texts != nil && len(open)*len(texts) <= maxAlternatives {
			joined := make([]string, 0, len(open)*len(texts))
			for _, a := range open {
				for _, b := range texts {
					joined = append(joined, a+b)
				}
			}
			open = unique(joined)
			continue
		}
		whole = false
		if c, ok := r.clause(open); ok {
			needed = append(needed, c)
		}
		needed = append(needed, below...)
		if open = texts; open == nil {
			open = []string{""}
		}
	}
	if whole {
		return open, nil
	}
	if c, ok := r.clause(open); ok {
		needed = append(needed, c)
	}
	return nil, needed
}

func (r required) alternate(parts []*syntax.Regexp) ([]string, []clause) {
	var all []string
	var either clause
	known, fulfilled := true, true
	for _, part := range parts {
		texts, needed := r.of(part)
		known = known && texts != nil
		all = append(all, texts...)
		if c, ok := r.clause(texts); ok {
			needed = append(needed, c)
		}
		var best clause
		for _, c := range needed {
			if c.better(best) {
				best = c
			}
		}
		fulfilled = fulfilled && best != nil
		either = append(either, best...)
	}
	if all = unique(all); known && len(all) <= maxAlternatives {
		return all, nil
	}
	if either = unique(either); fulfilled && len(either) <= maxAlternatives {
		return nil, []clause{either}
	}
	return nil, nil
}

// clause makes a clause of all the texts of a part, if each has a byte.
func (r required) clause(texts []string) (clause, bool) {
	if len(texts) == 0 || slices.Contains(texts, "") {
		return nil, false
	}
	return clause(texts), true
}

func unique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}
