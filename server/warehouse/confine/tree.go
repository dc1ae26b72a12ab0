package confine

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// Node is a node of the engine's syntax tree.
type Node struct {
	Kind  string // SelectQuery, Function, …
	Text  string // the text after the kind, without alias and children: the name of a function, the value of a literal
	Alias string
	Nodes []*Node
}

var (
	errTree = errors.New("the engine's syntax tree has an unknown form")

	childrenPattern = regexp.MustCompile(` \(children (\d+)\)$`)
	aliasPattern    = regexp.MustCompile(` \(alias (.*)\)$`)
)

// ParseTree reads the output of EXPLAIN AST. It has one line for each node, indented by the node's depth. Each node also states
// its number of children, which must agree with the indentation.
func ParseTree(lines []string) (*Node, error) {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	root, rest, err := parseNode(lines, 0)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, errTree
	}
	return root, nil
}

func parseNode(lines []string, depth int) (*Node, []string, error) {
	if len(lines) == 0 || depth > maxDepth+2 {
		return nil, nil, errTree
	}
	line := lines[0]
	if len(line) <= depth || strings.TrimLeft(line, " ") != line[depth:] {
		return nil, nil, errTree
	}
	line = line[depth:]
	children := 0
	if m := childrenPattern.FindStringSubmatchIndex(line); m != nil {
		n, err := strconv.Atoi(line[m[2]:m[3]])
		if err != nil {
			return nil, nil, errTree
		}
		children, line = n, line[:m[0]]
	}
	n := &Node{}
	if n.Kind, n.Text, _ = strings.Cut(line, " "); n.Kind != "Literal" {
		// In a literal, a text that looks like an alias is part of the value. The names of other nodes never contain such a text, so
		// there it is the alias.
		if m := aliasPattern.FindStringSubmatchIndex(n.Text); m != nil {
			n.Alias, n.Text = n.Text[m[2]:m[3]], n.Text[:m[0]]
		} else if m := aliasPattern.FindStringSubmatchIndex(" " + n.Text); m != nil {
			n.Alias, n.Text = n.Text[m[2]-1:m[3]-1], ""
		}
	}
	rest := lines[1:]
	for range children {
		child, after, err := parseNode(rest, depth+1)
		if err != nil {
			return nil, nil, err
		}
		n.Nodes, rest = append(n.Nodes, child), after
	}
	return n, rest, nil
}

// walk visits a node and all nodes below it, with the path of nodes above each.
func (n *Node) walk(visit func(n *Node, above []*Node) *Refusal) *Refusal {
	var path []*Node
	var descend func(*Node) *Refusal
	descend = func(n *Node) *Refusal {
		if r := visit(n, path); r != nil {
			return r
		}
		path = append(path, n)
		defer func() { path = path[:len(path)-1] }()
		for _, c := range n.Nodes {
			if r := descend(c); r != nil {
				return r
			}
		}
		return nil
	}
	return descend(n)
}

// equal reports whether two trees are the same, names and values included.
func (n *Node) equal(other *Node) bool {
	if n.Kind != other.Kind || n.Text != other.Text || n.Alias != other.Alias || len(n.Nodes) != len(other.Nodes) {
		return false
	}
	for i := range n.Nodes {
		if !n.Nodes[i].equal(other.Nodes[i]) {
			return false
		}
	}
	return true
}
