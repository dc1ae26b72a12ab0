package issues

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMovesOfWebApplication holds the moves that the web application offers against those that a person can make.
func TestMovesOfWebApplication(t *testing.T) {
	text, err := os.ReadFile("../web/ui/src/pages/errors/work.ts")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)const moves: Record<State, State\[\]> = \{\n(.*?)\n\};`).FindSubmatch(text)
	if table == nil {
		t.Fatal("work.ts has no table of moves")
	}
	word := regexp.MustCompile(`\w+`)
	offered := map[string][]string{}
	for line := range strings.Lines(string(table[1])) {
		from, to, _ := strings.Cut(line, ":")
		offered[strings.TrimSpace(from)] = slices.Sorted(slices.Values(word.FindAllString(to, -1)))
	}
	all := moves()
	if got, want := slices.Sorted(maps.Keys(offered)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("the web application has the states %v, the server %v", got, want)
	}
	for from, to := range all {
		want := slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(to), machine)))
		if !slices.Equal(offered[from], want) {
			t.Errorf("from %s, the web application offers %v, the server %v", from, offered[from], want)
		}
	}
}
