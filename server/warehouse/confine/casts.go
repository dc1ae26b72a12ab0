package confine

import "strings"

// checkTypes checks a function that takes the name of a type. The type must be written as text, so that it can be read here. No
// text may become the state of an aggregate function: the engine trusts the bytes of a state, and wrong bytes crash its process.
func checkTypes(n *Node) *Refusal {
	at, takes := typeArgument(n.Text)
	if !takes {
		return nil
	}
	var args []*Node
	for _, list := range n.Nodes {
		args = append(args, list.Nodes...)
	}
	for _, arg := range args {
		if arg.Kind == "Literal" && strings.Contains(strings.ToLower(arg.Text), "aggregatefunction") {
			return refuse(
				DisallowedStatement,
				"A value cannot be turned into the state of an aggregate function. Make states with functions that end in State.",
			)
		}
	}
	if at >= 0 && at < len(args) && args[at].Kind != "Literal" {
		return refuse(DisallowedStatement, "The type that %s takes must be written as text, as in CAST(x AS String).", quote(n.Text))
	}
	return nil
}

// typeArgument reports whether a function takes the name of a type, and at which argument. It returns -1 if it can be any
// argument.
func typeArgument(function string) (at int, takes bool) {
	name := strings.ToLower(function)
	switch name {
	case "cast", "accuratecast", "accuratecastornull", "accuratecastordefault", "reinterpret", "dynamicelement", "variantelement":
		return 1, true
	case "defaultvalueoftypename":
		return 0, true
	case "values":
		return -1, true
	}
	return -1, strings.HasPrefix(name, "jsonextract")
}
