package limits

import (
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/golden"
)

// TestDocument compares the list in docs/limits.md with the table.
func TestDocument(t *testing.T) {
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
	golden.Section(t, "../../docs/limits.md", "limits", want.String())
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
