// Package query turns requests into ClickHouse SQL. It does no I/O. Every value that comes from a request or names an
// organization is a bound parameter, never part of the text; the text of each case is kept in testdata/*.sql.
//
// Each table that a statement reads is filtered by OrgId first, so no statement can show one organization another's data.
package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/warehouse"
)

// Statement is SQL with its parameters, as warehouse.Query takes them. That fills in {org:String} by itself.
type Statement struct {
	SQL  string
	Args []warehouse.Arg
	// Until is the end of the window that it reads: once that is over, the rows stay the same but for what comes late. Zero when rows may change
	// at any time.
	Until time.Time
}

// Over is the statement with the end of the window that it reads.
func (s Statement) Over(w Window) Statement {
	s.Until = w.End
	return s
}

// builder collects parameters.
type builder struct {
	args []warehouse.Arg
	n    int
}

// bind adds a parameter under a name that is used once.
func (b *builder) bind(name, typ string, value any) string {
	b.args = append(b.args, warehouse.Named(name, value))
	return "{" + name + ":" + typ + "}"
}

// next binds a parameter whose name gets a number, for conditions that can occur several times.
func (b *builder) next(name, typ string, value any) string {
	b.n++
	return b.bind(fmt.Sprintf("%s_%d", name, b.n), typ, value)
}

func (b *builder) time(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.bind(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// nextTime is time under a name that gets a number.
func (b *builder) nextTime(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.next(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// minute is a place for the start of a minute, as rollups by minute hold it.
func (b *builder) minute(name string, t time.Time) string {
	return "toDateTime(" + b.bind(name, "Int64", t.Truncate(time.Minute).Unix()) + ", 'UTC')"
}

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
