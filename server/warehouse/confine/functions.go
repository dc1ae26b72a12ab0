package confine

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed functions.txt
var functionList string

// functionSet holds the allowed functions in lower case. The engine accepts many functions in any case, and no two functions
// differ only in case.
type functionSet map[string]bool

func allowedFunctions() functionSet {
	set := functionSet{}
	for line := range strings.Lines(functionList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			set[strings.ToLower(name)] = true
		}
	}
	return set
}

// Functions lists the allowed functions in lower case.
func Functions() []string {
	var names []string
	for name := range allowedFunctions() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// combinators are the suffixes that change the arguments or the result of an aggregate function.
func combinators() []string {
	return []string{
		"simplestate",
		"ordefault",
		"distinct",
		"resample",
		"foreach",
		"argmax",
		"argmin",
		"ornull",
		"tuple",
		"merge",
		"state",
		"array",
		"map",
		"if",
	}
}

// has reports whether a function may be called. It ignores combinators.
func (s functionSet) has(name string) bool {
	name = strings.ToLower(name)
	for range 6 {
		if s[name] {
			return true
		}
		cut := false
		for _, c := range combinators() {
			if rest, ok := strings.CutSuffix(name, c); ok && rest != "" {
				name, cut = rest, true
				break
			}
		}
		if !cut {
			return false
		}
	}
	return false
}

// tableFunctions make rows only from their arguments.
func tableFunctions() []string {
	return []string{"numbers", "zeros", "values", "generate_series", "generateseries"}
}

// isSetFunction reports whether a function takes a set on its right. The name of a table there reads the table, but looks like
// any other name in the tree.
func isSetFunction(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), "ignoreset")
	name = strings.TrimPrefix(name, "global")
	name = strings.TrimPrefix(name, "not")
	name = strings.TrimPrefix(name, "null")
	return name == "in"
}

// isOperator reports whether the arguments of a function are always values. Any other function might take a function by its name,
// as arrayMap(f, xs) does.
func isOperator(name string) bool {
	switch name {
	case "equals", "notEquals", "less", "lessOrEquals", "greater", "greaterOrEquals", "and", "or", "not", "plus", "minus", "multiply",
		"divide",
		"like", "notLike", "ilike", "notILike", "isNull", "isNotNull", "if", "multiIf", "count", "countDistinct", "sum", "min", "max", "avg",
		"any", "tuple",
		"lower", "upper", "concat", "arrayElement", "CAST", "toString", "in", "notIn":
		return true
	}
	return false
}
