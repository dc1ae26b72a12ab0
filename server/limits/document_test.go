package limits

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of limits into docs/limits.md")

// TestDocument compares the list in docs/limits.md with the table.
func TestDocument(t *testing.T) {
	const path, begin, end = "../../docs/limits.md", "<!-- limits -->\n", "<!-- /limits -->"
	var want strings.Builder
	for _, g := range Table() {
		want.WriteString("\n## " + g.Title + "\n\n")
		for _, l := range g.Limits {
			want.WriteString("* " + l.About)
			if l.Setting != "" {
				want.WriteString(" Setting: `" + l.Setting + "`.")
			}
			want.WriteString("\n")
		}
	}
	want.WriteString("\n")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", path, begin, end)
	}
	if got == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the table; go test -update ./server/limits rewrites it", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
