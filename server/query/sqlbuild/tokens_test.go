package sqlbuild

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWholeTokens(t *testing.T) {
	for in, want := range map[string][]string{
		"":                       nil,
		"one":                    nil,
		"one two":                nil,
		"one TWO three":          {"two"},
		" one ":                  {"one"},
		"a.b-c_d/e":              {"b", "c", "d"},
		"x größe y":              nil,
		"x 'q' {org:String} z":   {"q", "org", "string"},
		strings.Repeat("a ", 99): strings.Fields(strings.Repeat("a ", 32)),
	} {
		if diff := cmp.Diff(want, WholeTokens(in)); diff != "" {
			t.Errorf("words of %q (-want +got):\n%s", in, diff)
		}
	}
}
