package contract

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

var (
	// shortUnit matches a figure with a unit that documents write and comments of the contract do not.
	shortUnit = regexp.MustCompile(`(?:^|[^\w.,-])(\d+(?:[.,]\d+)*|two|` + words + `) (s|ms|%)([^\w]|$)`)
	// notCounted matches the numbers of a document that are names: statuses of HTTP, versions, ports, decision records, migrations, dates, and
	// the places of a list.
	notCounted = regexp.MustCompile(`\b(?:30[378]|4(?:0[0-489]|1[0357]|2[259])|50[234])\b|\b\d+\.\d+\.\d+(?:\.\d+)?(?::\d+)?|` +
		`\[?\b0\d\d\d(?:-[\w-]+\.md)?\b|\b20\d\d-\d\d-\d\d\b|\b\d+ (?:November )?20\d\d\b|\(before 20\d\d\)|(?m:^ *\d\. )|[\w/.-]+\.md#[\w-]+`)
	// measured matches the chapter of a page that holds measurements, and a row of a table that ends in two figures or more, because a row
	// of bounds has one value.
	measured = regexp.MustCompile(`(?s:\n## Measured\n.*?(?:\n## |$))|(?m:^\|.*?\|(?: ` + cell + ` \|){2,}$)`)
)

const cell = `\**\d[\d.,]*(?: to \d[\d.,]*)?(?: (?:s|ms|%|\([\d.]+ %\)))?\**`

// shortsOf returns the figures of a text with the units s, ms and %, and the text without them.
func shortsOf(text string) (list []string, rest string) {
	rest = shortUnit.ReplaceAllStringFunc(text, func(found string) string {
		m := shortUnit.FindStringSubmatch(found)
		n, whole := numbers[strings.ToLower(m[1])]
		if !whole {
			v, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
			n, whole = v, err == nil
		}
		switch {
		case whole && m[2] == "s":
			list = append(list, limits.Lasts(time.Duration(n)*time.Second))
		case whole && m[2] == "ms":
			list = append(list, limits.Lasts(time.Duration(n)*time.Millisecond))
		default:
			list = append(list, m[1]+" "+m[2])
		}
		return m[3] // it can begin the next figure
	})
	return list, rest
}

// documentFiguresOf returns the figures of a page that people write by hand. Measurements, and a page without counts, have only those of
// figuresOf.
func documentFiguresOf(page string, counts bool) []string {
	byHand, _, _ := strings.Cut(page, "<!-- limits -->")
	inOneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	list := figuresOf(inOneLine(byHand))
	if !counts {
		return list
	}
	plain := noFigures.ReplaceAllString(inOneLine(notCounted.ReplaceAllString(measured.ReplaceAllString(byHand, "\n"), ";")), ";")
	shorts, plain := shortsOf(plain)
	return slices.Concat(list, shorts, countsOf(plain))
}

// TestDocumentFigures compares the figures in the documents with limits, by the tables in documentfigures_table_test.go. A figure stands as
// often on a page as its rows say, so two equal limits need two rows, and a change of one of them is noticed. The test leaves out the lists
// that other tests compare with the code, the reports of measurements, and the counts of demo.md, which are those of its shop.
func TestDocumentFigures(t *testing.T) {
	const folder, table = "../../docs/", "documentFigures (server/contract/documentfigures_table_test.go)"
	want, shared, free := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, b := range documentFigures {
		for _, place := range strings.Fields(b.documents) {
			name, times, _ := strings.Cut(place, "*")
			n, err := strconv.Atoi(cmp.Or(times, "1"))
			if err != nil {
				t.Fatalf("%s has the place %q: %v", table, place, err)
			}
			want[name] = append(want[name], slices.Repeat([]string{b.figure}, n)...)
			if n == 0 {
				shared[name] = append(shared[name], b.figure)
			}
		}
	}
	for _, b := range plainFigures {
		free[b.document] = append(free[b.document], strings.Split(b.figures, "; ")...)
	}
	paths, err := filepath.Glob(folder + "*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if slices.Contains([]string{"configuration.md", "performance.md", "scale.md"}, name) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := documentFiguresOf(string(text), name != "demo.md")
		for _, f := range free[name] {
			if !slices.Contains(got, f) {
				t.Errorf("docs/%s does not say %q, which plainFigures has for it", name, f)
			}
			got = slices.DeleteFunc(got, func(g string) bool { return g == f })
		}
		for _, f := range shared[name] {
			if !slices.Contains(got, f) {
				t.Errorf("docs/%s does not say %q, which %s binds to it", name, f, table)
			}
		}
		for _, f := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(got, want[name])))) {
			said, bound := count(got, f), count(want[name], f)
			if said != bound {
				t.Errorf("docs/%s says %q %d times, and %s has it %d times. Correct the document, or the table.", name, f, said, table, bound)
			}
		}
		delete(want, name)
		delete(free, name)
	}
	for name := range want {
		t.Errorf("%s binds figures to docs/%s, which does not exist", table, name)
	}
	for name := range free {
		t.Errorf("plainFigures has figures of docs/%s, which does not exist", name)
	}
}

func count(list []string, figure string) (n int) {
	for _, f := range list {
		if f == figure {
			n++
		}
	}
	return n
}
