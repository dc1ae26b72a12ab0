package limits

import (
	"os"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/golden"
)

// TestDocument compares the list in docs/limits.md with the table.
func TestDocument(t *testing.T) {
	const path, begin, end = "../../docs/limits.md", "<!-- limits -->\n", "<!-- /limits -->"
	var want strings.Builder
	for _, g := range Table() {
		want.WriteString("\n## " + g.Title + "\n\n")
		for _, l := range g.Limits {
			text := l.About
			if l.Setting != "" {
				text += " Setting: `" + l.Setting + "`."
			}
			want.WriteString(item(text))
		}
	}
	want.WriteString("\n")
	before, _, after := cutList(t, path, begin, end)
	golden.Write(t, path, before+begin+want.String()+end+after)
	if _, got, _ := cutList(t, path, begin, end); got != want.String() {
		t.Errorf("%s differs from the table; go test ./server/limits -update rewrites it", path)
	}
}

// item returns a list item of lines with at most 140 columns.
func item(text string) string {
	var b strings.Builder
	line := "*"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 140 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// cutList returns the parts of a document before, between and after two marks.
func cutList(t *testing.T, path, begin, end string) (before, list, after string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	list, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", path, begin, end)
	}
	return before, list, after
}
