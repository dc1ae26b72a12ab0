package query

import (
	"fmt"
	"strings"
)

// conditions is a list of SQL conditions that all must hold.
type conditions []string

func (c *conditions) add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// where begins a list with the one condition that no read goes without.
func where() conditions { return conditions{"OrgId = {org:String}"} }

func (c conditions) with(more ...string) conditions {
	return append(append(conditions{}, c...), more...)
}

// join prints the list, one condition to a line.
func (c conditions) join(indent int) string {
	return strings.Join(c, "\n"+strings.Repeat(" ", indent)+"AND ")
}

// optional adds column = value when there is a value.
func (c *conditions) optional(b *builder, column, param string, value *string) {
	if value != nil {
		c.add("%s = %s", column, b.bind(param, "String", *value))
	}
}

// clause prints the conditions as a WHERE on a line of its own; nothing without any.
func (c conditions) clause(indent int) string {
	if len(c) == 0 {
		return ""
	}
	return "\n" + strings.Repeat(" ", indent) + "WHERE " + c.join(indent+4)
}

// either is the condition that one of several holds.
func either(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// both is the condition that all of several hold.
func both(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

// indent moves all lines but the first.
func indent(s string, n int) string { return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)) }
