package sqlbuild

import (
	"fmt"
	"strings"
)

// Conditions is a list of SQL conditions that all must hold.
type Conditions []string

// Add appends a condition.
func (c *Conditions) Add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// OfOrganization starts the conditions of a read with the tenancy filter. Every read of a table starts with it.
func OfOrganization() Conditions { return Conditions{"OrgId = {org:String}"} }

// With returns a copy of the list with more conditions.
func (c Conditions) With(more ...string) Conditions {
	return append(append(Conditions{}, c...), more...)
}

// Join prints the list, one condition to a line.
func (c Conditions) Join(indent int) string {
	return strings.Join(c, "\n"+strings.Repeat(" ", indent)+"AND ")
}

// Optional adds column = value if there is a value.
func (c *Conditions) Optional(b *Builder, column, param string, value *string) {
	if value != nil {
		c.Add("%s = %s", column, b.Bind(param, "String", *value))
	}
}

// Clause prints the conditions as a WHERE on a line of its own. Without conditions it prints nothing.
func (c Conditions) Clause(indent int) string {
	if len(c) == 0 {
		return ""
	}
	return "\n" + strings.Repeat(" ", indent) + "WHERE " + c.Join(indent+4)
}

// Either is the condition that at least one of several holds.
func Either(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// Both is the condition that all of several hold.
func Both(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return "(" + strings.Join(conditions, " AND ") + ")"
}

// Indent moves all lines except the first to the right.
func Indent(s string, n int) string { return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)) }
