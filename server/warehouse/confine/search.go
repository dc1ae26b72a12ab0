package confine

import (
	"strings"

	"github.com/svc-observability/svc/server/limits"
)

// checkSearch checks a function that looks for one text in another. Its work grows with the length of the one times that of the other,
// and the engine cannot cancel it within a value. So one of the two must be a literal of bounded length.
func checkSearch(n *Node) *Refusal {
	most, searches := searchBound(n.Text)
	if !searches {
		return nil
	}
	var args []*Node
	for _, list := range n.Nodes {
		args = append(args, list.Nodes...)
	}
	for _, arg := range args[:min(2, len(args))] {
		// In the tree, a literal has quotes around it. An array of literals is one literal too.
		if arg = withoutCase(arg); arg.Kind == "Literal" && len(arg.Text) <= most+len("''") {
			return nil
		}
	}
	return refuse(
		DisallowedStatement,
		"%s needs a text to search for that is written as a literal of at most %d bytes: its work cannot be stopped within a value.",
		quote(n.Text), most,
	)
}

// withoutCase returns the text whose letters a function changes: a literal in lower case is still bounded.
func withoutCase(n *Node) *Node {
	switch n.Text {
	case "lower", "lowerUTF8", "upper", "upperUTF8":
		if n.Kind == "Function" && len(n.Nodes) == 1 && len(n.Nodes[0].Nodes) == 1 {
			return n.Nodes[0].Nodes[0]
		}
	}
	return n
}

// searchBound reports whether a function looks for one text in another, and the bound on the length of the shorter one. Searches
// without regard to case are up to a hundred times slower in the worst texts.
func searchBound(function string) (bytes int, searches bool) {
	name := strings.ToLower(function)
	caseless := strings.Contains(name, "caseinsensitive")
	switch strings.TrimSuffix(strings.Replace(name, "caseinsensitive", "", 1), "utf8") {
	case "ilike", "notilike", "instr":
		caseless = true
	case "like", "notlike", "locate", "replace", "replaceall", "replaceone", "splitbystring", "position", "countsubstrings",
		"mapcontainskeylike", "mapcontainsvaluelike", "mapextractkeylike", "mapextractvaluelike",
		"multisearchallpositions", "multisearchany", "multisearchfirstindex", "multisearchfirstposition":
	default:
		return 0, false
	}
	if caseless {
		return limits.SQLSearchAnyCase, true
	}
	return limits.SQLSearch, true
}
