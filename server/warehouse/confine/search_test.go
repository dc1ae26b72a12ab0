package confine

import (
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
)

// TestSearches: the work of a function that searches for a text is bounded by the length of a literal.
func TestSearches(t *testing.T) {
	g := NewGuard([]string{"logs"}, nil)
	column, other := &Node{Kind: "Identifier", Text: "Body"}, &Node{Kind: "Function", Text: "concat"}
	text := func(n int) *Node { return &Node{Kind: "Literal", Text: "'" + strings.Repeat("x", n) + "'"} }
	for _, tt := range []struct {
		function string
		args     []*Node
		refused  bool
	}{
		{"position", []*Node{column, text(limits.SQLSearch)}, false},
		{"position", []*Node{column, text(limits.SQLSearch + 1)}, true},
		{"position", []*Node{text(3), column}, false},
		{"position", []*Node{column, column}, true},
		{"position", []*Node{column, other, text(1)}, true},
		{"like", []*Node{column, other}, true},
		{"LOCATE", []*Node{text(3), column}, false},
		{"replaceAll", []*Node{column, column, text(1)}, true},
		{"splitByString", []*Node{text(1), column}, false},
		{"countSubstrings", []*Node{column, column}, true},
		{"ilike", []*Node{column, text(limits.SQLSearchAnyCase)}, false},
		{"ilike", []*Node{column, text(limits.SQLSearchAnyCase + 1)}, true},
		{"positionCaseInsensitiveUTF8", []*Node{column, text(limits.SQLSearchAnyCase + 1)}, true},
		{"positionCaseInsensitive", []*Node{column, text(limits.SQLSearchAnyCase + 1)}, true},
		{"countSubstringsCaseInsensitiveUTF8", []*Node{column, column}, true},
		{"multiSearchAnyCaseInsensitiveUTF8", []*Node{column, {Kind: "Literal", Text: "Array_['x', 'y']"}}, false},
		{"multiSearchAllPositionsUTF8", []*Node{column, other}, true},
		{
			"position",
			[]*Node{column, {Kind: "Function", Text: "lowerUTF8", Nodes: []*Node{{Kind: "ExpressionList", Nodes: []*Node{text(3)}}}}},
			false,
		},
		{
			"position",
			[]*Node{column, {Kind: "Function", Text: "repeat", Nodes: []*Node{{Kind: "ExpressionList", Nodes: []*Node{text(3)}}}}},
			true,
		},
		{"startsWith", []*Node{column, column}, false},
		{"arrayMap", []*Node{{Kind: "Identifier", Text: "positionUTF8"}, column, column}, true},
		{"arrayMap", []*Node{{Kind: "Identifier", Text: "positions"}, column}, false},
	} {
		n := &Node{Kind: "Function", Text: tt.function, Nodes: []*Node{{Kind: "ExpressionList", Nodes: tt.args}}}
		if r := g.function(n, nil); (r != nil) != tt.refused {
			t.Errorf("%s of %d arguments: %v", tt.function, len(tt.args), r)
		}
	}
}
