package server_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/golden"
)

// TestArchitecturePage holds the levels of docs/architecture.md against the table that the import test uses.
func TestArchitecturePage(t *testing.T) {
	const path, begin, end = "../docs/architecture.md", "<!-- levels -->\n", "<!-- /levels -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	byLevel := map[int][]string{}
	for p, level := range levels {
		byLevel[level] = append(byLevel[level], "`"+p+"`")
	}
	var want strings.Builder
	want.WriteString("| level | packages |\n|---|---|\n")
	for _, level := range slices.Backward(slices.Sorted(maps.Keys(byLevel))) {
		slices.Sort(byLevel[level])
		fmt.Fprintf(&want, "| %d | %s |\n", level, strings.Join(byLevel[level], ", "))
	}
	page := head + begin + want.String() + end + tail
	golden.Write(t, path, page)
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if string(text) != page {
		t.Errorf("%s: the table of levels is not current: go test ./server -run TestArchitecturePage -update writes it", path)
	}
}
