package confine

import (
	"slices"
	"strings"
)

// Table is the tenant's part of an offered table.
type Table struct {
	Name string
	// Source is the underlying table, with its database. Select is the subquery that defines the tenant's part; it reads only
	// Source.
	Source, Select string
}

// Compose puts the definitions of the tables before a statement, so that each name stands for the tenant's part and nothing else.
// The result may run only after VerifyComposed accepts it.
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

// VerifyComposed compares the engine's tree of a composed statement with the tree of the checked statement. They must be the same
// except for the definitions, which come first. So it does not matter whether Compose and the engine agree on where a statement
// begins.
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
		// Remove the definitions again: the rest must be the tenant's tree.
		takeOut(composed, definitions)
	}
	if !c.tree.equal(composed) {
		return broken
	}
	return nil
}

// takeOut removes the definitions from every SELECT of a UNION. The engine repeats the definitions of the first SELECT in every
// SELECT without a WITH.
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

// reads reports whether a definition reads the source table and no other, with exactly one filter, which is on the organization.
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

// firstSelect returns the SELECT to which the first word of a statement belongs.
func firstSelect(n *Node) *Node {
	for n != nil && n.Kind != "SelectQuery" {
		if len(n.Nodes) == 0 {
			return nil
		}
		n = n.Nodes[0]
	}
	return n
}
