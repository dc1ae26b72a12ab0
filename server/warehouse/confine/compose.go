package confine

import (
	"slices"
	"strings"
)

// Table is the tenant's part of an offered table.
type Table struct {
	Name string
	// Source is the table behind it, with its database; Select the subquery that defines it, over that table alone.
	Source, Select string
}

// Compose puts the definitions of the tables before a statement, so that each name stands for the tenant's part and for nothing else.
// VerifyComposed must pass before the result runs.
func Compose(p *Prepared, tables []Table) string {
	if len(tables) == 0 {
		return p.SQL
	}
	var b strings.Builder
	b.WriteString(p.SQL[:p.at])
	if !p.with {
		b.WriteString("WITH")
	}
	for i, t := range tables {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + t.Name + " AS (" + t.Select + ")")
	}
	if p.with {
		b.WriteByte(',')
	} else {
		b.WriteByte(' ')
	}
	b.WriteString(p.SQL[p.at:])
	return b.String()
}

// VerifyComposed compares the engine's tree of a composed statement with that of the checked one: it must be the same but for the
// definitions, which come first. So it does not matter whether Compose and the engine agree on where a statement begins.
func VerifyComposed(c *Checked, composed *Node, tables []Table) *Refusal {
	broken := refuse(DisallowedStatement, "The statement cannot be confined to the organization; write it more simply.")
	if len(tables) > 0 {
		first := firstSelect(composed)
		if first == nil || len(first.Nodes) == 0 || first.Nodes[0].Kind != "ExpressionList" || len(first.Nodes[0].Nodes) < len(tables) {
			return broken
		}
		definitions := first.Nodes[0].Nodes[:len(tables)]
		for i, t := range tables {
			if e := definitions[i]; e.Kind != "WithElement" || !reads(e, t.Source) {
				return broken
			}
		}
		// Take the definitions out again: what is left must be the tenant's tree.
		takeOut(composed, definitions)
	}
	if !c.tree.equal(composed) {
		return broken
	}
	return nil
}

// takeOut removes the definitions from every SELECT of a UNION: the engine repeats those of the first in all that have no WITH.
func takeOut(n *Node, definitions []*Node) {
	switch n.Kind {
	case "SelectWithUnionQuery", "SelectIntersectExceptQuery", "ExpressionList":
		for _, c := range n.Nodes {
			takeOut(c, definitions)
		}
	case "SelectQuery":
		for i, list := range n.Nodes {
			if list.Kind != "ExpressionList" || len(list.Nodes) < len(definitions) ||
				!slices.EqualFunc(list.Nodes[:len(definitions)], definitions, (*Node).equal) {
				continue
			}
			if rest := list.Nodes[len(definitions):]; len(rest) > 0 {
				n.Nodes[i] = &Node{Kind: list.Kind, Text: list.Text, Alias: list.Alias, Nodes: rest}
			} else {
				n.Nodes = slices.Delete(n.Nodes, i, i+1)
			}
			return
		}
	}
}

// reads reports whether a definition reads one table and no other, for the organization.
func reads(n *Node, source string) bool {
	tables, filters := 0, 0
	other := n.walk(func(n *Node, _ []*Node) *Refusal {
		switch {
		case n.Kind == "TableIdentifier" && n.Text == source:
			tables++
		case n.Kind == "Function" && n.Text == "equals":
			filters++
		case n.Kind == "TableIdentifier", n.Kind == "Function":
			return refuse(DisallowedTable, "")
		}
		return nil
	})
	return other == nil && tables == 1 && filters == 1
}

// firstSelect is the SELECT that the first word of a statement belongs to.
func firstSelect(n *Node) *Node {
	for n != nil && n.Kind != "SelectQuery" {
		if len(n.Nodes) == 0 {
			return nil
		}
		n = n.Nodes[0]
	}
	return n
}
