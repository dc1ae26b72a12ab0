package sqlbuild

import (
	"fmt"
	"strings"
)

// conditions is a list of SQL conditions that all must hold.
type Conditions []string

func (c *Conditions) Add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// where begins a list with the one condition that no read goes without.
func OfOrganization() Conditions { return Conditions{"OrgId = {org:String}"} }

func (c Conditions) With(more ...string) Conditions {
	return append(append(Conditions{}, c...), more...)
}

// join prints the list, one condition to a line.
func (c Conditions) Join(indent int) string {
	return strings.Join(c, "\n"+strings.Repeat(" ", indent)+"AND ")
}

// optional adds column = value when there is a value.
func (c *Conditions) Optional(b *Builder, column, param string, value *string) {
	if value != nil {
		c.Add("%s = %s", column, b.Bind(param, "String", *value))
	}
}

// clause prints the conditions as a WHERE on a line of its own; nothing without any.
func (c Conditions) Clause(indent int) string {
	if len(c) == 0 {
		return ""
	}
	return "\n" + strings.Repeat(" ", indent) + "WHERE " + c.Join(indent+4)
}

// either is the condition that one of several holds.
func Either(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// both is the condition that all of several hold.
func Both(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

// indent moves all lines but the first.
func Indent(s string, n int) string { return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)) }
