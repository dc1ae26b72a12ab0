package pack

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// found is the lines and columns that match, by path.
type found map[string]map[int]int

// grep is the oracle: it knows no block, no index and no shortcut, and asks package regexp about every line. Terms are given as
// expressions.
func grep(files map[string]string, terms []*regexp.Regexp) found {
	all := found{}
	for path, text := range files {
		lines := map[int]int{}
		whole := true
		for _, re := range terms {
			any := false
			i := -1
			for line := range strings.Lines(text) {
				i++
				line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
				loc := re.FindStringIndex(line)
				if loc == nil {
					continue
				}
				any = true
				column := len([]rune(line[:loc[0]])) + 1
				if lines[i+1] == 0 {
					lines[i+1] = column
				}
			}
			whole = whole && any
		}
		if whole && len(lines) > 0 {
			all[path] = lines
		}
	}
	return all
}

// expressions turns a query into the expressions of its terms.
func expressions(tb interface{ Fatal(...any) }, text string) []*regexp.Regexp {
	written, err := split(text)
	if err != nil {
		tb.Fatal(err)
	}
	fold := true
	for _, w := range written {
		fold = fold && !w.hasCapital()
	}
	var all []*regexp.Regexp
	for _, w := range written {
		all = append(all, expressionsOf(tb, w, fold)...)
	}
	return all
}

func expressionsOf(tb interface{ Fatal(...any) }, w writtenTerm, fold bool) []*regexp.Regexp {
	if !w.expression {
		w.text = regexp.QuoteMeta(w.text)
	}
	if fold {
		w.text = "(?i)" + w.text
	}
	re, err := regexp.Compile(w.text)
	if err != nil {
		tb.Fatal(err)
	}
	return []*regexp.Regexp{re}
}

// compare searches a pack for a query and holds the answer against the oracle.
func compare(tb interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, p *Pack, files map[string]string, text string,
) {
	r, err := p.Search(context.Background(), Query{Text: text, Files: maxFiles, PerFile: maxPerFile, NoContext: true, Time: time.Hour})
	if err != nil {
		tb.Fatal(err)
	}
	want := grep(files, expressions(tb, text))
	lines := 0
	for _, l := range want {
		lines += len(l)
	}
	if r.Truncated || r.Matched != len(want) || r.Lines != lines || len(r.Files) != min(len(want), maxFiles) {
		tb.Fatalf("%q: %d lines in %d files (%d in the answer, truncated: %v), and grep says %d in %d\n%v\n%v", text, r.Lines, r.Matched,
			len(r.Files), r.Truncated, lines, len(want), r.Files, want)
	}
	for _, f := range r.Files {
		if len(f.Matches) != min(len(want[f.Path]), maxPerFile) || f.Lines != len(want[f.Path]) {
			tb.Fatalf("%q: %s has %d lines, and grep says %d", text, f.Path, f.Lines, len(want[f.Path]))
		}
		for _, m := range f.Matches {
			if column := want[f.Path][m.Line]; column == 0 || len(expressions(tb, text)) == 1 && m.Column != column {
				tb.Fatalf("%q: %s has a match in line %d, column %d, and grep says %d", text, f.Path, m.Line, m.Column, column)
			}
		}
	}
}

// drawnText has few different characters, so that terms meet often. It holds the two characters beyond ASCII that fold to ASCII, letters
// with case, line ends of both kinds, and bytes that are not UTF-8.
func drawnText(t *rapid.T, name string, most int) string {
	all := []string{
		"a", "b", "A", "B", "k", "K", "s", "S", "\u017F", "\u212A", "é", "É", "ß", "日", "0", "7", "_", " ", "(", ".", "\t", "\n", "\n",
		"\r\n", "\r",
		"\xff", "\xc3", "abk", "ABK", "bask", "foo ", "Foo(", "\n\n",
	}
	if rapid.Bool().Draw(t, "few") {
		all = []string{"a", "b", "k", "\n", rapid.SampledFrom(all).Draw(t, "other")}
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(all), 0, most).Draw(t, name), "")
}

func drawnExpression(t *rapid.T, depth int) string {
	if depth == 0 {
		if rapid.Bool().Draw(t, "letter") {
			return rapid.SampledFrom([]string{"a", "b", "k"}).Draw(t, "atom")
		}
		return rapid.SampledFrom([]string{
			"a", "b", "A", "k", "K", "s", "é", "É", "日", "0", `\d`, `\w`, `\W`, `\S`, ".", "[ab]", "[Aa]", "[^a]", "[k-s]", "[A-Z]", `\b`, `\B`,
			"^", "$", "_", " ", `\(`, `\.`, "abk", "foo", "bask", `\x{212A}`, `\x{FFFD}`, `\pL`, `\r`, `\t`, "(?:)",
		}).Draw(t, "atom")
	}
	a := drawnExpression(t, depth-1)
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0, 1, 2, 3:
		return a + drawnExpression(t, depth-1)
	case 4:
		return "(?:" + a + "|" + drawnExpression(t, depth-1) + ")"
	case 5:
		return "(" + a + ")*"
	case 6:
		return "(?:" + a + ")+"
	case 7:
		return "(" + a + ")?"
	case 8:
		return "(?:" + a + "){1,3}"
	default:
		return "(?i:" + a + ")"
	}
}

// TestSearchIsGrep is a property: for any files and any query, Search finds the lines that grep finds.
func TestSearchIsGrep(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{}
		for i := range rapid.IntRange(1, 5).Draw(rt, "files") {
			files[fmt.Sprintf("f%d.txt", i)] = drawnText(rt, "text", 60)
		}
		p := packed(t, archiveOf(t, tree(files)...), Limits{})
		defer p.Close()
		for range 8 {
			var terms []string
			for range rapid.IntRange(1, 3).Draw(rt, "terms") {
				switch rapid.IntRange(0, 2).Draw(rt, "kind") {
				case 0:
					terms = append(terms, "/"+drawnExpression(rt, rapid.IntRange(0, 4).Draw(rt, "depth"))+"/")
				case 1:
					word := strings.ToValidUTF8(drawnText(rt, "word", 4), "")
					terms = append(terms, strings.Trim(strings.Join(strings.Fields(word), ""), `"/`))
				default:
					text := strings.ToValidUTF8(drawnText(rt, "phrase", 4), "")
					terms = append(terms, `"`+strings.NewReplacer("\n", "", "\r", "").Replace(text)+`"`)
				}
			}
			text := strings.Join(terms, " ")
			if (Query{Text: text}).Check() != nil {
				continue // empty phrases, and expressions that match the empty text
			}
			compare(rt, p, files, text)
		}
	})
}
