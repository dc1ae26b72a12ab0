package pack

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
)

// TestTermsFindWhatPackageRegexpFinds tries many small expressions on small texts. It needs no pack, so it tries more than the property of
// TestSearchIsGrep does.
func TestTermsFindWhatPackageRegexpFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	letters := []string{"a", "b", "k"}
	atoms := []string{
		"A", "K", "s", "é", "É", "0", `\d`, `\w`, `\W`, ".", "[ab]", "[Aa]", "[^a]", "[A-Z]", `\b`, `\B`, "^", "$", "_", "ab", `\x{212A}`,
		`\x{FFFD}`,
	}
	parts := []string{"A", "B", "K", "s", "\u017F", "\u212A", "é", "É", "0", "_", " ", "\n", "\r\n", "\xff", "\xc3"}
	var draw func(depth int) string
	draw = func(depth int) string {
		all := ""
		for range 1 + random.IntN(4) {
			part := pick(letters)
			switch n := random.IntN(6); {
			case n < 2:
				part = pick(atoms)
			case n == 2 && depth > 0:
				part = "(?:" + draw(depth-1) + "|" + draw(depth-1) + ")"
			case n == 3 && depth > 0:
				part = "((?i)" + draw(depth-1) + ")"
			}
			all += part
			if random.IntN(3) == 0 {
				all += pick([]string{"*", "+", "?", "{0,2}", "{2}", "*?"})
			}
		}
		return all
	}
	tried, lines := 0, 0
	for range 30_000 {
		w := writtenTerm{text: draw(random.IntN(3)), expression: true}
		fold := random.IntN(2) == 0
		term, err := w.compile(fold, limits.SourceProgram)
		if err != nil {
			continue // it matches the empty text
		}
		tried++
		var b strings.Builder
		for range random.IntN(25) {
			if random.IntN(5) > 0 {
				b.WriteString(pick(letters))
			} else {
				b.WriteString(pick(parts))
			}
		}
		text := b.String()
		own := make(column, buckets/64)
		own.add([]byte(text))
		x := index{rows: rows([]column{own}), width: 1}
		f := &fileText{text: []byte(text), foldsBeyond7: foldsBeyond7([]byte(text)), buffer: new([]byte)}
		got := map[int]int{}
		if term.blocks(x, []part{{foldsBeyond7: f.foldsBeyond7}}).has(0) {
			term.find(f, func(int) bool { return true }, func(h hit) bool {
				line := strings.Count(text[:h.start], "\n") + 1
				got[line] = len([]rune(text[h.start:h.from])) + 1
				return true
			})
		}
		want := grep(map[string]string{"f": text}, expressionsOf(t, w, fold))["f"]
		lines += len(want)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("/%s/ (fold: %v) in %q: %v instead of %v; needed %q", w.text, fold, text, got, want, term.needed)
		}
	}
	if tried < 10_000 || lines < 10_000 {
		t.Errorf("%d expressions had %d lines", tried, lines)
	}
}

// TestClauses lists the texts that expressions need.
func TestClauses(t *testing.T) {
	for text, want := range map[string]string{
		`abc`:              `[["abc"]]`,
		`abc.*def`:         `[["abc"] ["def"]]`,
		`ab*c`:             `[["a"] ["c"]]`,
		`a(b)*c`:           `[["a"] ["c"]]`,
		`ab?c`:             `[["abc" "ac"]]`,
		`a[bc]d`:           `[["abd" "acd"]]`,
		`(foo|bar)baz`:     `[["barbaz" "foobaz"]]`,
		`(foo.|bar)baz`:    `[["bar" "foo"] ["baz"]]`,
		`(foo|.)baz`:       `[["baz"]]`,
		`(foo)+x`:          `[["foo"] ["x"]]`,
		`x{2,3}`:           `[["xx" "xxx"]]`,
		`x{5,}`:            `[["xxxx"] ["x"]]`,
		`\bfoo\b`:          `[["foo"]]`,
		`[a-z]+`:           `[]`,
		`(?i)Foo`:          `[["foo"]]`,
		`(?i)ké`:           `[["k"]]`,
		`é\x{FFFD}x`:       `[["é"] ["x"]]`,
		`func \(\w+ \*S\)`: `[["func ("] [" *S)"]]`,
	} {
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", clauses(tree.Simplify(), folds(tree))); got != want {
			t.Errorf("%s needs %s instead of %s", text, got, want)
		}
	}
}
