package contract

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocumentFigures compares the figures in the documents with limits, by the table in documentfigures_table_test.go. It leaves out the
// lists that other tests compare with the code, and the reports of measurements.
func TestDocumentFigures(t *testing.T) {
	const folder, table = "../../docs/", "documentFigures (server/contract/documentfigures_table_test.go)"
	want := map[string][]string{}
	for _, b := range documentFigures {
		for _, name := range strings.Fields(b.documents) {
			want[name] = append(want[name], b.figure)
		}
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
		byHand, _, _ := strings.Cut(string(text), "<!-- limits -->")
		got := figuresOf(strings.Join(strings.Fields(byHand), " "))
		for _, f := range got {
			if !slices.Contains(want[name], f) {
				t.Errorf("docs/%s says %q; its figures in %s are %q. Correct the document, or bind the figure there.", name, f, table, want[name])
			}
		}
		for _, f := range want[name] {
			if !slices.Contains(got, f) {
				t.Errorf("docs/%s does not say %q, which %s binds to it. Correct the document, or the table.", name, f, table)
			}
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s binds figures to docs/%s, which does not exist", table, name)
	}
}
