package confine

import (
	"regexp"
	"slices"
	"strings"
)

// Guard holds the lists that it compares statements with. It is immutable.
type Guard struct {
	tables    map[string]bool
	names     []string
	functions functionSet
	// banned are the functions of the engine that are not allowed, in lower case.
	banned map[string]bool
}

// NewGuard makes a guard that offers the tables. engineFunctions are all functions of the engine that will run the statements.
func NewGuard(tables, engineFunctions []string) *Guard {
	g := &Guard{
		tables: map[string]bool{}, names: slices.Sorted(slices.Values(tables)), functions: allowedFunctions(), banned: map[string]bool{},
	}
	for _, t := range tables {
		g.tables[t] = true
	}
	for _, f := range engineFunctions {
		if !g.functions.has(f) {
			g.banned[strings.ToLower(f)] = true
		}
	}
	return g
}

// Checked is a statement that may run.
type Checked struct {
	// Tables are the offered tables that it reads.
	Tables []string
	// Names are the names in its expressions, as written: columns, aliases, parameters of lambdas.
	Names []string
	// Aliases are the names that it defines.
	Aliases []string
	tree    *Node
}

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Check reads the engine's tree of a statement that Prepare has accepted. It refuses everything that is not known to be harmless.
func (g *Guard) Check(p *Prepared, root *Node) (*Checked, *Refusal) {
	if root.Kind != "SelectWithUnionQuery" {
		return nil, refuse(DisallowedStatement, "Only one SELECT is allowed.")
	}
	c := &Checked{tree: root}
	nodes, selects := 0, 0
	seen := map[string]bool{}
	r := root.walk(func(n *Node, above []*Node) *Refusal {
		nodes++
		if n.Kind == "SelectQuery" {
			selects++
		}
		switch {
		case nodes > maxNodes:
			return refuse(ResourceLimit, "The statement has more than %d parts.", maxNodes)
		case len(above) > maxDepth:
			return refuse(ResourceLimit, "The statement is nested deeper than %d levels.", maxDepth)
		case selects > maxSubqueries:
			return refuse(ResourceLimit, "The statement has more than %d SELECTs.", maxSubqueries)
		}
		if n.Alias != "" {
			c.Aliases = append(c.Aliases, n.Alias)
		}
		return g.node(p, c, seen, n, above)
	})
	if r != nil {
		return nil, r
	}
	return c, nil
}

func (g *Guard) node(p *Prepared, c *Checked, seen map[string]bool, n *Node, above []*Node) *Refusal {
	switch n.Kind {
	case "SelectWithUnionQuery":
		if len(n.Nodes) != 1 || n.Nodes[0].Kind != "ExpressionList" || n.Text != "" {
			return refuse(DisallowedStatement, "INTO OUTFILE, FORMAT and SETTINGS are not allowed: the server decides them.")
		}
	case "SelectQuery", "SelectIntersectExceptQuery", "ExpressionList", "Subquery", "WithElement", "TablesInSelectQuery",
		"TablesInSelectQueryElement",
		"TableExpression", "TableJoin", "ArrayJoin", "Asterisk", "QualifiedAsterisk", "ColumnsRegexpMatcher", "QualifiedColumnsRegexpMatcher",
		"ColumnsListMatcher", "QualifiedColumnsListMatcher", "ColumnsTransformerList", "ColumnsExceptTransformer", "ColumnsReplaceTransformer",
		"ColumnsReplaceTransformer::Replacement", "OrderByElement", "WindowDefinition", "WindowListElement":
		if n.Text != "" {
			return refuse(DisallowedStatement, "The statement holds a construct that is not allowed (%s).", n.Kind)
		}
	case "InterpolateElement", "Literal":
	case "Identifier":
		name := n.Text
		if !seen[name] {
			seen[name] = true
			c.Names = append(c.Names, name)
		}
	case "TableIdentifier":
		return g.table(p, c, n)
	case "Function":
		return g.function(n, above)
	case "Set":
		return refuse(DisallowedStatement, "SETTINGS is not allowed: the server decides them.")
	case "ColumnsApplyTransformer":
		return refuse(DisallowedFunction, "APPLY is not allowed: write the function for each column.")
	case "QueryParameter":
		return refuse(DisallowedStatement, "Parameters in braces are not allowed: write the value.")
	case "SampleRatio":
		return refuse(DisallowedStatement, "SAMPLE is not allowed: the tables are not sampled.")
	default:
		return refuse(DisallowedStatement, "The statement holds a construct that is not allowed (%s).", n.Kind)
	}
	return nil
}

func (g *Guard) table(p *Prepared, c *Checked, n *Node) *Refusal {
	name := n.Text
	if len(n.Nodes) > 0 || !namePattern.MatchString(name) {
		if strings.Contains(name, ".") {
			return refuse(DisallowedTable, "The table %s is not offered. Write a table's name without a database: %s.", quote(name),
				strings.Join(g.names, ", "))
		}
		return refuse(DisallowedTable, "The table %s is not offered. Tables: %s.", quote(name), strings.Join(g.names, ", "))
	}
	switch {
	case p.defined[name]:
	case g.tables[name]:
		if !slices.Contains(c.Tables, name) {
			c.Tables = append(c.Tables, name)
		}
	default:
		return refuse(DisallowedTable, "There is no table %s.%s Tables: %s.", quote(name), DidYouMean(name, g.names), strings.Join(g.names, ", "))
	}
	return nil
}

func (g *Guard) function(n *Node, above []*Node) *Refusal {
	name, _, _ := strings.Cut(n.Text, " ")
	if len(above) > 0 && above[len(above)-1].Kind == "TableExpression" {
		if !slices.Contains(tableFunctions(), strings.ToLower(name)) {
			return refuse(DisallowedFunction, "The table function %s is not allowed; only numbers, zeros, values and generate_series are.",
				quote(name))
		}
		return checkTypes(n)
	}
	if name != n.Text || !g.functions.has(name) {
		return refuse(DisallowedFunction, "The function %s is not allowed or does not exist.%s", quote(name), g.similarFunction(name))
	}
	if r := checkTypes(n); r != nil {
		return r
	}
	if isSetFunction(name) {
		return checkSet(n)
	}
	if r := checkSearch(n); r != nil {
		return r
	}
	if isOperator(name) {
		return nil
	}
	for _, list := range n.Nodes {
		for _, arg := range list.Nodes {
			if _, searches := searchBound(arg.Text); arg.Kind == "Identifier" && (searches || g.banned[strings.ToLower(arg.Text)]) {
				return refuse(
					DisallowedFunction,
					"%s as an argument of %s names a function that is not allowed there. If it is a column, give it another name.",
					quote(arg.Text),
					quote(name),
				)
			}
		}
	}
	return nil
}

// checkSet checks the right side of IN.
func checkSet(n *Node) *Refusal {
	if len(n.Nodes) == 1 && len(n.Nodes[0].Nodes) == 2 {
		right := n.Nodes[0].Nodes[1]
		switch right.Kind {
		case "Subquery", "Literal":
			return nil
		case "Function":
			if right.Text == "tuple" || right.Text == "array" || right.Text == "CAST" {
				return nil
			}
		}
	}
	return refuse(DisallowedStatement, "The right side of IN must be a list of values or a subquery. For an array, write has(array, value).")
}

func (g *Guard) similarFunction(name string) string {
	all := make([]string, 0, len(g.functions))
	for f := range g.functions {
		all = append(all, f)
	}
	slices.Sort(all)
	return DidYouMean(strings.ToLower(name), all)
}

// quote formats a name of the statement for an error message.
func quote(name string) string {
	if r := []rune(name); len(r) > 64 {
		name = string(r[:64]) + "…"
	}
	return "`" + name + "`"
}
